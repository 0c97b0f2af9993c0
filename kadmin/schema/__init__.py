"""Checks documents, znode payloads and the answers of commands against the JSON Schemas in `schemas/`."""

from kadmin.schema.bundle import (
    SchemaSet,
    require_valid_payload,
    schema_file_name,
    schema_names,
    schema_text,
    validate_value,
)
from kadmin.schema.wording import QUOTE_IT, SchemaViolation, show

__all__ = [
    "QUOTE_IT",
    "SchemaSet",
    "SchemaViolation",
    "require_valid_payload",
    "schema_file_name",
    "schema_names",
    "schema_text",
    "show",
    "validate_value",
]
