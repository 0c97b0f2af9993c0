"""What each payload does to controllers of each version: the tables that live brokers wrote."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.evidence import DETAILS, STATE
from support.cluster.states import cluster, moving, tp

from kadmin.cluster.payloads import encode_reassignment
from kadmin.cluster.versions import KafkaVersions
from kadmin.insight.diagnosis.finding import Flaw
from kadmin.insight.tables.admin_nodes import Effect, Motion
from kadmin.worlds.zookeeper.doctor.admin_nodes import read_node
from kadmin.worlds.zookeeper.doctor.admin_troubles import worst_effect
from kadmin.worlds.zookeeper.doctor.flaw_effects import effects
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS

O, I, P = Effect.OBEYED, Effect.IGNORED, Effect.POISON  # noqa: E741 - columns of a table

VERSIONS = ((0, 10), (1, 1), (2, 3), (2, 4), (2, 8), (3, 9))


def entries(*listed: object, **more: object) -> bytes:
    return json.dumps({"version": 1, "partitions": list(listed), **more}).encode()


def entry(**changes: object) -> dict[str, object]:
    value: dict[str, object] = {"topic": "foo", "partition": 0, "replicas": [3, 1], **changes}
    return {key: each for key, each in value.items() if each != "absent"}


# Worst effect on the node as a whole on 0.10, 1.1, 2.3, 2.4, 2.8 and 3.9. What 2.0 to 2.3 delete at
# once is as ignored as what stays elsewhere: it is seen only where nobody listens.
REASSIGNMENTS: dict[str, tuple[bytes | None, tuple[Effect, ...]]] = {
    "null data": (None, (P, P, P, P, P, P)),
    "empty data": (b"", (I, I, I, I, I, I)),
    "null": (b"null", (I, P, P, P, P, P)),
    "no JSON": (b"{nonsense", (I, I, I, I, I, I)),
    "UTF-16": ('{"version":1}'.encode("utf-16"), (I, I, I, I, I, I)),
    "NaN": (b'{"version":NaN,"partitions":[]}', (I, I, I, I, I, I)),
    "a list": (b"[]", (I, I, I, I, I, I)),
    "no partitions": (b'{"version":1}', (I, I, P, P, P, P)),
    "partitions null": (b'{"version":1,"partitions":null}', (I, I, P, P, P, P)),
    "partitions no list": (b'{"version":1,"partitions":{}}', (P, P, I, I, I, I)),
    "no entries": (entries(), (I, I, I, I, I, I)),
    "unknown key": (entries(entry(), comment="x"), (O, O, I, I, I, I)),
    "log_dirs": (entries(entry(log_dirs=["any", "any"])), (O, O, I, I, I, I)),
    "entry without replicas": (entries(entry(replicas="absent")), (P, P, O, P, P, P)),
    "replicas null": (entries(entry(replicas=None)), (P, P, O, P, P, P)),
    "entry without topic": (entries(entry(topic="absent")), (P, P, O, O, O, O)),
    "partition x": (entries(entry(partition="x")), (P, P, I, I, I, I)),
    "partition as text": (entries(entry(partition="0")), (P, P, O, O, O, O)),
    "partition 1.0": (entries(entry(partition=1.0)), (P, P, O, O, O, O)),
    "partition too large": (entries(entry(partition=2**31)), (P, P, I, I, I, I)),
    "partition too large as text": (entries(entry(partition="9" * 10)), (P, P, I, I, I, I)),
    "replicas as text": (entries(entry(replicas=["1", "2"])), (O, P, P, P, P, P)),
    "replicas 1.0": (entries(entry(replicas=[1.0])), (O, P, P, P, P, P)),
    "replicas no list": (entries(entry(replicas=3)), (P, P, I, I, I, I)),
    "empty replicas": (entries(entry(replicas=[])), (P, P, P, P, P, P)),
    "entry no object": (entries(7), (P, P, I, I, I, I)),
    "text after the JSON": (entries(entry()) + b"}", (I, O, O, O, O, O)),
    "version 99": (entries(entry(), version=99), (O, O, O, O, O, O)),
    "duplicate ids": (entries(entry(replicas=[1, 2, 2])), (O, O, O, O, O, O)),
    "two entries for one partition": (entries(entry(), entry()), (O, O, O, O, O, O)),
    "unregistered broker": (entries(entry(replicas=[99, 1])), (O, O, O, O, O, O)),
    "negative broker": (entries(entry(replicas=[-1, 1])), (O, O, O, O, O, O)),
    "unknown topic": (entries(entry(topic="gone")), (O, O, O, O, O, O)),
}
ELECTIONS: dict[str, tuple[bytes | None, tuple[Effect, ...]]] = {
    "null data": (None, (P, P, P, P, P, P)),
    "zero bytes": (b"", (P, O, P, P, P, P)),
    "null": (b"null", (P, P, P, P, P, P)),
    "a list": (b"[]", (P, P, P, P, P, P)),
    "no partitions": (b'{"version":1}', (P, P, P, P, P, P)),
    "no JSON": (b"{nonsense", (P, O, O, O, O, O)),
    "entry without topic": (entries({"partition": 0}), (P, P, P, P, P, P)),
    "partition as text": (entries({"topic": "foo", "partition": "2"}), (P, P, P, P, P, P)),
    "partition x": (entries({"topic": "foo", "partition": "x"}), (P, P, P, P, P, P)),
    "unknown keys": (
        entries({"topic": "foo", "partition": 0, "why": 1}, comment=1),
        (O, O, O, O, O, O),
    ),
    "no entries": (entries(), (O, O, O, O, O, O)),
    "unknown topic": (entries({"topic": "gone", "partition": 0}), (O, O, O, O, O, O)),
    "named twice": (entries(*[{"topic": "foo", "partition": 0}] * 2), (O, O, O, O, O, O)),
}


@pytest.mark.parametrize("name", REASSIGNMENTS)
def test_reassignments(name: str) -> None:
    data, expected = REASSIGNMENTS[name]
    reading = read_node(Znode(REASSIGN_PARTITIONS, data, 0), STATE)
    assert tuple(worst_effect(reading, KafkaVersions(v, v)) for v in VERSIONS) == expected
    assert worst_effect(reading, KafkaVersions()) == max(expected)


@pytest.mark.parametrize("name", ELECTIONS)
def test_elections(name: str) -> None:
    data, expected = ELECTIONS[name]
    reading = read_node(Znode(PREFERRED_REPLICA_ELECTION, data, 0), STATE)
    assert tuple(worst_effect(reading, KafkaVersions(v, v)) for v in VERSIONS) == expected


def test_the_border_of_zero_byte_elections_lies_within_two_versions() -> None:
    """Harmless on 2.0 and 2.1, a loop from 2.2 on."""
    seen = [
        effects(PREFERRED_REPLICA_ELECTION, Flaw.EMPTY_DATA, KafkaVersions(v, v))
        for v in ((1, 0), (2, 1), (2, 2))
    ]
    assert seen == [{Effect.POISON}, {Effect.DROPPED}, {Effect.POISON}]
    unsure = effects(PREFERRED_REPLICA_ELECTION, Flaw.EMPTY_DATA, KafkaVersions((1, 1), (2, 6)))
    assert unsure == {Effect.DROPPED, Effect.POISON}


def test_every_flaw_has_an_effect_on_every_version() -> None:
    for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION):
        for flaw in Flaw:
            assert all(len(effects(path, flaw, KafkaVersions(v, v))) == 1 for v in VERSIONS)


def test_a_node_that_is_at_work_is_obeyed_wherever_that_can_be() -> None:
    """Between 1.0 and 2.6 nothing tells the version: an unknown key is ignored or runs, and the
    move shows which.
    """
    unsure = KafkaVersions((1, 0), (2, 6))
    data = entries(entry(log_dirs=["any", "any"]))
    assert (
        worst_effect(read_node(Znode(REASSIGN_PARTITIONS, data, 0), STATE), unsure)
        is Effect.IGNORED
    )
    assert (
        worst_effect(read_node(Znode(REASSIGN_PARTITIONS, data, 1), STATE), unsure) is Effect.OBEYED
    )
    flying = moving(STATE, "foo-0", adding=(3,))
    assert (
        worst_effect(read_node(Znode(REASSIGN_PARTITIONS, data, 0), flying), unsure)
        is Effect.OBEYED
    )
    poison = entries(entry(replicas=None))
    assert (
        worst_effect(read_node(Znode(REASSIGN_PARTITIONS, poison, 1), STATE), KafkaVersions((2, 8)))
        is Effect.POISON
    )


def test_entries_are_judged_against_the_cluster() -> None:
    data = entries(
        entry(),
        entry(partition=1, replicas=[2, 3]),
        entry(partition=7),
        entry(topic="gone", replicas=[99, -1]),
        {"topic": "!probe", "partition": 0, "replicas": [1]},
    )
    found = read_node(Znode(REASSIGN_PARTITIONS, data, 0), STATE)
    assert [[finding.code for finding in each.findings] for each in found.entries] == [
        [],
        [Flaw.NO_OP],
        [Flaw.UNKNOWN_PARTITION],
        [Flaw.UNKNOWN_TOPIC, Flaw.DEAD_BROKER],
        [Flaw.PROBE],
    ]
    assert [each.motion for each in found.entries] == [
        Motion.NOT_STARTED,
        Motion.AT_TARGET,
        None,
        None,
        None,
    ]
    assert found.entries[3].findings[1].message == "brokers that are not alive: 99, -1"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ((3, 1), Motion.NOT_STARTED),
        ((1,), Motion.UNCLEAR),
        ((2, 1), Motion.UNCLEAR),
        ((1, 2), Motion.AT_TARGET),
    ],
)
def test_motion(target: tuple[int, ...], expected: Motion) -> None:
    """A list that holds the whole target may be the union of a move in flight up to 2.3:
    unclear.
    """
    node = Znode(REASSIGN_PARTITIONS, encode_reassignment({tp("foo-0"): target}), 0)
    assert read_node(node, STATE).entries[0].motion is expected
    assert (
        read_node(node, moving(STATE, "foo-0", adding=(9,))).entries[0].motion is Motion.IN_FLIGHT
    )


def test_elections_say_why_they_change_nothing() -> None:
    state = cluster(
        {"foo-0": (1, 2), "foo-1": (9, 2), "foo-2": (3, 1)},
        states={"foo-1": (2, (2,)), "foo-2": (1, (1,))},
    )
    data = entries(*({"topic": "foo", "partition": number} for number in range(3)))
    found = read_node(Znode(PREFERRED_REPLICA_ELECTION, data, 0), replace(state, details=DETAILS))
    assert [each.findings[0].message for each in found.entries] == [
        "the preferred replica of foo-0 already leads",
        "preferred broker 9 is not alive",
        "preferred broker 3 is not in the ISR [1]",
    ]


@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_reading_never_raises_and_what_it_says_is_printable(data: bytes) -> None:
    """Whatever lies in ZooKeeper, it is read, judged, and safe on a terminal."""
    for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION):
        reading = read_node(Znode(path, data, 0), STATE)
        worst_effect(reading, KafkaVersions())
        assert all(finding.message.isprintable() for finding in reading.every_finding)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["foo", "!probe"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["topic", "partition", "replicas", "partitions", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_reading_never_raises_on_any_json(value: object) -> None:
    """The same for well-formed JSON of any shape."""
    for data in (json.dumps(value).encode(), json.dumps({"partitions": [value]}).encode()):
        for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION):
            reading = read_node(Znode(path, data, 0), STATE)
            assert all(finding.message.isprintable() for finding in reading.every_finding)
            assert all(str(each).isprintable() for each in reading.entries)


def test_json_nested_without_end_is_only_odd() -> None:
    deep = (
        b'{"version":1,"partitions":[{"topic":'
        + b"[" * 900
        + b"]" * 900
        + b',"partition":0,"replicas":[1]}]}'
    )
    assert read_node(Znode(REASSIGN_PARTITIONS, deep, 0), STATE).every_finding
    assert (
        read_node(Znode(REASSIGN_PARTITIONS, b"[" * 100_000, 0), STATE).findings[0].code
        is Flaw.NOT_JSON
    )
