"""Rules on a PartitionGrowth.

It cannot be rolled back: Kafka removes no partition of a topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import INTERNAL_TOPICS, escaped
from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.growth import compacted, is_reached
from kadmin.plan.rules.names import Directory, other_cluster, repeated_topics, unknown_brokers
from kadmin.plan.rules.refusals import warning_or_error
from kadmin.plan.rules.together import PlanFootprint
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.diagnostics import Field
    from kadmin.plan.model import GrowthPlan, Policy, TopicGrowth
    from kadmin.plan.rules.world import ClusterView

_WAIVER = "set spec.allow.keys_move: true if this is meant"


def check_growth(
    plan: GrowthPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a growth: names, counts, replicas, and what becomes of keys and groups.

    Topics that have the new partitions already are left alone.
    """
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_topics(plan.names)
    yield from repeated_topics(plan.names)
    growing = [
        (("spec", "topics", index), growth)
        for index, growth in enumerate(plan.topics)
        if world is None or not is_reached(growth, world.state)
    ]
    for field, growth in growing:
        yield from _internal(growth, field)
        if world is not None and growth.topic in world.state.topics:
            yield from _on_cluster(growth, world, field)
        yield from _factor(growth, world, field)
        yield from _keys(growth, plan, world, policy, field)
    if world is not None:
        for field, growth in growing:
            yield from _groups(growth, world, field)
        yield from _unchecked(world)


def touched_by_growth(plan: GrowthPlan) -> PlanFootprint:
    """Return the footprint of the plan."""
    return PlanFootprint(used=plan.names)


def _internal(growth: TopicGrowth, field: Field) -> Iterator[Diagnostic]:
    topic = growth.topic
    if topic in INTERNAL_TOPICS:
        message = (
            f"Kafka, or kadmin's record, needs the topic {topic}, and finds its records by the "
            "number of partitions"
        )
        yield Diagnostic(codes.NEVER_GROWN, message, "leave it out", topic=topic, field=field)


def _on_cluster(growth: TopicGrowth, world: ClusterView, field: Field) -> Iterator[Diagnostic]:
    topic, state = growth.topic, world.state
    if world.live and topic in state.requests.deletions:
        message, next_step = f"{topic} is being deleted", "take it out of the plan"
        yield Diagnostic(codes.BEING_DELETED, message, next_step, topic=topic, field=field)
    if any(partition.topic == topic for partition in world.in_flight):
        message = f"partitions of {topic} are being reassigned"
        next_step = "apply again when the reassignment is done; this guard cannot be waived"
        yield Diagnostic(codes.BEING_REASSIGNED, message, next_step, topic=topic, field=field)
    if (now := len(state.topics[topic].replicas)) != growth.current:
        yield Diagnostic(
            codes.OTHER_COUNT,
            f"{topic} has {count(now, 'partition')}, the plan was made on {growth.current}",
            "make the plan again, for the partitions that it has now",
            topic=topic,
            field=(*field, "current"),
        )
    yield from _brokers(growth, world, (*field, "new_partitions"))


def _brokers(growth: TopicGrowth, world: ClusterView, field: Field) -> Iterator[Diagnostic]:
    brokers = {broker for replicas in growth.new_partitions for broker in replicas}
    yield from unknown_brokers(sorted(brokers), world, field)
    alive = world.state.brokers.keys()
    if dead := sorted((brokers & world.racks.keys()) - alive):
        message = (
            f"{growth.topic} would have new partitions on brokers that are not alive: "
            f"{name_some(dead)}"
        )
        next_step = f"start them, or name others; alive are {name_some(sorted(alive), most=10)}"
        yield Diagnostic(codes.DEAD_BROKER, message, next_step, topic=growth.topic, field=field)


def _factor(growth: TopicGrowth, world: ClusterView | None, field: Field) -> Iterator[Diagnostic]:
    """Compare with the first partition of the topic, as Kafka does; else with the first new one."""
    found = None if world is None else world.state.topics.get(growth.topic)
    first = growth.new_partitions[0] if found is None else found.replicas.get(0, ())
    for index, (partition, replicas) in enumerate(growth.assignment.items()):
        if len(replicas) != len(first):
            message = (
                f"{partition}: {count(len(replicas), 'replica')}, the other partitions have "
                f"{len(first)}"
            )
            next_step = f"name {count(len(first), 'broker')}: Kafka refuses another number"
            place = (*field, "new_partitions", index)
            yield Diagnostic(
                codes.OTHER_FACTOR, message, next_step, partition=partition, field=place
            )


def _keys(
    growth: TopicGrowth,
    plan: GrowthPlan,
    world: ClusterView | None,
    policy: Policy | None,
    field: Field,
) -> Iterator[Diagnostic]:
    topic = growth.topic
    if plan.allow_keys_move:
        return
    if world is not None and compacted(topic, world):
        message = (
            f"{topic} is compacted: the last old value of a key stays in its old partition for "
            "ever, beside the new one"
        )
        yield Diagnostic(codes.COMPACTED, message, _WAIVER, topic=topic, field=field)
    elif (severity := warning_or_error(codes.KEYS_MOVE, policy)) is not None:
        message = (
            f"{topic}: records with keys go to other partitions than before, so those of one key "
            "have no common order"
        )
        yield Diagnostic(codes.KEYS_MOVE, message, _WAIVER, severity, topic=topic, field=field)


def _groups(growth: TopicGrowth, world: ClusterView, field: Field) -> Iterator[Diagnostic]:
    if groups := world.facts.consumers.get(growth.topic):
        message = (
            f"{growth.topic} is read by {count(len(groups), 'group')}: "
            f"{name_some(map(escaped, groups), most=10)}; they rebalance when they find the new "
            "partitions, and with auto.offset.reset=latest skip what was written there before"
        )
        next_step = command("consumers disturbed", "FILE")
        yield Diagnostic(
            codes.GROUPS_DISTURBED, message, next_step, "warning", topic=growth.topic, field=field
        )


def _unchecked(world: ClusterView) -> Iterator[Diagnostic]:
    for unknown in world.facts.unavailable:
        next_step = "ask the owners of the topics' consumers"
        yield Diagnostic(
            codes.GUARD_UNCHECKED,
            escaped(unknown, 1_000),
            next_step,
            "warning",
            field=("spec", "topics"),
        )
