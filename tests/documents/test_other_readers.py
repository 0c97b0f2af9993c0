"""What passes here means the same to other readers: ruamel.yaml in YAML 1.2, json, and PyYAML for
the places.
"""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from support.documents.bad_documents import BAD
from support.documents.invariants import SOURCES, check_invariants, render
from support.documents.strategies import documents

from kadmin.diagnostics import json_path
from kadmin.documents import dump_yaml
from kadmin.documents.check import examine
from kadmin.documents.events import assemble
from kadmin.documents.kinds import to_value
from kadmin.documents.scalars import OddNumberError, resolve
from kadmin.documents.yaml_text import yaml_events

if TYPE_CHECKING:
    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Document

TRICKY = [
    "no",
    "on",
    "yes",
    "off",
    "y",
    "n",
    "NO",
    "null",
    "Null",
    "NULL",
    "nULL",
    "~",
    "true",
    "True",
    "TRUE",
    "tRUE",
    "false",
    "0",
    "00",
    "-0",
    "0123",
    "010",
    "0o17",
    "0x1F",
    "0b11",
    "1_000",
    "+5",
    "-5",
    ".5",
    "5.",
    "1.0",
    "1e3",
    "1E3",
    "1e+3",
    "1e400",
    ".inf",
    "-.inf",
    ".NaN",
    "nan",
    "12:30:45",
    "1:30",
    "190:20:30",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "9223372036854775808",
    "1.5.2",
    "1__0",
    "0.1e-5",
    "-1.25E-3",
    "=",
    "<<",
    "a",
    "b.c",
    "-a",
    "e3",
    "1e",
    "0x",
    "0o8",
    "-",
    "--",
    "---",
    "...",
    ".",
]
SOUP = [
    *(
        "a",
        "b",
        "no",
        "1",
        "1.5",
        "1e3",
        "12:30",
        "~",
        "null",
        "é",
        '"x"',
        "'y'",
        '""',
        r'"\\x41"',
        '"a\\\n b"',
    ),
    *(
        " ",
        "  ",
        "\t",
        "\n",
        "\n  ",
        "\n    ",
        "\r\n",
        "\r",
        ":",
        ": ",
        ",",
        ", ",
        "- ",
        "? ",
        "[",
        "]",
        "{",
        "}",
        "#",
        " # c",
    ),
    *(
        "|",
        ">",
        "|-\n",
        ">+\n",
        "|2\n",
        "---\n",
        "...\n",
        "\n  x: ",
        "\n  y: |\n    ",
        "- - ",
        "\n- a: ",
        "\\",
        ".",
        "<",
        "*",
        "&",
        "!",
    ),
]
scalars = st.one_of(
    st.sampled_from(TRICKY),
    st.text("0123456789.eE+-_xo:", min_size=1, max_size=8),
    st.text("nulNULtrefasTRFASyoYO~.", min_size=1, max_size=6),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


def yaml_1_2(text: str) -> Any:  # noqa: ANN401 - any YAML value
    """Read with ruamel.yaml, whose default is YAML 1.2; timestamps, which its core schema does not
    have, as written.
    """
    return YAML(typ="safe", pure=True).load(text)


@given(scalars)
@example("2024-01-01")
def test_every_scalar_that_is_accepted_is_the_same_in_yaml_1_2(text: str) -> None:
    try:
        ours = resolve(text)
    except OddNumberError:
        return
    try:
        theirs = yaml_1_2(f"[ {text} ]\n")[0]
    except (YAMLError, ValueError):
        assume(False)  # noqa: FBT003 - not one plain scalar
    if isinstance(theirs, date):
        theirs = text
    assert (type(ours), ours) == (type(theirs), theirs)


@given(documents)
def test_a_whole_document_is_the_same_in_yaml_1_2(document: Document) -> None:
    text = dump_yaml(document)
    assert keys_as_text(yaml_1_2(text)) == keys_as_text(examine(text.encode(), "plan.yaml").value)


soup = st.lists(st.sampled_from(SOUP), min_size=1, max_size=12).map("".join)


@settings(max_examples=300)
@given(soup)
@example("a: |2\n  x\n y: 1")
@example("? a\n: - b\n  - c: 'd\n\n  e'")
def test_whatever_is_taken_of_a_text_is_the_same_in_yaml_1_2(text: str) -> None:
    """Not only scalars: keys, blocks, flows, folds, chomping and comments, in texts that nobody
    would write.
    """
    reading = assemble(yaml_events(f"key: {text}"), "plan.yaml")
    if not reading.complete or reading.faults or reading.number_keys:
        return
    try:
        theirs = yaml_1_2(f"key: {text}")
    except (YAMLError, ValueError):
        return  # it takes no trailing tab, for one
    assert typed(keys_as_text(reading.value)) == typed(keys_as_text(theirs))


def typed(value: object) -> object:
    """Keep the types apart, and the order of keys: True == 1 == 1.0."""
    if isinstance(value, dict):
        return [(key, typed(part)) for key, part in value.items()]
    return list(map(typed, value)) if isinstance(value, list) else (type(value), value)


def keys_as_text(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): keys_as_text(part) for key, part in value.items()}
    return [keys_as_text(part) for part in value] if isinstance(value, list) else value


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**31,
    2**70,
    "",
    "a b",
    "\n",
    "no",
    "é",
    "1",
    "50",
    "x" * 300,
    [],
    {},
    [1, 1],
    {"a": 1},
]
Place = tuple[str | int, ...]


@st.composite
def nearly_valid(draw: st.DrawFn) -> tuple[dict[str, Any], Place, Any]:
    """A valid document with one value, anywhere in it, replaced: the value, where, and by what."""
    value = copy.deepcopy(to_value(draw(documents)))
    place = draw(st.sampled_from(list(places_in(value))))
    replacement = draw(st.sampled_from(ODD))
    container: Any = value
    for step in place[:-1]:
        container = container[step]
    container[place[-1]] = copy.deepcopy(replacement)
    return value, place, replacement


def places_in(value: object, before: Place = ()) -> list[Place]:
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        place
        for step, part in parts
        for place in ((*before, step), *places_in(part, (*before, step)))
    ]


def mark_by_pyyaml(text: str, place: Place) -> tuple[int, int]:
    """Where PyYAML's own composer puts the value at a place."""
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for step in place:
        if isinstance(node, yaml.MappingNode):
            node = next(value for key, value in node.value if key.value == str(step))
        else:
            node = node.value[int(step)]
    return node.start_mark.line + 1, node.start_mark.column + 1


@given(nearly_valid(), st.sampled_from([None, 1]))
def test_a_nearly_valid_document_is_judged_alike_as_json_and_yaml(
    changed: tuple[dict[str, Any], Place, Any], indent: int | None
) -> None:
    """One fault, one verdict, in exactly one place: the line and column that another parser gives
    for it.
    """
    value, place, _ = changed
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    as_json, as_yaml = (
        check_invariants(text.encode(), name) for name in ("plan.json", "plan.yaml")
    )
    render(as_json)
    assert [without_file(each) for each in as_json.problems] == [
        without_file(each) for each in as_yaml.problems
    ]
    for problem in as_json.problems:
        if (
            problem.path == json_path(place)
            and problem.location.first_line is None
            and "unknown field" not in problem.message
        ):
            assert (problem.location.line, problem.location.column) == mark_by_pyyaml(text, place)


def without_file(problem: Diagnostic) -> tuple[object, ...]:
    return (
        problem.code,
        problem.message,
        problem.location.line,
        problem.location.column,
        problem.path,
        problem.severity,
    )


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("source", SOURCES)
def test_bad_input_is_judged_under_any_name(name: str, source: str) -> None:
    render(check_invariants(BAD[name][1], source))
