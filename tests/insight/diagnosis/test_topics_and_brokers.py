"""Findings on topics, partitions, brokers, configs and notifications."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cluster.evidence import STATE, evidence, only, troubles
from support.cluster.states import cluster, moving, tp

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import Topic, Unreadable
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose, unchecked
from kadmin.worlds.zookeeper.doctor.topic_troubles import string_ids
from kadmin.worlds.zookeeper.model import details_of

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState


def topic_znode(partitions: dict[str, Any], **more: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps({"version": 3, "partitions": partitions, **more}).encode()


STRING_IDS = {
    "2.3": (topic_znode({"0": ["1", "2", 0, 1], "1": [1, 2]}), (0,)),
    "2.4 and later": (
        topic_znode(
            {"0": ["1", "2", 1, 2]},
            adding_replicas={"0": ["1", "2"]},
            removing_replicas={"0": [1, 2]},
        ),
        (0,),
    ),
    "only in adding": (topic_znode({"3": [1]}, adding_replicas={"3": ["2"]}), (3,)),
    "all ints": (topic_znode({"0": [1]}), ()),
    "not JSON": (b"{", ()),
    "no data": (None, ()),
    "words": (topic_znode({"0": ["one"]}), ()),
    "not lists": (topic_znode({"0": "1"}), ()),
    "no map": (topic_znode([]), ()),  # type: ignore[arg-type] # that is the point
    "no map at all": (b'{"partitions":7}', ()),
    "a key that is no number": (topic_znode({"x": ["1"]}), ()),
    "a float": (topic_znode({"0": ["1", 1.5]}), ()),
}


def without(*unreadable: Unreadable) -> ClusterState:
    """Return the state of a tolerant reading that left these out."""
    return replace(STATE, details=replace(details_of(STATE), unreadable=unreadable))


@pytest.mark.parametrize("name", STRING_IDS)
def test_f36_string_ids(name: str) -> None:
    data, expected = STRING_IDS[name]
    assert string_ids(data) == expected
    state = without(Unreadable("/brokers/topics/bar", "why", data, 4))
    found = only(evidence(state))
    assert found.stops_apply
    assert found.version == 4
    assert "why" in found.evidence
    if expected:
        assert (found.code, found.topic, found.partitions) == (Trouble.STRING_IDS, "bar", expected)
    else:
        assert (found.code, found.topic) == (Trouble.UNREADABLE_ZNODE, None)


@pytest.mark.parametrize(
    ("path", "stops"), [("/brokers/ids/3", True), ("/config/topics/foo", False)]
)
def test_other_znodes_that_cannot_be_read(path: str, stops: bool) -> None:  # noqa: FBT001 - a column
    found = only(evidence(without(Unreadable(path, "why", b"x", 1))))
    assert (found.code, found.znode, found.stops_apply) == (Trouble.UNREADABLE_ZNODE, path, stops)


EMPTIED = {
    "to 2.6": (Topic("bar", {0: (), 1: (1,)}, fingerprint=6), False),
    "from 2.7 on": (Topic("bar", {0: (1, 2)}, removing_replicas={0: (1, 2)}, fingerprint=6), True),
}


@pytest.mark.parametrize("name", EMPTIED)
def test_f36_empty_replicas(name: str) -> None:
    """Up to 2.6 the data is lost and nobody fails; from 2.7 on it is kept and the next controller
    fails.
    """
    topic, stops = EMPTIED[name]
    found = only(evidence(replace(STATE, topics={**STATE.topics, "bar": topic})))
    assert (found.code, found.topic, found.partitions) == (Trouble.EMPTY_REPLICAS, "bar", (0,))
    assert (found.stops_apply, found.version) == (stops, 6)


def test_partitions_that_are_not_well() -> None:
    state = cluster(
        {"foo-0": (1, 2), "foo-1": (2, 1), "foo-2": (1, 2)},
        states={"foo-0": (-1, (1,)), "foo-1": (2, (2,))},
    )
    state = replace(state, topic_configs={"foo": {"min.insync.replicas": "2"}})
    offline, short = diagnose(evidence(state))
    assert (offline.code, offline.stops_apply) == (Trouble.OFFLINE_PARTITIONS, False)
    assert offline.evidence == ("foo-0: leader -1, ISR [1], replicas [1, 2]",)
    assert (short.code, short.evidence) == (
        Trouble.UNDER_MIN_ISR,
        ("foo-1: leader 2, ISR [2], replicas [2, 1]",),
    )
    never = next(
        each
        for each in diagnose(
            evidence(replace(state, topic_configs={"foo": {"min.insync.replicas": "3"}}))
        )
        if each.code is Trouble.UNDER_MIN_ISR
    )
    assert "above the replication factor" in never.message
    default = replace(state, topic_configs={}, broker_defaults={"min.insync.replicas": "2"})
    assert troubles(evidence(default)) == [Trouble.OFFLINE_PARTITIONS, Trouble.UNDER_MIN_ISR]
    assert troubles(
        evidence(replace(state, topic_configs={"foo": {"min.insync.replicas": "x"}}))
    ) == [Trouble.OFFLINE_PARTITIONS]


def test_brokers_that_hold_replicas_and_are_gone() -> None:
    found = only(evidence(cluster({"foo-0": (1, 9), "foo-1": (1, 9, 8)})))
    assert (found.code, found.stops_apply) == (Trouble.MISSING_BROKERS, False)
    assert found.evidence == ("broker 8: assigned replicas: 1", "broker 9: assigned replicas: 2")


def test_throttles_are_leftover_when_nothing_moves() -> None:
    throttled, other = map(ConfigEntity.of_broker, (1, 2))
    configs = {
        throttled: {"leader.replication.throttled.rate": "1000"},
        other: {"log.retention.ms": "1"},
    }
    state = replace(STATE, topic_configs={"foo": {"follower.replication.throttled.replicas": "*"}})
    found = only(evidence(state, broker_configs=configs))
    assert (found.code, found.stops_apply) == (Trouble.LEFTOVER_THROTTLE, False)
    assert found.evidence == (
        "brokers/1: leader.replication.throttled.rate",
        "topics/foo: follower.replication.throttled.replicas",
    )
    assert str(found.next_step) == "kadmin throttle audit"
    in_use = moving(state, "foo-0", adding=(3,))
    assert Trouble.LEFTOVER_THROTTLE not in troubles(evidence(in_use, broker_configs=configs))


@pytest.mark.parametrize(
    ("path", "count", "told"),
    [
        ("/config/changes", 10_000, False),
        ("/config/changes", 10_001, True),
        ("/isr_change_notification", 1_000, False),
        ("/isr_change_notification", 1_001, True),
    ],
)
def test_many_notifications(path: str, count: int, told: bool) -> None:  # noqa: FBT001 - a column
    found = diagnose(evidence(notifications={path: count}))
    assert [each.code for each in found] == ([Trouble.MANY_NOTIFICATIONS] if told else [])


@pytest.mark.parametrize(
    ("paths", "stops"), [(["/config/brokers"], False), (["/config/users", "/admin"], True)]
)
def test_what_may_not_be_read_is_a_finding(paths: list[str], stops: bool) -> None:  # noqa: FBT001 - a column
    state = without(*(Unreadable(each, "NoAuth", denied=True) for each in paths))
    found = only(evidence(state))
    assert (found.code, found.stops_apply) == (Trouble.WRONG_ACL, stops)
    assert all(each in found.evidence[0] for each in paths)


def test_copies_that_no_partition_uses_are_named_with_their_bytes() -> None:
    found = only(
        evidence(unused_copies={4: {tp("foo-1"): 2_700_000, tp("foo-0"): 0}, 3: {tp("foo-0"): 40}})
    )
    assert (found.code, found.stops_apply) == (Trouble.UNUSED_COPIES, False)
    assert found.message == "3 copies on disk that no partition uses, 2.70 MB."
    assert found.evidence[:2] == (
        "broker 3: foo-0 (40 B)",
        "broker 4: foo-1 (2.70 MB), foo-0 (0 B)",
    )


def test_disks_that_could_not_be_asked_are_not_checked() -> None:
    found = evidence(disks_unavailable="no broker has a PLAINTEXT listener")
    assert diagnose(found) == ()
    assert unchecked(found) == (
        (
            "emptied brokers, and copies on disk that no partition uses: no broker has a PLAINTEXT "
            "listener"
        ),
    )
