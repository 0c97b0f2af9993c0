"""Shapes of JSON as frozen dataclasses: the marks of their fields, and the one encoder of answers.

A field is annotated with its type, its description and, where the type does not say all, Keywords
of JSON Schema: `Annotated[int, Keywords(minimum=0), "Bytes to copy."]`. `release/write_schemas.py`
writes the schema of a shape. Documents have further marks: `kadmin.schema.documents` reads and
writes values by them.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Convert: TypeAlias = Callable[[Any], Any]


class Absent(Enum):
    """The value of a field that an object does not have: the key is left out."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Keywords:
    """Keywords of JSON Schema in addition to the type of a value; `x_hint` is `x-hint`."""

    def __init__(self, **keywords: object) -> None:
        self.keywords = {name.replace("_", "-"): value for name, value in keywords.items()}


def exactly_one(*keys: str) -> Keywords:
    """Return the keyword of an object that has exactly one of these keys."""
    return Keywords(oneOf=[{"required": [key]} for key in keys])


class Defined(NamedTuple):
    """The name of a type under `$defs` in a document's schema; the last mark of the type."""

    name: str


def as_is(value: Any) -> Any:  # noqa: ANN401 - any value
    """Return the value."""
    return value


class WrittenAs(NamedTuple):
    """The form of a value in a document where it is not that of its type.

    It also has its conversion from and to JSON. `read` raises ValueError for an amount that no
    cluster can have.
    """

    form: Any
    read: Convert = as_is
    write: Convert = as_is


class FieldGroup(NamedTuple):
    """An object of a document whose fields are fields of the shape around it."""

    key: str
    description: str


class At(NamedTuple):
    """The key of a field in a document, and its group.

    Without a key, its own fields are those of the document.
    """

    key: str | None
    group: FieldGroup | None = None


INLINE: Final = At(None)


class Dumped(Enum):
    """Exceptions to the rule that only an empty or False default is left out of a document."""

    ALWAYS = "always"
    UNLESS_DEFAULT = "unless default"
    SORTED = "sorted by key"


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
