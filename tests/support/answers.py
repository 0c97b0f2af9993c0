"""The JSON of answers, and what their schemas forbid in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kadmin.schema import validate_value
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from kadmin.schema import SchemaViolation


def read_json(answer: object) -> Any:  # noqa: ANN401 - a value of JSON
    """Return an answer as a program reads it."""
    return json.loads(to_json(answer))


def violations(answer: object, name: str) -> list[SchemaViolation]:
    """Return what the schema of an answer forbids in its JSON."""
    return validate_value(read_json(answer), f"answers/{name}")
