"""Assignments of topics and states of partitions, as every version of Kafka writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.zookeeper.encoded import node

from kadmin.cluster.model import NO_LEADER, Topic, TopicPartition
from kadmin.worlds.zookeeper.model import StateNode, Znode
from kadmin.worlds.zookeeper.znodes.topics import (
    change_replicas,
    decode_state,
    decode_topic,
    encode_topic,
    state_path,
    topic_path,
)
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas


ids = st.integers(0, 2**31 - 1)
replica_lists = st.lists(ids, min_size=1, max_size=6, unique=True).map(tuple)


def test_topics_of_every_version() -> None:
    partitions = {"0": [1, 2], "10": [2], "2": [3, 1]}
    replicas = {0: (1, 2), 2: (3, 1), 10: (2,)}
    one = decode_topic("a", node(topic_path("a"), {"version": 1, "partitions": partitions}))
    assert one == Topic("a", replicas, fingerprint=3, format_version=1)
    assert list(one.replicas) == [0, 2, 10]
    moving = {"adding_replicas": {"0": [2], "2": []}, "removing_replicas": {"0": [1]}}
    two = decode_topic(
        "a", node(topic_path("a"), {"version": 2, "partitions": partitions, **moving})
    )
    assert two == Topic("a", replicas, {0: (2,)}, {0: (1,)}, format_version=2, fingerprint=3)
    value = {
        "version": 3,
        "partitions": partitions,
        "topic_id": "4GERWIhcT2ezzlinUTi3Hw",
        **moving,
        "future": 1,
    }
    three = decode_topic("a", node(topic_path("a"), value))
    assert (three.topic_id, three.format_version) == ("4GERWIhcT2ezzlinUTi3Hw", 3)


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1},
        {"partitions": [[1]]},
        {"partitions": {"x": [1]}},
        {"partitions": {"-1": [1]}},
        {"partitions": {"0": ["1", "2", 0, 1]}},
        {"partitions": {"0": None}},
        {"partitions": {"0": [1.5]}},
        {"partitions": {"0": [1]}, "adding_replicas": {"0": ["1"]}},
        {"partitions": {"0": [1]}, "removing_replicas": [1]},
        {"partitions": {"0": [1]}, "topic_id": 1},
        {"partitions": {"0": [1]}, "version": "1"},
    ],
)
def test_topics_that_loop_controllers_are_malformed(value: object) -> None:
    """String ids are the worst: every later failover fails on them until the topic znode is
    repaired.
    """
    with pytest.raises(MalformedZnodeError, match=r"^/brokers/topics/a: "):
        decode_topic("a", node(topic_path("a"), value))


def test_a_new_topic_is_written_as_old_tools_do() -> None:
    assert (
        encode_topic({1: (2, 3), 0: (1, 2)}) == b'{"version":1,"partitions":{"0":[1,2],"1":[2,3]}}'
    )


@given(st.lists(replica_lists, min_size=1, max_size=20))
def test_new_topics_round_trip(lists: list[Replicas]) -> None:
    """Encode and decode are inverse for whatever may be written."""
    replicas = dict(enumerate(lists))
    assert (
        decode_topic("a", Znode("/brokers/topics/a", encode_topic(replicas), 0)).replicas
        == replicas
    )


@pytest.mark.parametrize(
    "replicas", [{}, {1: (1,)}, {0: (1,), 2: (1,)}, {0: ()}, {0: (1, 1)}, {0: (-1,)}], ids=repr
)
def test_topics_that_must_never_be_made(replicas: dict[int, Replicas]) -> None:
    with pytest.raises(ValueError, match=r"partition|int32"):
        encode_topic(replicas)


def test_partition_states() -> None:
    value = {
        "version": 1,
        "leader": -1,
        "leader_epoch": 5,
        "controller_epoch": 2,
        "isr": [3],
        "leader_recovery_state": 1,
    }
    found = decode_state(
        node(state_path(TopicPartition("a", 0)), {**value, "leader_recovery_state": 1})
    )
    assert found == StateNode(NO_LEADER, (3,), 5, controller_epoch=2, fingerprint=3)
    for key in ("leader", "leader_epoch", "controller_epoch", "isr"):
        with pytest.raises(MalformedZnodeError, match=key):
            decode_state(node("/s", {name: each for name, each in value.items() if name != key}))


def test_other_lists_leave_the_rest_of_a_topic_as_it_is() -> None:
    value = {"version": 2, "partitions": {"1": [1, 2], "0": [2, 1]}, "future": {"a": 1}}
    found = change_replicas(node(topic_path("a"), value), {1: (2, 1)})
    changed = b'{"version":2,"partitions":{"1":[2,1],"0":[2,1]},"future":{"a":1}}'
    assert found == changed
    with pytest.raises(ValueError, match="partition 0"):
        change_replicas(node(topic_path("a"), value), {0: (1, 1)})
