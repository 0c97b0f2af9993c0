"""Rules on the cluster that a PartitionReassignment leaves: disks, leaders, min.insync.replicas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.units import readable_size
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import Assignment
    from kadmin.diagnostics import Field
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import ReassignmentPlan
    from kadmin.plan.rules.world import ClusterView

MOST_LEADERS = 2
"""Warn of a broker that leads more than this many times its even share."""


def replicas_field(index: int) -> Field:
    """Return the field of the replicas of an entry of the plan."""
    return ("spec", "partitions", index, "replicas")


def outlook(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Compare the cluster before and after the plan."""
    before = world.state.assignment
    after = {
        target.partition: target.replicas
        for target in plan.reassignments
        if target.partition in before
    }
    if world.facts.capacities:
        yield from _over_capacity(plan, before, after, world.facts)
    if world.state.brokers:
        yield from _crowded_leaders(plan, world, after)
    yield from _under_min_isr(plan, world)


def _over_capacity(
    plan: ReassignmentPlan, before: Assignment, after: Assignment, facts: ClusterFacts
) -> Iterator[Diagnostic]:
    """Report brokers above their capacity, unless they hold less than before.

    `after` is of the plan's partitions.
    """
    held = _bytes(before, facts)
    will_hold = held.copy()
    will_hold.subtract(_bytes({partition: before[partition] for partition in after}, facts))
    will_hold.update(_bytes(after, facts))
    full = {
        broker
        for broker, capacity in facts.capacities.items()
        if will_hold[broker] > max(capacity, held[broker])
    }
    for broker in sorted(full):
        coming = [each.partition for each in plan.reassignments if broker in each.added]
        if coming:
            hold, most = readable_size(will_hold[broker]), readable_size(facts.capacities[broker])
            message = (
                f"broker {broker} would hold {hold}, and its capacity is {most}; it would get "
                f"{name_some(coming)}"
            )
            next_step = "choose brokers with room, or free some first"
            yield Diagnostic(
                codes.OVER_CAPACITY, message, next_step, partition=coming[0], broker=broker
            )


def _bytes(assignment: Assignment, facts: ClusterFacts) -> Counter[int]:
    found: Counter[int] = Counter()
    for partition, replicas in assignment.items():
        for broker in replicas:
            found[broker] += facts.sizes.get(partition, 0)
    return found


def _crowded_leaders(
    plan: ReassignmentPlan, world: ClusterView, after: Assignment
) -> Iterator[Diagnostic]:
    before, brokers = world.state.assignment, world.state.brokers
    led, will_lead = _leaders(before), _leaders({**before, **after})
    share = len(before) / len(brokers)
    limit = max(MOST_LEADERS * share, MOST_LEADERS)
    for broker in sorted(
        broker for broker in brokers if will_lead[broker] > max(led[broker], limit)
    ):
        target = next((each for each in plan.reassignments if broker in each.replicas[:1]), None)
        if target is not None:
            message = (
                f"broker {broker} would be the preferred leader of {will_lead[broker]} of "
                f"{len(before)} partitions, before {led[broker]}; an even share is {share:.0f}"
            )
            next_step = "put other brokers first in some of the lists"
            partition = target.partition
            yield Diagnostic(
                codes.LEADERS_CONCENTRATED,
                message,
                next_step,
                "warning",
                partition=partition,
                broker=broker,
            )


def _leaders(assignment: Assignment) -> Counter[int]:
    return Counter(replicas[0] for replicas in assignment.values() if replicas)


def _under_min_isr(plan: ReassignmentPlan, world: ClusterView) -> Iterator[Diagnostic]:
    for index, target in enumerate(plan.reassignments):
        wanted = min_insync_replicas(target.partition.topic, world.state)
        alive = [broker for broker in target.replicas if broker in world.state.brokers]
        if len(alive) < wanted:
            message = (
                f"{target.partition}: live replicas would be {len(alive)}, its "
                f"min.insync.replicas is {wanted}"
            )
            next_step = "producers with acks=all would be refused; give it more replicas"
            field = replicas_field(index)
            yield Diagnostic(
                codes.UNDER_MIN_ISR, message, next_step, partition=target.partition, field=field
            )
