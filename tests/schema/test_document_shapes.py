"""Documents are read, written and described by the marks of one shape."""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - a schema is written from the annotation
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import pytest
from document_schemas import DocumentSchema

from kadmin.schema.documents import ImpossibleAmountsError, read, write
from kadmin.schema.shapes import INLINE, At, Defined, Dumped, FieldGroup, Keywords, WrittenAs

LIMITS = FieldGroup("limits", "The limits.")


def metres(text: str) -> int:
    if text == "0m":
        raise ValueError("nothing has no length")
    return int(text.removesuffix("m"))


Length = Annotated[
    int,
    WrittenAs(str, metres, lambda value: f"{value}m"),
    Keywords(title="length", pattern="^[0-9]+m$", x_hint="as 5m"),
    "Metres.",
    Defined("length"),
]


class Pen(StrEnum):
    THIN = "thin"
    THICK = "thick"


@dataclass(frozen=True, slots=True)
class Point:
    x: Annotated[Length, "Across."]
    y: Annotated[Length | None, "Up."] = None


@dataclass(frozen=True, slots=True)
class Line:
    file: str
    start: Annotated[Point, INLINE]
    ends: Annotated[tuple[Point, ...], At("to"), "The other ends."] = ()
    pen: Annotated[Pen, "The pen."] = Pen.THIN
    dotted: Annotated[bool, "Whether it has gaps."] = False
    open_: Annotated[bool, Dumped.ALWAYS, "Whether it ends nowhere."] = False
    order: Annotated[int, Dumped.UNLESS_DEFAULT, "Its place."] = 1
    longest: Annotated[Length, At("length", LIMITS), "The longest."] = 9
    weights: Annotated[Mapping[str, float], Dumped.SORTED, At("weights", LIMITS), "By name."] = (
        field(default_factory=dict)
    )
    KEYS: ClassVar = ("pen", "limits", "to", "dotted", "open", "order")


DOCUMENT: dict[str, Any] = {
    "x": "1m",
    "y": "2m",
    "pen": "thick",
    "limits": {"length": "9m", "weights": {"a": 1.0, "b": 2.5}},
    "to": [{"x": "3m"}],
    "open": False,
}
LINE = Line("f", Point(1, 2), (Point(3),), Pen.THICK, weights={"b": 2.5, "a": 1.0})


def test_a_document_is_read_and_written_by_its_shape() -> None:
    assert read(Line, DOCUMENT, file="f") == LINE
    assert json.dumps(write(LINE)) == json.dumps(DOCUMENT)
    assert read(Line, {"x": "1m"}, file="g") == Line("g", Point(1))
    assert write(Line("g", Point(1), dotted=True, order=2)) == {
        "x": "1m",
        "pen": "thin",
        "limits": {"length": "9m"},
        "dotted": True,
        "open": False,
        "order": 2,
    }


def test_every_impossible_amount_is_named_with_its_path() -> None:
    with pytest.raises(ImpossibleAmountsError) as raised:
        read(Line, {"x": "0m", "y": "0m", "limits": {"length": "0m"}}, file="f")
    assert raised.value.problems == [
        (path, "nothing has no length") for path in (("x",), ("y",), ("limits", "length"))
    ]


def test_the_schema_of_a_document() -> None:
    schema = DocumentSchema()
    length = {"$ref": "#/$defs/length"}
    ends = {"type": "object", "additionalProperties": False, "required": ["x"]}
    ends["properties"] = {
        "x": {"description": "Across.", **length},
        "y": {"description": "Up.", **length},
    }
    gaps = {
        "title": "dotted",
        "description": "Whether it has gaps.",
        "type": "boolean",
        "default": False,
    }
    weights = {"type": "object", "additionalProperties": {"type": "number"}}
    limits = {
        "length": {"description": "The longest.", **length, "default": "9m"},
        "weights": {"title": "weights", "description": "By name.", **weights},
    }
    assert schema.of(Line) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["x"],
        "properties": {
            "x": {"description": "Across.", **length},
            "y": {"description": "Up.", **length},
            "pen": {
                "title": "pen",
                "description": "The pen.",
                "type": "string",
                "enum": ["thin", "thick"],
                "default": "thin",
            },
            "limits": {
                "title": "limits",
                "description": "The limits.",
                "type": "object",
                "additionalProperties": False,
                "properties": limits,
            },
            "to": {"title": "to", "description": "The other ends.", "type": "array", "items": ends},
            "dotted": gaps,
            "open": {**gaps, "title": "open", "description": "Whether it ends nowhere."},
            "order": {
                "title": "order",
                "description": "Its place.",
                "type": "integer",
                "default": 1,
            },
        },
    }
    described = {
        "title": "length",
        "description": "Metres.",
        "type": "string",
        "pattern": "^[0-9]+m$",
    }
    assert schema.defs == {"$defs": {"length": {**described, "x-hint": "as 5m"}}}
