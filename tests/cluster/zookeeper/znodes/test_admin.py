from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import is_legal_topic_name
from kadmin.cluster.payloads import encode_election, encode_reassignment
from kadmin.errors import InvalidInputError
from kadmin.schema import require_valid_payload
from kadmin.worlds.zookeeper.znodes.admin import (
    REASSIGN_PARTITIONS,
    decode_election,
    decode_reassignment,
    deletion_path,
    encode_deletion_document,
)
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.cluster.model import Replicas


FOO = TopicPartition("foo", 0)
INT32_MAX = 2**31 - 1

names = st.from_regex(r"[a-zA-Z0-9._-]{1,249}", fullmatch=True).filter(is_legal_topic_name)
ids = st.integers(0, INT32_MAX)
partitions = st.builds(TopicPartition, names, ids)
replica_lists = st.lists(ids, min_size=1, max_size=6, unique=True).map(tuple)
assignments = st.dictionaries(partitions, replica_lists, min_size=1, max_size=20)


def test_a_reassignment_is_exactly_what_kafka_writes() -> None:
    expected = b'{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}'
    assert encode_reassignment({FOO: (1, 2)}) == expected


def test_an_election_is_exactly_what_kafka_writes() -> None:
    expected = (
        b'{"version":1,"partitions":[{"topic":"foo","partition":1},{"topic":"bar","partition":0}]}'
    )
    assert encode_election([TopicPartition("foo", 1), TopicPartition("bar", 0)]) == expected
    assert encode_election([]) == b'{"version":1,"partitions":[]}'


def test_a_deletion_document_is_exactly_what_old_documentation_shows() -> None:
    assert encode_deletion_document(["bar", "a.b"]) == b'{"version":1,"topics":["bar","a.b"]}'


def test_entries_keep_the_order_given() -> None:
    order = [TopicPartition("b", 1), TopicPartition("a", 10), TopicPartition("a", 9)]
    payload = json.loads(encode_reassignment(dict.fromkeys(order, (3, 1))))
    assert [(each["topic"], each["partition"]) for each in payload["partitions"]] == [
        ("b", 1),
        ("a", 10),
        ("a", 9),
    ]
    assert payload["partitions"][0]["replicas"] == [3, 1]


@given(assignments)
def test_reassignments_round_trip(assignment: dict[TopicPartition, Replicas]) -> None:
    """Encode and decode are inverse, order included; only the known keys are written; every int is
    an int32.
    """
    payload = encode_reassignment(assignment)
    decoded = decode_reassignment(payload)
    assert decoded == assignment
    assert list(decoded) == list(assignment)
    value = json.loads(payload)
    assert list(value) == ["version", "partitions"]
    assert all(list(entry) == ["topic", "partition", "replicas"] for entry in value["partitions"])
    numbers = [
        number
        for entry in value["partitions"]
        for number in (entry["partition"], *entry["replicas"])
    ]
    assert all(type(number) is int and 0 <= number <= INT32_MAX for number in numbers)
    assert b" " not in payload
    require_valid_payload(value, "reassign_partitions")


@given(st.lists(partitions, unique=True, max_size=20))
def test_elections_round_trip(chosen: list[TopicPartition]) -> None:
    """Encode and decode are inverse, order included."""
    assert decode_election(encode_election(chosen)) == tuple(chosen)


@given(st.lists(names, unique=True, min_size=1, max_size=20))
def test_deletion_documents_hold_every_topic(topics: list[str]) -> None:
    """No topic is lost, order included."""
    assert json.loads(encode_deletion_document(topics)) == {"version": 1, "topics": topics}


BAD_REPLICAS: list[object] = [
    (),
    (1, 1),
    (-1,),
    (1.0,),
    ("1",),
    (True,),
    (None,),
    (2**31,),
    (float("nan"),),
    (1, [2]),
]


@pytest.mark.parametrize("replicas", BAD_REPLICAS, ids=repr)
def test_replicas_that_must_never_be_written_are_refused(replicas: object) -> None:
    with pytest.raises(ValueError, match=r"foo-0|int32"):
        encode_reassignment({FOO: cast("Replicas", replicas)})


BAD_PARTITIONS: list[object] = [-1, 1.0, "0", True, None, 2**31]


@pytest.mark.parametrize("number", BAD_PARTITIONS, ids=repr)
def test_partition_numbers_that_must_never_be_written_are_refused(number: object) -> None:
    partition = TopicPartition("foo", cast("int", number))
    with pytest.raises(ValueError, match="int32"):
        encode_reassignment({partition: (1,)})
    with pytest.raises(ValueError, match="int32"):
        encode_election([partition])


@pytest.mark.parametrize("topic", ["", None, 7, "\ud800"], ids=repr)
def test_topics_that_are_no_text_are_refused(topic: object) -> None:
    with pytest.raises(ValueError, match=r"topic name|surrogates"):
        encode_reassignment({TopicPartition(cast("str", topic), 0): (1,)})


def test_a_reassignment_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="would stay in ZooKeeper"):
        encode_reassignment({})


def test_an_election_names_a_partition_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        encode_election([FOO, FOO])


@pytest.mark.parametrize("topics", [[], ["a", "a"], ["a/b"], ["*"], [""]], ids=repr)
def test_deletion_documents_hold_different_topic_names(topics: list[str]) -> None:
    with pytest.raises(ValueError, match="topic names"):
        encode_deletion_document(topics)


# What controllers from 2.0 on ignore, fail on or loop on; recorded on live brokers.
UNDECODABLE = [
    None,
    b"",
    b"null",
    b"[]",
    b'"x"',
    b"{",
    b"{}",
    b'{"version":1}',
    b'{"version":1,"partitions":null}',
    b'{"version":1,"partitions":{}}',
    b'{"version":1,"partitions":[]}}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":null}]}',
    b'{"version":1,"partitions":[{"partition":0,"replicas":[1]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":"0","replicas":[1]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":"x","replicas":[1]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":["1","2"]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1.0]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[true]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[NaN]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[2147483648]}]}',
    b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1],"log_dirs":["any"]}]}',
    b'{"version":1,"comment":"x","partitions":[]}',
    '{"version":1,"partitions":[]}'.encode("utf-16"),
    b"\xff",
    b"[" * 100_000,
]


@pytest.mark.parametrize("data", UNDECODABLE, ids=lambda data: repr(data)[:60])
def test_what_a_controller_does_not_obey_does_not_decode(data: bytes | None) -> None:
    with pytest.raises(MalformedZnodeError) as caught:
        decode_reassignment(data)
    assert caught.value.path == REASSIGN_PARTITIONS
    assert 0 < len(caught.value.reason) < 400


@pytest.mark.parametrize(
    "data",
    [
        b'{"version":99,"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}',
        b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}',
        b'{ "partitions": [ {"replicas":[1,2], "topic":"a", "partition":0} ], "version":1 }',
        (
            b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[9]},'
            b'{"topic":"a","partition":0,"replicas":[1,2]}]}'
        ),
    ],
)
def test_what_a_controller_obeys_decodes(data: bytes) -> None:
    """The version is never checked, key order and blanks do not matter, the last of two entries
    wins.
    """
    assert decode_reassignment(data) == {TopicPartition("a", 0): (1, 2)}


def test_lists_that_hurt_are_shown_as_found() -> None:
    entries = [
        {"topic": "a", "partition": 0, "replicas": []},
        {"topic": "a", "partition": 1, "replicas": [-1, 2, 2]},
    ]
    data = json.dumps({"version": 1, "partitions": entries}).encode()
    assert decode_reassignment(data) == {
        TopicPartition("a", 0): (),
        TopicPartition("a", 1): (-1, 2, 2),
    }


def test_the_decoder_of_elections_is_lenient_about_keys_but_not_types() -> None:
    """Controllers accept unknown keys here, and loop on numbers that are strings."""
    data = b'{"comment":1,"partitions":[{"topic":"a","partition":2,"why":"x"}]}'
    assert decode_election(data) == (TopicPartition("a", 2),)
    with pytest.raises(MalformedZnodeError):
        decode_election(b'{"partitions":[{"topic":"a","partition":"2"}]}')


@given(st.binary(max_size=200))
def test_decoders_raise_nothing_else_on_any_bytes(data: bytes) -> None:
    """Whatever lies in ZooKeeper, a decoder returns a value or raises MalformedZnodeError."""
    decoders: list[Callable[[bytes | None], object]] = [decode_reassignment, decode_election]
    for decode in decoders:
        with suppress(MalformedZnodeError):
            decode(data)


def test_the_child_of_a_deletion_is_a_literal_topic_name() -> None:
    assert deletion_path("a.b_c-D9") == "/admin/delete_topics/a.b_c-D9"
    for bad in (
        "",
        ".",
        "..",
        "a/b",
        "*",
        "é",
        "a b",
        "a\n",
        "a\0",
        "\ud800",
        "[red]x",
        "\x1b",
        "a" * 250,
    ):
        assert not is_legal_topic_name(bad)
        with pytest.raises(InvalidInputError, match="topic name"):
            deletion_path(bad)
    assert is_legal_topic_name("a" * 249)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (
            lambda: decode_election(b'{"partitions": [1]}'),
            "^/admin/preferred_replica_election: entry is not",
        ),
        (
            lambda: decode_election(b'{"partitions": [{"topic": 1}]}'),
            "_election: topic is not a string: 1$",
        ),
        (
            lambda: decode_election(b'{"partitions": [{"topic": "a", "partition": "0"}]}'),
            "_election: partition is not",
        ),
        (lambda: decode_election(b"{"), "^/admin/preferred_replica_election: "),
        (
            lambda: encode_election([TopicPartition("a", 0)] * 2),
            "^the election names a partition twice$",
        ),
        (lambda: encode_deletion_document(["a", "*"]), r"names: \['\*'\]$"),
        (lambda: encode_deletion_document(["a", "a"]), r"names: \['a', 'a'\]$"),
        (
            lambda: decode_election(b'{"partitions": 1}'),
            "^/admin/preferred_replica_election: partitions is not a list: 1$",
        ),
    ],
)
def test_a_refusal_says_where_and_what(refused: Callable[[], object], said: str) -> None:
    with pytest.raises((ValueError, MalformedZnodeError), match=said):
        refused()
