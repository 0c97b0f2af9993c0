"""Shapes of JSON as frozen dataclasses: the marks of their fields, and the one encoder.

A field is annotated with its type, its description and, where the type does not say all, Keywords of JSON Schema:
`Annotated[int, Keywords(minimum=0), "Bytes to copy."]`. `release/write_schemas.py` writes the schema of a shape.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, TypeAlias


class Absent(Enum):
    """The value of a field that an object does not have: the key is left out."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Keywords:
    """Keywords of JSON Schema that hold for a value beside its type."""

    def __init__(self, **keywords: object) -> None:
        self.keywords = keywords


Count: TypeAlias = Annotated[int, Keywords(minimum=0)]
Number: TypeAlias = Annotated[int, Keywords(minimum=1)]
"""Counted from 1."""
Seconds: TypeAlias = Annotated[float, Keywords(minimum=0)]
Ratio: TypeAlias = Annotated[float, Keywords(minimum=0)]


def key_of(field: str) -> str:
    """Return the key of a field in JSON; `in_` is `in`, which is no name in Python."""
    return field.removesuffix("_")


def to_json(value: object, *, indent: int | None = 2) -> str:
    """Write a shape, or JSON's types with shapes in them, as JSON; without `indent` in one line."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)


def _plain(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    if isinstance(value, Enum):
        return value.value
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} is no shape of JSON")
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {key_of(name): each for name, each in found.items() if each is not ABSENT}
