"""Schemas are written from shapes, and one encoder writes them as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - a schema is written from the annotation
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
import write_schemas

from kadmin.schema import validate_value
from kadmin.schema.shapes import ABSENT, Absent, Count, Keywords, to_json


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    x: Annotated[int, "Across."]
    in_: Annotated[Colour | None, "Its colour."]


@dataclass(frozen=True, slots=True)
class Circle:
    centre: Annotated[Point, "Its centre."]
    radius: Annotated[Count, "Its radius."]
    name: Annotated[str | Absent, "Its name."] = ABSENT


@dataclass(frozen=True, slots=True)
class Line:
    ends: Annotated[tuple[Point, ...], "Its ends."]
    radius: Annotated[Count, "Its radius."]


@dataclass(frozen=True, slots=True)
class Drawing:
    points: Annotated[tuple[Point, ...], "The points."]
    labels: Annotated[
        Mapping[Annotated[str, Keywords(pattern="^[a-z]+$")], float], "Weights by label."
    ]
    pen: Annotated[Literal["thin", "thick"], "The pen."] = "thin"
    depth: Annotated[Count | Absent | None, "Layers below."] = ABSENT


def test_the_schema_of_a_shape() -> None:
    assert write_schemas.schema_of(Drawing) == {
        "type": "object",
        "properties": {
            "points": {
                "description": "The points.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "x": {"description": "Across.", "type": "integer"},
                        "in": {
                            "description": "Its colour.",
                            "type": ["string", "null"],
                            "enum": ["red", "blue", None],
                        },
                    },
                    "required": ["x", "in"],
                    "additionalProperties": False,
                },
            },
            "labels": {
                "description": "Weights by label.",
                "type": "object",
                "propertyNames": {"type": "string", "pattern": "^[a-z]+$"},
                "additionalProperties": {"type": "number"},
            },
            "pen": {"description": "The pen.", "type": "string", "enum": ["thin", "thick"]},
            "depth": {"description": "Layers below.", "type": ["integer", "null"], "minimum": 0},
        },
        "required": ["points", "labels", "pen"],
        "additionalProperties": False,
    }


def test_an_object_of_one_of_two_shapes() -> None:
    schema = write_schemas.schema_of(Circle | Line)
    assert list(schema["properties"]) == ["centre", "radius", "name", "ends"]
    assert schema["required"] == ["radius"]
    assert schema["oneOf"] == [{"required": ["centre"]}, {"required": ["ends"]}]
    assert schema["additionalProperties"] is False


def test_what_an_alias_says_of_itself_comes_after_what_the_field_says() -> None:
    length = Annotated[Count, "Of metres."]
    described = {"description": "The depth. Of metres.", "type": ["integer", "null"], "minimum": 0}
    assert write_schemas.schema_of(Annotated[length | None, "The depth."]) == described


def test_a_shape_as_json() -> None:
    drawing = Drawing((Point(1, Colour.RED), Point(2, None)), {"é": 0.5})
    assert to_json(drawing, indent=None) == (
        '{"points": [{"x": 1, "in": "red"}, {"x": 2, "in": null}], "labels": {"é": 0.5}, "pen": '
        '"thin"}'
    )
    assert json.loads(to_json([Drawing((), {}, depth=None)]))[0]["depth"] is None
    with pytest.raises(TypeError, match="set is no shape of JSON"):
        to_json({"a": {1}})


def test_a_field_without_a_description_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Bare:
        size: int

    with pytest.raises(TypeError, match="Bare has fields without a description: size"):
        write_schemas.schema_of(Bare)


def test_committed_schemas_are_those_of_their_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_schemas.main(["--check"]) is None
    monkeypatch.setattr(write_schemas, "SCHEMAS", tmp_path / "schemas")
    folder = tmp_path / "schemas" / "answers"
    folder.mkdir(parents=True)
    (tmp_path / "schemas" / "payloads").mkdir()
    (folder / "of-no-shape.schema.json").write_text("{}", encoding="utf-8")
    differing = write_schemas.main(["--check"])
    assert differing is not None
    assert "schemas/answers/lock-show.schema.json" in differing
    assert "schemas/policy.schema.json" in differing
    assert "schemas/answers/of-no-shape.schema.json" in differing
    assert differing.endswith("; run: make schemas")
    assert write_schemas.main([]) is None
    assert write_schemas.main(["--check"]) is None
    committed = Path(write_schemas.__file__).parents[1] / "schemas"
    assert {path.name for path in folder.parent.rglob("*")} == {
        path.name for path in committed.rglob("*")
    }


@pytest.mark.parametrize("value", [{"lock": {}}, {"lock": 1}, {}, {"lock": None, "more": 1}])
def test_what_is_no_answer_is_refused(value: object) -> None:
    assert validate_value({"lock": None}, "answers/lock-show") == []
    assert validate_value(value, "answers/lock-show") != []
