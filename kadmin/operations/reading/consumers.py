"""Reads the coordinators of groups, and the groups that a plan disturbs, for `consumers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.errors import StalePlanError
from kadmin.insight.predict.consumers import OFFSETS, CoordinatorRow, coordinating_partition
from kadmin.insight.predict.disturbance import Group, OffsetsIn, changed, disturbed
from kadmin.insight.predict.plans import planned, require_fitting
from kadmin.insight.predict.whatif import placements_of
from kadmin.insight.tables.table import Table
from kadmin.operations.reading.brokers import groups_in_metadata, groups_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.plan.model import Plan


def coordinators(context: Context, groups: Sequence[str]) -> Table:
    """Return the coordinator of each group, existing or not.

    Raises StalePlanError without an offsets topic.
    """
    state = _read(context, [OFFSETS])
    topic = state.topics.get(OFFSETS)
    if topic is None:
        raise StalePlanError(
            f"There is no topic {OFFSETS}.",
            cause="brokers create it for the first group that commits",
        )
    rows = []
    for group in groups:
        number = coordinating_partition(group, len(topic.replicas))
        found = state.states.get(TopicPartition(OFFSETS, number))
        leader = None if found is None or found.leader == NO_LEADER else found.leader
        rows.append(CoordinatorRow(group, number, leader))
    return Table.of("coordinators", CoordinatorRow, rows)


def disturbances(context: Context, plan: Plan) -> tuple[Table, tuple[str, ...]]:
    """Return the groups that a plan disturbs, and what brokers did not answer.

    Raises StalePlanError for a plan that does not fit the cluster.
    """
    state = _read(context)
    require_fitting(plan, state)
    before = placements_of(state)
    changes = changed(before, planned(plan, before, state))
    topics = sorted({was.partition.topic for was, _ in changes})
    in_kafka, unavailable = (
        groups_of(context.backend.brokers(state), state) if changes else ({}, ())
    )
    used: dict[str, list[str]] = {}
    for topic, groups in groups_in_metadata(context.backend, topics).items():
        for group in groups:
            used.setdefault(group, []).append(topic)
    found = [Group(name, OffsetsIn.ZOOKEEPER, group_topics) for name, group_topics in used.items()]
    found += [Group(name, OffsetsIn.KAFKA, group_topics) for name, group_topics in in_kafka.items()]
    offsets = state.topics.get(OFFSETS)
    return disturbed(changes, found, len(offsets.replicas) if offsets else 0), unavailable


def _read(context: Context, topics: Sequence[str] | None = None) -> ClusterState:
    context.backend.check()
    return context.backend.read(topics)
