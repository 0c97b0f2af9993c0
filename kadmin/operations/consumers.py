"""Reads what `consumers` shows: shares of a group before and after a change, coordinators, and who notices a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.reader import consumer_groups, read_cluster, registrations, require_kafka_cluster
from kadmin.errors import StalePlanError, name_some
from kadmin.insight.consumers import (
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
from kadmin.insight.disturbance import Group, OffsetsIn, changed, disturbed
from kadmin.insight.tables import Table
from kadmin.insight.whatif import placements_of, planned, require_fitting
from kadmin.operations.brokers import groups_of
from kadmin.operations.inspect import Inspection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.cluster.znodes.consumers import ConsumerRegistration
    from kadmin.insight.strategy import Strategy
    from kadmin.operations.runner import Desk
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Change:
    """What is supposed to happen to a group: partitions more for each topic, a number of members, a member lost."""

    add_partitions: int = 0
    members: int | None = None
    lose: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """Who has what before and after; how many partitions change hands; the threads that get nothing then."""

    table: Table
    changed: int
    idle: tuple[str, ...]


def preview(desk: Desk, group: str, change: Change, strategy: Strategy) -> Preview:
    """Share a group's topics out among its live old consumers, before and after a change; nothing is written.

    Raises StalePlanError for a group without live members in ZooKeeper or without topics, and for a member that is
    none.
    """
    state = _read(desk)
    members = registrations(desk.store, [group])[group]
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
    return Preview(preview_table(before, after), len(changed_hands(before, after)), idle(after))


def coordinators(desk: Desk, groups: Sequence[str]) -> Table:
    """Return the broker that coordinates each group, existing or not; raises StalePlanError where there is none yet."""
    state = _read(desk, [OFFSETS])
    topic = state.topics.get(OFFSETS)
    if topic is None:
        raise StalePlanError(f"There is no topic {OFFSETS}.", cause="brokers make it for the first group that commits")
    rows = []
    for group in groups:
        number = coordinating_partition(group, len(topic.replicas))
        found = state.states.get(TopicPartition(OFFSETS, number))
        rows.append((group, number, None if found is None or found.leader == NO_LEADER else found.leader))
    return Table.of("coordinators", COORDINATORS, rows)


def disturbances(desk: Desk, plan: Plan) -> Inspection:
    """Return the groups that notice a plan, old ones and, where the brokers tell of them, those of Kafka's own.

    Raises StalePlanError for a plan that does not fit the cluster.
    """
    state = _read(desk)
    require_fitting(plan, state)
    before = placements_of(state)
    changes = changed(before, planned(plan, before, state))
    topics = sorted({was.partition.topic for was, _ in changes})
    in_kafka, untold = groups_of(state) if changes else ({}, ())
    used: dict[str, list[str]] = {}
    for topic, groups in consumer_groups(desk.store, topics).items():
        for group in groups:
            used.setdefault(group, []).append(topic)
    found = [Group(name, OffsetsIn.ZOOKEEPER, known) for name, known in used.items()]
    found += [Group(name, OffsetsIn.KAFKA, known) for name, known in in_kafka.items()]
    offsets = state.topics.get(OFFSETS)
    return Inspection(disturbed(changes, found, len(offsets.replicas) if offsets else 0), (), untold)


def _read(desk: Desk, topics: Sequence[str] | None = None) -> ClusterState:
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    return read_cluster(desk.store, topics)


def _left(members: Sequence[ConsumerRegistration], change: Change) -> Sequence[ConsumerRegistration]:
    known = {each.consumer_id for each in members}
    if change.lose is not None and change.lose not in known:
        raise StalePlanError(f"No member {change.lose} is alive.", cause=f"alive are {name_some(sorted(known))}")
    left = [each for each in members if each.consumer_id != change.lose]
    return left if change.members is None else resized(left or members, change.members)
