"""Checks documents, znode payloads and commands' answers by the JSON Schemas in `schemas/`."""

from kadmin.schema.bundle import (
    SchemaSet,
    bundled,
    require_valid_payload,
    schema_file_name,
    validate_value,
)
from kadmin.schema.wording import QUOTE_IT, SchemaViolation, show

__all__ = [
    "QUOTE_IT",
    "SchemaSet",
    "SchemaViolation",
    "bundled",
    "require_valid_payload",
    "schema_file_name",
    "show",
    "validate_value",
]
