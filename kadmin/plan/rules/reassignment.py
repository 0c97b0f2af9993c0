"""Rules on a PartitionReassignment."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.copying import suggested_rate
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import Elect, ThrottleBy
from kadmin.plan.rules.hours import check_hours
from kadmin.plan.rules.log_dirs import check_log_dirs
from kadmin.plan.rules.names import Directory, name_collisions, other_cluster, repeated_partitions
from kadmin.plan.rules.outlook import outlook, replicas_field
from kadmin.plan.rules.pending import election_running, reassignment_running, stale_lists
from kadmin.plan.rules.throttle import check_throttle, unthrottled_severity
from kadmin.plan.rules.together import PlanFootprint
from kadmin.plan.sources import awaited, lacks_source, with_source_size
from kadmin.plan.units import format_rate, format_size, readable_size
from kadmin.plan.waves import bytes_alone, moved_bytes
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import Assignment, Replicas, TopicPartition
    from kadmin.plan.model import PartitionTarget, Policy, ReassignmentPlan, ThrottleSpec
    from kadmin.plan.rules.world import ClusterView


_ADD_SIZES = (
    "add size_bytes, or give the sizes with --sizes FILE or --inventory DIR; brokers tell them "
    "from Kafka 1.1 on"
)


def check_reassignment(
    plan: ReassignmentPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a plan.

    Names, pending requests, limits, stale entries, and the state that it leaves.
    """
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_partitions(_partitions(plan))
        yield from _unknown_brokers(plan, world)
        yield from _running(plan, world)
    yield from repeated_partitions(_partitions(plan))
    yield from _no_ops(plan)
    yield from _replication_factors(plan, {} if world is None else _at_rest(world))
    completed = _completed(plan, world)
    for found in (*_wave_limits(completed), *_throttle_sizes(completed)):
        yield _unsized(found, world) if found.code == codes.SIZE_UNKNOWN else found
    yield from check_throttle(plan.throttle, None if world is None else world.facts.signals)
    yield from check_hours(plan.hours, plan.throttle)
    yield from check_log_dirs(plan, world)
    if world is not None:
        yield from _fewer_racks(plan, world)
        yield from stale_lists(plan.reassignments, world)
        yield from _being_deleted(plan, world)
        yield from _dead_targets(plan, world)
        yield from _without_source(plan, world)
        yield from outlook(plan, world)
    yield from name_collisions(partition.topic for partition in _partitions(plan))
    yield from _unthrottled(_copied(plan, world), plan.throttle, world, policy)


def touched_by_reassignment(plan: ReassignmentPlan) -> PlanFootprint:
    """Return the footprint of the plan."""
    partitions = tuple(_partitions(plan))
    return PlanFootprint(
        reassigned=partitions, used=tuple(partition.topic for partition in partitions)
    )


def _partitions(plan: ReassignmentPlan) -> Iterator[TopicPartition]:
    return (target.partition for target in plan.reassignments)


def _no_ops(plan: ReassignmentPlan) -> Iterator[Diagnostic]:
    for index, target in enumerate(plan.reassignments):
        if target.current == target.replicas and not target.directories:
            message = (
                f"{target.partition}: target and current are both {list(target.replicas)}; skipped"
            )
            field = replicas_field(index)
            yield Diagnostic(
                codes.NO_OP, message, severity="warning", partition=target.partition, field=field
            )


def _at_rest(world: ClusterView) -> Assignment:
    """Leave out partitions in mid-move, which have the replicas of both sides."""
    return {
        each: replicas
        for each, replicas in world.state.assignment.items()
        if each not in world.in_flight
    }


def _replication_factors(plan: ReassignmentPlan, assignment: Assignment) -> Iterator[Diagnostic]:
    """Compare with `current`; `assignment` serves where that is not given."""
    for index, target in enumerate(
        () if plan.allow_replication_factor_change else plan.reassignments
    ):
        base = _base(target, assignment)
        if base is not None and len(base) != len(target.replicas):
            message = (
                f"{target.partition}: replication factor {len(base)} becomes {len(target.replicas)}"
            )
            next_step = "set spec.allow.replication_factor_change: true if this is meant"
            field = replicas_field(index)
            yield Diagnostic(
                codes.REPLICATION_FACTOR,
                message,
                next_step,
                partition=target.partition,
                field=field,
            )


def _completed(plan: ReassignmentPlan, world: ClusterView | None) -> ReassignmentPlan:
    """Return the plan with the cluster's replicas and sizes where it gives none.

    Targets that are reached have none.
    """
    if world is None or (plan.limits.max_bytes is None and plan.throttle is None):
        return plan
    return replace(
        plan, reassignments=tuple(_complete(target, world) for target in plan.reassignments)
    )


def _complete(target: PartitionTarget, world: ClusterView) -> PartitionTarget:
    now = world.state.replicas(target.partition)
    reached = now == target.replicas and target.partition not in world.in_flight
    current = now if target.current is None or reached else target.current
    return replace(with_source_size(target, world.state, world.facts.sizes), current=current)


def _copied(plan: ReassignmentPlan, world: ClusterView | None) -> list[PartitionTarget]:
    """Return the partitions that get a replica on another broker.

    Partitions whose replicas of now are not known are left out.
    """
    every = (
        plan.reassignments
        if world is None
        else (_complete(target, world) for target in plan.reassignments)
    )
    return [target for target in every if target.current is not None and target.added]


def _wave_limits(plan: ReassignmentPlan) -> Iterator[Diagnostic]:
    for target in plan.reassignments:
        partition, limits = target.partition, plan.limits
        if (alone := bytes_alone(target)) > limits.max_payload:
            sizes = (
                f"{readable_size(alone)}, above waves.max_payload {format_size(limits.max_payload)}"
            )
            message = f"{partition}: its payload alone has {sizes}"
            yield Diagnostic(
                codes.TOO_BIG_FOR_A_WAVE,
                message,
                "raise spec.waves.max_payload",
                partition=partition,
            )
        elif limits.max_bytes is None or target.current is None or not target.added:
            continue
        elif (moved := moved_bytes(target)) is None:
            message = (
                f"{partition}: waves.max_bytes is given, but not the size_bytes of this partition"
            )
            yield Diagnostic(codes.SIZE_UNKNOWN, message, _ADD_SIZES, partition=partition)
        elif moved > limits.max_bytes:
            sizes = (
                f"{readable_size(moved)}, more than waves.max_bytes {format_size(limits.max_bytes)}"
            )
            message, next_step = f"{partition}: it moves {sizes}", "raise spec.waves.max_bytes"
            yield Diagnostic(codes.TOO_BIG_FOR_A_WAVE, message, next_step, partition=partition)


def _unsized(found: Diagnostic, world: ClusterView | None) -> Diagnostic:
    """Make it a warning without a cluster, where brokers may still report sizes.

    Else add why they reported none.
    """
    if world is None:
        return replace(found, severity="warning")
    return replace(found, next_step="; ".join([*world.facts.disks_unavailable, _ADD_SIZES]))


def _throttle_sizes(plan: ReassignmentPlan) -> Iterator[Diagnostic]:
    if plan.throttle is None or plan.throttle.by is not ThrottleBy.FINISH_IN:
        return
    if unknown := [
        each.partition for each in plan.reassignments if each.added and each.size_bytes is None
    ]:
        message = f"throttle.finish_in is given, but not the size_bytes of {name_some(unknown)}"
        yield Diagnostic(
            codes.SIZE_UNKNOWN, message, _ADD_SIZES, field=("spec", "throttle", "finish_in")
        )


def _unknown_brokers(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    racks = world.racks
    for target in plan.reassignments:
        for broker in target.replicas:
            if broker not in racks:
                message = f"{target.partition}: the cluster has no broker {broker}"
                next_step = (
                    f"its brokers are {name_some(sorted(racks), most=10)}"
                    if racks
                    else "none is registered"
                )
                yield Diagnostic(
                    codes.UNKNOWN_BROKER,
                    message,
                    next_step,
                    partition=target.partition,
                    broker=broker,
                )


def _running(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    yield from reassignment_running(world, set(_partitions(plan)))
    if plan.elect is not Elect.NONE:
        yield from election_running(world)


def _fewer_racks(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Compare racks before and after; a partition with a broker of unknown rack passes."""
    lost: defaultdict[tuple[int, int], list[TopicPartition]] = defaultdict(list)
    for target in plan.reassignments:
        now = _rack_count(_base(target, world.state.assignment) or (), world.racks)
        then = _rack_count(target.replicas, world.racks)
        if now is not None and then is not None and then < now:
            if plan.allow_fewer_racks:
                lost[now, then].append(target.partition)
            else:
                message = f"{target.partition}: replicas on {count(now, 'rack')} would be on {then}"
                next_step = "choose brokers of other racks, or set spec.allow.fewer_racks: true"
                yield Diagnostic(codes.FEWER_RACKS, message, next_step, partition=target.partition)
    for (now, then), partitions in sorted(lost.items()):
        message = f"{racks_lost(len(partitions), now, then)} ({name_some(partitions)})"
        next_step = "choose brokers of other racks, unless this is meant"
        yield Diagnostic(codes.RACKS_LOST, message, next_step, "warning", partition=partitions[0])


def racks_lost(partitions: int, before: int, after: int) -> str:
    """Format the racks that partitions lose: `12 partitions: 3 racks to 2`."""
    return f"{count(partitions, 'partition')}: {count(before, 'rack')} to {after}"


def _being_deleted(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Report topics that are being deleted and have targets to publish."""
    if not world.live:
        return
    moving = (
        each for each in plan.reassignments if world.state.replicas(each.partition) != each.replicas
    )
    for topic in dict.fromkeys(target.partition.topic for target in moving):
        if topic in world.state.requests.deletions:
            next_step = "take the topic out of the plan, or wait until the deletion is done"
            yield Diagnostic(
                codes.BEING_DELETED, f"{topic} is being deleted", next_step, topic=topic
            )


def _dead_targets(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    alive = world.state.brokers
    next_step = (
        "start it, or choose another broker; alive are "
        f"{name_some(sorted(alive), most=10) or 'none'}"
    )
    for target in plan.reassignments:
        for broker in target.replicas:
            if broker in world.racks and broker not in alive:
                message = (
                    f"{target.partition}: broker {broker} is not alive; the controller would wait "
                    "for it forever"
                )
                yield Diagnostic(
                    codes.DEAD_BROKER, message, next_step, partition=target.partition, broker=broker
                )


def _without_source(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Report partitions with nothing to copy from, unless they are at their target."""
    for target in plan.reassignments:
        partition, now = target.partition, world.state.replicas(target.partition)
        reached = now == target.replicas and partition not in world.in_flight
        if now is None or reached or not lacks_source(partition, world.state):
            continue
        waits = brokers_in_words(awaited(partition, world.state))
        message = f"{partition}: no replica is alive and in sync; a copy would wait for {waits}"
        if plan.allow_without_source:
            yield Diagnostic(
                codes.WITHOUT_SOURCE, message, f"start {waits}", "warning", partition=partition
            )
        else:
            next_step = (
                f"start {waits}, or set spec.allow.without_source: true if it is meant to wait"
            )
            yield Diagnostic(codes.WITHOUT_SOURCE, message, next_step, partition=partition)


def _rack_count(replicas: Replicas, racks: Mapping[int, str | None]) -> int | None:
    """Count distinct racks.

    None where there are no replicas, or the rack of one broker is unknown.
    """
    names = {racks.get(broker) for broker in replicas}
    return None if not names or None in names else len(names)


def _base(target: PartitionTarget, assignment: Assignment) -> Replicas | None:
    return target.current if target.current is not None else assignment.get(target.partition)


def _unthrottled(
    copied: Sequence[PartitionTarget],
    throttle: ThrottleSpec | None,
    world: ClusterView | None,
    policy: Policy | None,
) -> Iterator[Diagnostic]:
    """Warn of copies without a throttle, with a rate for them."""
    severity = unthrottled_severity(throttle, policy)
    if not copied or severity is None:
        return
    state, facts = (None, ClusterFacts()) if world is None else (world.state, world.facts)
    rate, why = suggested_rate(copied, state, facts)
    message = (
        f"{count(len(copied), 'partition')} would be copied without a throttle, as fast as the "
        f"network allows; --throttle {format_rate(rate)} would be {why}"
    )
    next_step = f"set spec.throttle: {{rate: {format_rate(rate)}}}"
    if severity == "warning":
        next_step += ", or spec.throttle: none if this is meant"
    yield Diagnostic(codes.UNTHROTTLED, message, next_step, severity, partition=copied[0].partition)
