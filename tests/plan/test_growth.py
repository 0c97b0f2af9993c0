"""Growths: what is proposed, what is reached, and what a growth adds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster, moving, tp

from kadmin.plan.facts import ClusterFacts
from kadmin.plan.growth import compacted, is_reached, new_partitions_of, propose_growth
from kadmin.plan.model import TopicGrowth
from kadmin.plan.rules import ClusterView

STATE = cluster({"a-0": (1, 2), "b-0": (3, 4, 1), "__consumer_offsets-0": (1, 2)})
GROWTH = TopicGrowth("a", 1, ((3, 4), (4, 2)))


def test_topics_grow_to_the_number_and_those_with_most_replicas_are_placed_first() -> None:
    found = propose_growth(STATE, ["b", "a"], 2)
    assert [(each.topic, each.current, len(each.new_partitions)) for each in found.plan.topics] == [
        ("a", 1, 1),
        ("b", 1, 1),
    ]
    assert found.impossible == {}
    assert found.plan.header.cluster_id == STATE.cluster_id
    assert found.new.assignment == found.plan.assignment
    after = [load.replicas for load in found.new.after.values()]
    assert max(after) - min(after) <= 1
    assert sum(after) == sum(load.replicas for load in found.new.before.values()) + 5


@pytest.mark.parametrize(
    ("topic", "partitions", "reason"),
    [
        ("a", 1, "it has 1 partition, and Kafka removes none"),
        ("__consumer_offsets", 9, "Kafka, or kadmin's record, needs it as it is"),
    ],
)
def test_what_does_not_grow_is_named(topic: str, partitions: int, reason: str) -> None:
    found = propose_growth(STATE, [topic], partitions)
    assert (found.plan.topics, found.impossible) == ((), {topic: reason})


def test_a_topic_in_mid_move_and_one_with_too_few_brokers_do_not_grow() -> None:
    state = moving(STATE, "a-0", adding=(3,))
    assert propose_growth(state, ["a"], 2).impossible == {"a": "it is being reassigned"}
    few = replace(STATE, brokers={1: STATE.brokers[1]})
    assert propose_growth(few, ["b"], 2).impossible == {
        "b": "it needs 3 live brokers for its replicas"
    }


def test_a_growth_is_reached_by_its_own_lists_alone() -> None:
    assert not is_reached(GROWTH, STATE)
    assert not is_reached(GROWTH, cluster({"b-0": (1, 2)}))
    grown = {"a-0": (1, 2), "a-1": (3, 4), "a-2": (4, 2)}
    assert is_reached(GROWTH, cluster(grown))
    assert not is_reached(GROWTH, cluster({**grown, "a-2": (2, 4)}))
    assert not is_reached(GROWTH, cluster({**grown, "a-3": (2, 4)}))


def test_what_it_adds_counts_for_brokers_that_are_not_alive_too() -> None:
    found = new_partitions_of([TopicGrowth("a", 1, ((9, 4),))], STATE)
    assert found.assignment == {tp("a-1"): (9, 4)}
    assert (found.before[9].replicas, found.after[9].replicas, found.after[9].leaders) == (0, 1, 1)


def test_a_topic_is_compacted_by_its_own_policy_else_by_the_brokers() -> None:
    own = replace(STATE, topic_configs={"a": {"cleanup.policy": "compact,delete"}})
    brokers = ClusterFacts(cleanup_policy="compact")
    assert compacted("a", ClusterView(own))
    assert not compacted("b", ClusterView(own))
    assert compacted("b", ClusterView(own, brokers))
    kept = replace(STATE, topic_configs={"b": {"cleanup.policy": "delete"}})
    assert not compacted("b", ClusterView(kept, brokers))
