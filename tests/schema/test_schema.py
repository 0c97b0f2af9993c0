from __future__ import annotations

import copy
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.documents.strategies import documents

from kadmin.documents.check import KINDS
from kadmin.documents.kinds import to_value
from kadmin.errors import InvalidInputError, KadminError, UsageError
from kadmin.schema import (
    SchemaSet,
    bundled,
    require_valid_payload,
    schema_file_name,
    validate_value,
)
from kadmin.schema.bundle import compile_quick

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.plan.model import Document

OURS = [
    *KINDS.values(),
    "payloads/reassign_partitions",
    "payloads/preferred_replica_election",
    "payloads/delete_topics",
]
ENTRY = {"topic": "orders", "partition": 0, "replicas": [1, 2]}


def _subschemas(schema: object) -> list[dict[str, Any]]:
    found = [schema] if isinstance(schema, dict) else []
    children = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    )
    return found + [each for child in children for each in _subschemas(child)]


def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(bundled().text(name))
    return schema


def test_there_is_one_schema_per_kind_and_payload() -> None:
    assert set(OURS) <= set(bundled().names())
    assert "answers/validate" in bundled().names()


@pytest.mark.parametrize("name", bundled().names())
def test_every_schema_is_one(name: str) -> None:
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].startswith("urn:kadmin:schema:")
    assert schema["$id"].endswith(":v1")
    assert all(
        target.startswith("#/$defs/")
        for part in _subschemas(schema)
        if (target := part.get("$ref"))
    )


def test_ids_are_unique() -> None:
    ids = [_schema(name)["$id"] for name in bundled().names()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", bundled().names())
def test_objects_are_closed(name: str) -> None:
    for part in _subschemas(_schema(name)):
        if part.get("type") == "object":
            assert part.get("additionalProperties") is not None, part.get("title")


@pytest.mark.parametrize("name", OURS)
def test_every_field_is_explained(name: str) -> None:
    schema = _schema(name)
    for part in _subschemas(schema):
        for field, described in part.get("properties", {}).items():
            target = schema["$defs"].get(described.get("$ref", "").removeprefix("#/$defs/"), {})
            assert described.get("description") or target.get("description"), field
            assert described.get("title") or target.get("title"), field


@pytest.mark.parametrize("name", OURS)
def test_integers_and_names_are_bounded(name: str) -> None:
    for part in _subschemas(_schema(name)):
        if part.get("type") == "integer" and "const" not in part:
            assert "minimum" in part, part
            assert "maximum" in part, part
        if "pattern" in part:
            assert part["pattern"].startswith("^")
            assert part["pattern"].endswith("$")


def test_a_definition_is_the_same_in_every_schema() -> None:
    seen: dict[str, Any] = {}
    for name in OURS:
        for key, definition in _schema(name).get("$defs", {}).items():
            if key != "entry":
                assert seen.setdefault(key, definition) == definition, key


def test_an_unknown_schema_is_named_with_a_guess() -> None:
    with pytest.raises(UsageError, match="no schema topic-deletio") as raised:
        bundled().text("topic-deletio")
    assert raised.value.cause == "did you mean topic-deletion?"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reassign_partitions", {"version": 1, "partitions": [ENTRY]}),
        ("reassign_partitions", {"version": 1, "partitions": [{**ENTRY, "topic": "!probe"}]}),
        (
            "preferred_replica_election",
            {"version": 1, "partitions": [{"topic": "orders", "partition": 0}]},
        ),
        ("preferred_replica_election", {"version": 1, "partitions": []}),
        ("delete_topics", {"version": 1, "topics": ["old-events"]}),
    ],
)
def test_good_payloads(name: str, value: object) -> None:
    require_valid_payload(value, name)


def _entry(**changes: object) -> dict[str, Any]:
    return {"version": 1, "partitions": [{**ENTRY, **changes}]}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"version": 1},
        {"version": 1, "partitions": None},
        {"version": 1, "partitions": []},
        {"partitions": [ENTRY]},
        {"version": 2, "partitions": [ENTRY]},
        {"version": 1.0, "partitions": [ENTRY]},
        {"version": True, "partitions": [ENTRY]},
        {"version": 1, "partitions": [ENTRY], "comment": "x"},
        {"version": 1, "partitions": [{"topic": "orders", "partition": 0}]},
        _entry(log_dirs=["any"]),
        _entry(topic=""),
        _entry(topic="."),
        _entry(topic=".."),
        _entry(topic="a/b"),
        _entry(topic="a" * 250),
        _entry(topic="é"),
        _entry(topic="a\n"),
        _entry(topic="!probe\n"),
        _entry(topic="!other"),
        _entry(topic=1),
        _entry(partition=-1),
        _entry(partition=1.0),
        _entry(partition="0"),
        _entry(partition=True),
        _entry(partition=2**31),
        _entry(replicas=[]),
        _entry(replicas=None),
        _entry(replicas=[1, 1]),
        _entry(replicas=[-1]),
        _entry(replicas=[1.0]),
        _entry(replicas=["1"]),
        _entry(replicas=[True]),
        _entry(replicas=[None]),
        _entry(replicas=[2**31]),
        _entry(replicas=[float("nan")]),
    ],
)
def test_bad_reassignment_payloads_are_never_written(value: object) -> None:
    with pytest.raises(
        KadminError, match="Refused to write an invalid payload of reassign_partitions"
    ) as raised:
        require_valid_payload(value, "reassign_partitions")
    assert raised.value.exit_code == 1
    assert raised.value.cause


@pytest.mark.parametrize("topics", [[], ["*"], ["a", "a"], [None], ["a\n"], "a"])
def test_bad_deletion_payloads_are_never_written(topics: object) -> None:
    with pytest.raises(KadminError, match="Refused to write an invalid payload of delete_topics"):
        require_valid_payload({"version": 1, "topics": topics}, "delete_topics")


def test_values_at_the_border_are_taken() -> None:
    value = _entry(topic="a" * 249, partition=2**31 - 1, replicas=[0, 2**31 - 1])
    require_valid_payload(value, "reassign_partitions")


@pytest.mark.parametrize(
    ("key", "good"), [("0", True), ("7", True), ("2147483647", True), ("1999999999", True)]
)
def test_broker_ids_as_keys(key: str, good: object) -> None:
    request = {"kind": "RebalanceRequest", "spec": {"brokers": {"weights": {key: 1.5}}}}
    assert (not validate_value(request, "rebalance-request")) is good


@pytest.mark.parametrize(
    "key", ["2147483648", "9999999999", "-1", "01", "1.0", "x", "", "1\n", "2200000000"]
)
def test_other_keys_are_no_broker_ids(key: str) -> None:
    request = {"kind": "RebalanceRequest", "spec": {"brokers": {"weights": {key: 1.5}}}}
    violation = validate_value(request, "rebalance-request")[0]
    assert violation.path == ("spec", "brokers", "weights", key)
    assert violation.rule == "propertyNames"


@given(documents)
def test_dumped_documents_conform(document: Document) -> None:
    """Whatever kadmin writes, its own schema takes."""
    value = to_value(document)
    assert validate_value(value, KINDS[value["kind"]]) == []


scalars: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        2**31,
        float("inf"),
        "",
        "a",
        "a\n",
        "1",
        "50MB/s",
        [],
        {},
        [1, 1],
    ]
)


@given(documents, st.data())
def test_the_quick_test_changes_no_verdict(document: Document, data: st.DataObject) -> None:
    """What jsonschema-rs passes, jsonschema passes, too, for which 1.0 is no integer here."""
    value = copy.deepcopy(to_value(document))
    places = list(_places(value))
    container, key = data.draw(st.sampled_from(places))
    container[key] = data.draw(scalars)
    name = KINDS[to_value(document)["kind"]]
    assert validate_value(value, name) == bundled().violations(value, name)


def _places(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - any JSON value
    keys = (
        value.keys()
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "urn:other"}, 1),
        ({"$ref": "#/$defs/nothing"}, 1),
        ({"type": "strnig"}, 1),
        ({"pattern": "("}, "a"),
        ({"type": "integer"}, 1.0),
        ({"const": 1}, 1.0),
        ({"const": 1}, True),
        ({"type": "number"}, float("inf")),
        ({"pattern": "a"}, "a\ud800"),
        ({"pattern": "^a$"}, "a\n"),
        ({"type": "object"}, object()),
    ],
)
def test_what_the_quick_test_leaves_to_jsonschema(schema: dict[str, Any], value: object) -> None:
    assert not compile_quick(schema)(value)


def _folder(tmp_path: Path, name: str, text: str) -> SchemaSet:
    path = tmp_path / schema_file_name(name)
    path.write_text(text, encoding="utf-8")
    return SchemaSet(tmp_path)


def test_a_remote_reference_is_refused_and_never_fetched(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.json"
        schemas = _folder(
            tmp_path, "topic-deletion", json.dumps({"properties": {"spec": {"$ref": address}}})
        )
        with pytest.raises(InvalidInputError, match="which is not in it"):
            schemas.violations({"spec": {}}, "topic-deletion")
        with pytest.raises(InvalidInputError, match="refers to http"):
            schemas.check()
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is not an object"),
        ('{"type": "strnig"}', "is not a valid JSON Schema"),
        ('{"properties": {"a": {"minimum": "1"}}}', "is not a valid JSON Schema"),
        ('{"pattern": "("}', "is not a valid JSON Schema"),
    ],
)
def test_a_bad_schema_is_named(tmp_path: Path, text: str, said: str) -> None:
    schemas = _folder(tmp_path, "topic-deletion", text)
    with pytest.raises(InvalidInputError, match=said):
        schemas.check()


def test_a_reference_to_nowhere_is_named(tmp_path: Path) -> None:
    schemas = _folder(tmp_path, "x", '{"properties": {"a": {"$ref": "#/$defs/nothing"}}}')
    with pytest.raises(InvalidInputError, match="/\\$defs/nothing"):
        schemas.violations({"a": 1}, "x")


def test_items_may_be_forbidden_altogether(tmp_path: Path) -> None:
    schemas = _folder(tmp_path, "x", '{"items": false}')
    assert schemas.violations([], "x") == []
    assert [each.rule for each in schemas.violations([1, 2], "x")] == ["items"]


def test_a_schema_without_end_is_named(tmp_path: Path) -> None:
    schemas = _folder(tmp_path, "x", '{"properties": {"a": {"$ref": "#/properties/a"}}}')
    with pytest.raises(InvalidInputError, match="never ends"):
        schemas.violations({"a": 1}, "x")


def test_an_empty_folder_holds_no_schemas(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no schema"):
        SchemaSet(tmp_path).check()


def test_a_schema_of_ones_own_may_use_any_keyword(tmp_path: Path) -> None:
    schemas = _folder(
        tmp_path,
        "x",
        '{"not": {"required": ["a"]}, "properties": {"b": {"maxItems": 1, "maxLength": 1}}}',
    )
    assert schemas.violations({"b": []}, "x") == []
    assert [violation.rule for violation in schemas.violations({"a": 1, "b": [1, 2]}, "x")] == [
        "not",
        "maxItems",
    ]
    assert [violation.message for violation in schemas.violations({"b": "xx"}, "x")] == [
        "longer than 1"
    ]
