"""Rules on an UncleanLeaderElection.

It loses records, so each entry is refused where another way is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import INTERNAL_TOPICS, RECORD_TOPIC
from kadmin.diagnostics import Diagnostic
from kadmin.globs import first_match
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.recovery import clean_leaders, living_replicas
from kadmin.plan.rules.names import Directory, other_cluster, repeated_partitions
from kadmin.plan.rules.pending import reassignment_running, stale_lists
from kadmin.plan.rules.refusals import warning_or_error
from kadmin.plan.unclean import elected_too
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.diagnostics import Field
    from kadmin.plan.model import ForcedLeader, Policy, RecoveryPlan
    from kadmin.plan.rules.world import ClusterView

_AGAIN = "make the plan again: " + command("propose recovery", "--out", "PLAN")


def check_recovery(
    plan: RecoveryPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a plan: names, waivers, and leaders that need not or cannot lead."""
    partitions = [each.partition for each in plan.partitions]
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_partitions(partitions)
        yield from reassignment_running(world)
    yield from repeated_partitions(partitions)
    yield from _guarded(plan, world, policy)
    for index, entry in enumerate(plan.partitions):
        yield from _alone(entry, plan, ("spec", "partitions", index))
    if (severity := warning_or_error(codes.LOSES_RECORDS, policy)) is not None:
        for index, entry in enumerate(plan.partitions):
            yield Diagnostic(
                codes.LOSES_RECORDS,
                f"{entry.partition}: {_loss_in_words(entry)}",
                severity=severity,
                partition=entry.partition,
                field=("spec", "partitions", index),
            )
    if world is not None:
        yield from stale_lists((each.ordered for each in plan.partitions), world)
        for index, entry in enumerate(plan.partitions):
            if entry.partition in world.state.states:
                yield from _on_cluster(entry, world, ("spec", "partitions", index))
        if world.facts.elects_by_config:
            yield from _elected_too(partitions, world)


def _loss_in_words(entry: ForcedLeader) -> str:
    """Return what an entry loses: `at least 150 records lost, at most: unknown`."""
    if entry.replicas is not None:
        return "all of its records are lost"
    found = entry.losing
    if found is None or (found.records is None and found.at_most is None):
        return "how many records are lost is unknown"
    least = "an unknown number of records is lost"
    if found.records is not None:
        least = f"at least {count(found.records, 'record')} lost"
    if found.at_most is None:
        return f"{least}, at most: unknown"
    return f"{least}, at most {found.at_most:,} if none was written after the last sample"


def _guarded(
    plan: RecoveryPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    internal = {*INTERNAL_TOPICS, RECORD_TOPIC}
    if world is not None:
        internal |= world.facts.internal_topics
    for topic in sorted({each.partition.topic for each in plan.partitions}):
        if topic in internal and not plan.allow_internal:
            message = f"{topic} is a topic that Kafka, or kadmin's record, needs"
            next_step = "set spec.allow.internal: true if this is meant"
            yield Diagnostic(codes.INTERNAL_TOPIC, message, next_step, topic=topic)
        denied = None if policy is None else first_match(topic, policy.never_unclean)
        if denied is not None:
            message = f"{topic} is protected: it matches the pattern {denied}"
            next_step = "leave it out; the policy forbids unclean elections of it"
            yield Diagnostic(codes.NEVER_UNCLEAN, message, next_step, topic=topic)


def _alone(entry: ForcedLeader, plan: RecoveryPlan, field: Field) -> Iterator[Diagnostic]:
    kept = entry.current if entry.replicas is None else entry.replicas
    if entry.leader not in kept:
        message = f"{entry.partition}: broker {entry.leader} is not one of {list(kept)}"
        yield Diagnostic(codes.CANNOT_LEAD, message, "name one of them", field=(*field, "leader"))
    if entry.replicas is not None and not plan.empty:
        message = f"{entry.partition}: it would come back empty, on {list(entry.replicas)}"
        next_step = "set spec.empty: true if every replica is lost for good"
        yield Diagnostic(codes.NOT_LOST, message, next_step, field=(*field, "replicas"))


def _on_cluster(entry: ForcedLeader, world: ClusterView, field: Field) -> Iterator[Diagnostic]:
    partition, state = entry.partition, world.state
    if state.has_leader(partition):
        return
    alive = living_replicas(partition, state)
    if clean := clean_leaders(partition, state):
        named = brokers_in_words(clean)
        message = f"{partition}: {named} is alive and was in sync: it leads without a loss"
        next_step = "wait for its election; its log says why it does not lead: " + command(
            "inspect partitions"
        )
        yield Diagnostic(codes.CLEAN_WAY, message, next_step, partition=partition, field=field)
    elif entry.replicas is not None and alive:
        message = f"{partition}: {brokers_in_words(alive)} has a copy: it need not come back empty"
        yield Diagnostic(codes.NOT_LOST, message, _AGAIN, partition=partition, field=field)
    elif entry.replicas is not None and (dead := set(entry.replicas) - state.brokers.keys()):
        message = f"{partition}: {brokers_in_words(dead)} is not alive"
        yield Diagnostic(codes.CANNOT_LEAD, message, _AGAIN, partition=partition, field=field)
    elif entry.replicas is None and entry.leader not in alive:
        living = f"alive are {name_some(alive)}" if alive else "no replica is alive"
        message = f"{partition}: broker {entry.leader} has no living copy; {living}"
        yield Diagnostic(codes.CANNOT_LEAD, message, _AGAIN, partition=partition, field=field)


def _elected_too(
    partitions: Collection[TopicPartition], world: ClusterView
) -> Iterator[Diagnostic]:
    topics = {each.topic for each in partitions if not world.state.has_leader(each)}
    for partition in elected_too(topics, partitions, world.state):
        message = (
            f"{partition}: it has no leader and is not in the plan; by the config of its topic a "
            "replica that lacks records would lead"
        )
        next_step = "start a broker of its replicas, or " + _AGAIN
        yield Diagnostic(codes.ELECTED_TOO, message, next_step, partition=partition)
