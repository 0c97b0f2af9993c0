"""Rules on a PreferredReplicaElection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.election import obstacle, off_preferred, scope_of
from kadmin.plan.rules.names import Directory, other_cluster, repeated_partitions, repeated_topics
from kadmin.plan.rules.pending import election_running
from kadmin.plan.rules.together import PlanFootprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import ElectionPlan, Policy
    from kadmin.plan.rules.world import ClusterView


def check_election(
    plan: ElectionPlan, world: ClusterView | None, _policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of an election.

    Names, another election, and warnings of leaders that cannot be elected.
    """
    if world is not None:
        directory = Directory(world.state.assignment)
        yield from other_cluster(plan, world.state.cluster_id)
        yield from directory.missing_partitions(plan.partitions)
        yield from directory.missing_topics(plan.topics)
        yield from election_running(world)
    yield from repeated_partitions(plan.partitions)
    yield from repeated_topics(plan.topics)
    if world is not None:
        yield from _not_electable(plan, world)


def touched_by_election(plan: ElectionPlan) -> PlanFootprint:
    """Return the footprint of the plan."""
    topics, named = frozenset(plan.topics), frozenset(plan.partitions)

    def elects(partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
        return tuple(
            each
            for each in partitions
            if plan.all_partitions or each.topic in topics or each in named
        )

    return PlanFootprint(
        used=(*plan.topics, *(partition.topic for partition in plan.partitions)), elects=elects
    )


def _not_electable(plan: ElectionPlan, world: ClusterView) -> Iterator[Diagnostic]:
    state = world.state
    existing = tuple(topic for topic in plan.topics if topic in state.topics)
    for partition in scope_of(replace(plan, topics=existing), state):
        if partition in world.in_flight:
            code, message = codes.ELECTED_WHILE_REASSIGNED, f"{partition} is being reassigned"
            next_step = "elect when the reassignment is done"
        elif (
            state.replicas(partition)
            and off_preferred([partition], state)
            and (why := obstacle(partition, state))
        ):
            code, message = codes.NOT_ELECTABLE, f"{partition} cannot be elected: {why}"
            next_step = "start the broker, or wait for it"
        else:
            continue
        yield Diagnostic(
            code, message, next_step, "warning", partition=partition, topic=partition.topic
        )
