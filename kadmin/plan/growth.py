"""Grows topics: what a growth changes, and proposals of new partitions.

Goals: new partitions are placed by kadmin.plan.new_partitions, where they even out the cluster.
Constraints: a topic gets a new partition only where it has fewer than wanted, and as many live
brokers as replicas. Internal topics never grow.
Algorithm: the topics with most replicas come first, since they are the hardest to place; each is
placed on the cluster with those before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.cluster.names import INTERNAL_TOPICS
from kadmin.plan.diff import loads_of
from kadmin.plan.model import GrowthPlan, PlanHeader, TopicGrowth
from kadmin.plan.new_partitions import PartitionPlacer
from kadmin.plan.progress import in_flight
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import Assignment, ClusterState
    from kadmin.plan.diff import BrokerLoad
    from kadmin.plan.rules.world import ClusterView

CLEANUP_POLICY = "cleanup.policy"


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """New partitions, and the loads of brokers before and after; sizes are left out."""

    assignment: Assignment
    before: Mapping[int, BrokerLoad]
    after: Mapping[int, BrokerLoad]


@dataclass(frozen=True, slots=True)
class GrowthProposal:
    """A growth of topics; `impossible` are those that do not grow, each with the reason."""

    plan: GrowthPlan
    new: NewPartitions
    impossible: Mapping[str, str]


def is_reached(growth: TopicGrowth, state: ClusterState) -> bool:
    """Whether the topic has the new partitions, with these replicas, and no others."""
    topic = state.topics.get(growth.topic)
    return (
        topic is not None
        and len(topic.replicas) == growth.current + len(growth.new_partitions)
        and all(
            topic.replicas.get(each.partition) == replicas
            for each, replicas in growth.assignment.items()
        )
    )


def compacted(topic: str, world: ClusterView) -> bool:
    """Whether a topic keeps the last value of each key; False where that is not known."""
    own = world.state.topic_configs.get(topic, {}).get(CLEANUP_POLICY)
    return "compact" in (own or world.facts.cleanup_policy or "")


def new_partitions_of(growths: Iterable[TopicGrowth], state: ClusterState) -> NewPartitions:
    """Return what growths add to a cluster."""
    new = {partition: ids for growth in growths for partition, ids in growth.assignment.items()}
    then = {**state.assignment, **new}
    brokers = sorted({*state.brokers, *chain.from_iterable(then.values())})
    before, after = (loads_of(each, brokers, {}) for each in (state.assignment, then))
    return NewPartitions(new, before, after)


def propose_growth(state: ClusterState, topics: Collection[str], partitions: int) -> GrowthProposal:
    """Propose that topics, which exist, get as many partitions."""
    moving = {partition.topic for partition in in_flight(state)}
    reasons = {topic: _obstacle(topic, state, partitions, moving) for topic in sorted(topics)}
    able = [topic for topic, reason in reasons.items() if reason is None]
    placer, growths = PartitionPlacer(state), dict[str, TopicGrowth]()
    for topic in sorted(able, key=lambda each: (-len(state.topics[each].replicas[0]), each)):
        now = len(state.topics[topic].replicas)
        growths[topic] = TopicGrowth(topic, now, placer.place(topic, partitions - now))
    grown = tuple(growths[topic] for topic in able)
    return GrowthProposal(
        GrowthPlan(PlanHeader("growth", state.cluster_id), grown),
        new_partitions_of(grown, state),
        {topic: reason for topic, reason in reasons.items() if reason is not None},
    )


def _obstacle(
    topic: str, state: ClusterState, partitions: int, moving: Collection[str]
) -> str | None:
    replicas = state.topics[topic].replicas
    if topic in INTERNAL_TOPICS:
        return "Kafka, or kadmin's record, needs it as it is"
    if len(replicas) >= partitions:
        return f"it has {count(len(replicas), 'partition')}, and Kafka removes none"
    if len(replicas[0]) > len(state.brokers):
        return f"it needs {count(len(replicas[0]), 'live broker')} for its replicas"
    if topic in moving:
        return "it is being reassigned"
    return None
