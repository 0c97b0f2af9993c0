"""Reads what `consumers` shows: shares of a group before and after a change, coordinators, and who notices a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.zookeeper.reader import consumer_groups, read_cluster, registrations, require_kafka_cluster
from kadmin.errors import StalePlanError, name_some
from kadmin.insight.predict.consumers import (
    COORDINATORS,
    OFFSETS,
    changed_hands,
    coordinating_partition,
    idle,
    preview_table,
    resized,
    shares,
    threads_of,
)
from kadmin.insight.predict.disturbance import Group, OffsetsIn, changed, disturbed
from kadmin.insight.predict.plans import planned, require_fitting
from kadmin.insight.predict.whatif import placements_of
from kadmin.insight.tables.table import Table
from kadmin.operations.reading.brokers import groups_of
from kadmin.operations.zookeeper.inspect import Inspection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.cluster.zookeeper.znodes.consumers import ConsumerRegistration
    from kadmin.insight.predict.strategy import Strategy
    from kadmin.operations.execute.runner import Context
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Change:
    """What is supposed to happen to a group: partitions more for each topic, a number of members, a member lost."""

    add_partitions: int = 0
    members: int | None = None
    lose: str | None = None


@dataclass(frozen=True, slots=True)
class SharesPreview:
    """Who has what before and after; how many partitions change hands; the threads that get nothing then."""

    table: Table
    changed: int
    idle: tuple[str, ...]


def preview(context: Context, group: str, change: Change, strategy: Strategy) -> SharesPreview:
    """Share a group's topics out among its live old consumers, before and after a change; nothing is written.

    Raises StalePlanError for a group without live members in ZooKeeper or without topics, and for a member that is
    none.
    """
    state = _read(context)
    members = registrations(context.store, [group])[group]
    if not members:
        raise StalePlanError(
            f"Group {group} has no live member in ZooKeeper.",
            cause="only old consumers register there; newer groups are known to their coordinator alone",
            next_command=f"kadmin consumers coordinator {group}",
        )
    left = _left(members, change)
    partitions = {name: len(topic.replicas) for name, topic in state.topics.items()}
    threads = threads_of(members, partitions)
    used = {topic for topics in threads.values() for topic in topics}
    if not used:
        wanted = sorted({topic for member in members for topic in member.subscription})
        raise StalePlanError(
            f"The cluster has no topic that group {group} subscribes to.",
            cause=f"its members subscribe to {name_some(wanted)}",
            next_command="kadmin inspect topics",
        )
    grown = {name: number + change.add_partitions * (name in used) for name, number in partitions.items()}
    before = shares(strategy, threads, partitions)
    after = shares(strategy, threads_of(left, partitions), grown, before)
    return SharesPreview(preview_table(before, after), len(changed_hands(before, after)), idle(after))


def coordinators(context: Context, groups: Sequence[str]) -> Table:
    """Return the broker that coordinates each group, existing or not; raises StalePlanError where there is none yet."""
    state = _read(context, [OFFSETS])
    topic = state.topics.get(OFFSETS)
    if topic is None:
        raise StalePlanError(f"There is no topic {OFFSETS}.", cause="brokers make it for the first group that commits")
    rows = []
    for group in groups:
        number = coordinating_partition(group, len(topic.replicas))
        found = state.states.get(TopicPartition(OFFSETS, number))
        rows.append((group, number, None if found is None or found.leader == NO_LEADER else found.leader))
    return Table.of("coordinators", COORDINATORS, rows)


def disturbances(context: Context, plan: Plan) -> Inspection:
    """Return the groups that notice a plan, old ones and, where the brokers tell of them, those of Kafka's own.

    Raises StalePlanError for a plan that does not fit the cluster.
    """
    state = _read(context)
    require_fitting(plan, state)
    before = placements_of(state)
    changes = changed(before, planned(plan, before, state))
    topics = sorted({was.partition.topic for was, _ in changes})
    in_kafka, unavailable = groups_of(state) if changes else ({}, ())
    used: dict[str, list[str]] = {}
    for topic, groups in consumer_groups(context.store, topics).items():
        for group in groups:
            used.setdefault(group, []).append(topic)
    found = [Group(name, OffsetsIn.ZOOKEEPER, known) for name, known in used.items()]
    found += [Group(name, OffsetsIn.KAFKA, known) for name, known in in_kafka.items()]
    offsets = state.topics.get(OFFSETS)
    return Inspection(disturbed(changes, found, len(offsets.replicas) if offsets else 0), (), unavailable)


def _read(context: Context, topics: Sequence[str] | None = None) -> ClusterState:
    context.store.sync("/")
    require_kafka_cluster(context.store)
    return read_cluster(context.store, topics)


def _left(members: Sequence[ConsumerRegistration], change: Change) -> Sequence[ConsumerRegistration]:
    known = {each.consumer_id for each in members}
    if change.lose is not None and change.lose not in known:
        raise StalePlanError(f"No member {change.lose} is alive.", cause=f"alive are {name_some(sorted(known))}")
    left = [each for each in members if each.consumer_id != change.lose]
    return left if change.members is None else resized(left or members, change.members)
