from __future__ import annotations

import json
from typing import TYPE_CHECKING

import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from support.documents.invariants import check_document
from support.documents.strategies import documents, topics

from kadmin.documents import dump_json, dump_yaml
from kadmin.documents.dump import plan_digest
from kadmin.documents.kinds import to_value
from kadmin.documents.scalars import OddNumberError, resolve

if TYPE_CHECKING:
    from kadmin.plan.model import Document

sources = st.sampled_from(["plan.yaml", "plan.json", "-"])
PLAN = b"""kind: PartitionReassignment
spec:
  throttle: {rate: 50MB/s}
  partitions:
    - {topic: orders, partition: 0, current: [1, 2, 3], replicas: [1, 2, 4], size_bytes: 1048576}
    - {topic: orders, partition: 1, replicas: [1, 2, 4]}
"""


@given(st.binary(max_size=400), sources)
def test_no_bytes_make_the_check_raise(data: bytes, source: str) -> None:
    """Validate never raises."""
    document, problems = check_document(data, source)
    assert document is not None or problems


@given(st.text(max_size=400), sources)
def test_no_text_makes_the_check_raise(text: str, source: str) -> None:
    """Validate never raises."""
    document, problems = check_document(text.encode(errors="surrogatepass"), source)
    assert document is not None or problems


@given(st.text("{}[]:,-&*!|>'\"#%@` \n\tab01.~?<", max_size=80), sources)
@example("{a: [}", "plan.yaml")
@example("a: b: c", "plan.yaml")
@example("? - a\n: b", "plan.yaml")
@example("- - -\n-", "plan.yaml")
def test_no_soup_of_yaml_signs_makes_the_check_raise(text: str, source: str) -> None:
    """Validate never raises."""
    check_document(text.encode(), source)


@given(st.integers(0, len(PLAN)), st.integers(0, 30), st.binary(max_size=12))
def test_no_damaged_plan_makes_the_check_raise(start: int, length: int, patch: bytes) -> None:
    """Validate never raises, and every problem lies within the text."""
    data = PLAN[:start] + patch + PLAN[start + length :]
    _, problems = check_document(data, "plan.yaml")
    lines = data.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in problems:
        assert 1 <= problem.location.line <= len(lines)
        assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4)
    ),
    max_leaves=12,
)


@given(st.sampled_from(["partitions", "waves", "elect", "allow", "throttle"]), json_values)
def test_no_value_in_a_field_makes_the_check_raise(field: str, value: object) -> None:
    """Validate never raises, and JSON and YAML readers agree on what is wrong."""
    text = json.dumps({"kind": "PartitionReassignment", "spec": {"partitions": [], field: value}})
    _, by_json = check_document(text.encode(), "plan")
    assert all(problem.path.startswith("$") for problem in by_json)


@given(documents)
def test_yaml_round_trip(document: Document) -> None:
    """Dump and load give the same value; the same value gives the same bytes."""
    text = dump_yaml(document)
    loaded, problems = check_document(text.encode(), "plan.yaml")
    assert loaded == document, problems
    assert loaded is not None
    assert dump_yaml(loaded) == text
    assert text.endswith("\n")


@given(documents)
def test_json_round_trip(document: Document) -> None:
    """Dump and load give the same value; the same value gives the same bytes."""
    text = dump_json(document)
    loaded, problems = check_document(text.encode(), "plan.json")
    assert loaded == document, problems
    assert loaded is not None
    assert dump_json(loaded) == text
    assert json.loads(text) == to_value(document)
    assert text.endswith("\n")


@given(documents)
def test_digest_is_of_the_value(document: Document) -> None:
    """YAML, JSON and any layout of one plan have one digest."""
    loaded, _ = check_document(json.dumps(to_value(document), indent=7).encode(), "-")
    assert loaded is not None
    assert plan_digest(loaded) == plan_digest(document)


@given(documents)
def test_other_readers_of_yaml_see_the_same_value(document: Document) -> None:
    """A dumped plan means the same under YAML 1.1 (PyYAML's own rules) as under 1.2, up to numeric
    keys.
    """
    assert _text_keys(yaml.safe_load(dump_yaml(document))) == _text_keys(to_value(document))


def _text_keys(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _text_keys(part) for key, part in value.items()}
    return [_text_keys(part) for part in value] if isinstance(value, list) else value


@given(topics)
def test_a_name_is_a_string_or_must_be_quoted(name: str) -> None:
    """No plain scalar is silently another name than the one that was written."""
    try:
        value = resolve(name)
    except OddNumberError:
        return
    assert value == name or not isinstance(value, str)


@given(st.integers(-(10**18), 10**18))
def test_plain_integers_are_integers(number: int) -> None:
    """An accepted integer is the one that JSON reads."""
    assert resolve(str(number)) == number
