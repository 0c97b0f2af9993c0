"""What a reassignment would leave behind: dead targets, full brokers, crowded leaders, too few replicas. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.plan import codes
from kadmin.plan.checks import Violation
from kadmin.plan.units import format_size
from kadmin.plan.waves import added

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import Assignment, ClusterState, Replicas
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import PartitionTarget, ReassignmentPlan

MIN_INSYNC_REPLICAS = "min.insync.replicas"
MOST_LEADERS = 2
"""A broker that leads more than this many times its even share is told."""


def check_outlook(plan: ReassignmentPlan, state: ClusterState, facts: ClusterFacts) -> tuple[Violation, ...]:
    """Compare the cluster, every topic of which was read, before and after the plan."""
    before = state.assignment
    after = {target.partition: target.replicas for target in plan.reassignments if target.partition in before}
    return (
        *_dead_targets(plan, state),
        *_over_capacity(plan, before, after, facts),
        *_crowded_leaders(plan, state, before, after),
        *_under_min_isr(plan, state),
    )


def min_insync_replicas(topic: str, state: ClusterState, brokers_own: int = 1) -> int:
    """Return how many replicas must be in sync for acks=all: the topic's own, else the cluster-wide dynamic default.

    Else `brokers_own`: what stands in a broker's properties file is not in ZooKeeper. 1 for what is no number.
    """
    default = state.broker_defaults.get(MIN_INSYNC_REPLICAS, str(brokers_own))
    wanted = state.topic_configs.get(topic, {}).get(MIN_INSYNC_REPLICAS, default)
    return int(wanted) if wanted.isascii() and wanted.isdigit() else 1


def _dead_targets(plan: ReassignmentPlan, state: ClusterState) -> Iterator[Violation]:
    known = set(chain.from_iterable(state.assignment.values()))
    for target in plan.reassignments:
        for broker in target.replicas:
            if broker in known and broker not in state.brokers:
                message = f"{target.partition}: broker {broker} is not alive; the controller would wait for it for ever"
                hint = "start it, or choose another broker"
                yield Violation(codes.DEAD_BROKER, message, hint, partition=target.partition, broker=broker)


def _over_capacity(
    plan: ReassignmentPlan, before: Assignment, after: Assignment, facts: ClusterFacts
) -> Iterator[Violation]:
    """`after` holds what the plan changes."""
    if not facts.capacities:
        return
    held = _bytes(before, facts)
    will_hold = held.copy()
    will_hold.subtract(_bytes({partition: before[partition] for partition in after}, facts))
    will_hold.update(_bytes(after, facts))
    full = {broker for broker, capacity in facts.capacities.items() if will_hold[broker] > max(capacity, held[broker])}
    for broker in sorted(full):
        capacity, target = facts.capacities[broker], _first_that(plan, broker, new=True)
        if target is not None:
            message = (
                f"broker {broker} would hold {format_size(will_hold[broker])}, and its capacity is "
                f"{format_size(capacity)}"
            )
            hint = "choose brokers with room, or free some first"
            yield Violation(codes.OVER_CAPACITY, message, hint, partition=target.partition, broker=broker)


def _bytes(assignment: Assignment, facts: ClusterFacts) -> Counter[int]:
    found: Counter[int] = Counter()
    for partition, replicas in assignment.items():
        for broker in replicas:
            found[broker] += facts.sizes.get(partition, 0)
    return found


def _crowded_leaders(
    plan: ReassignmentPlan, state: ClusterState, before: Assignment, after: Assignment
) -> Iterator[Violation]:
    if not state.brokers:
        return
    led, will_lead = _leaders(before), _leaders({**before, **after})
    share = len(before) / len(state.brokers)
    limit = max(MOST_LEADERS * share, MOST_LEADERS)
    crowded = {broker for broker in state.brokers if will_lead[broker] > max(led[broker], limit)}
    for broker in sorted(crowded):
        target = _first_that(plan, broker, new=False)
        if target is not None:
            message = (
                f"broker {broker} would be the preferred leader of {will_lead[broker]} of {len(before)} partitions, "
                f"before {led[broker]}; an even share is {share:.0f}"
            )
            yield Violation(
                codes.LEADERS_CONCENTRATED,
                message,
                "put other brokers first in some of the lists",
                partition=target.partition,
                broker=broker,
                severity="warning",
            )


def _leaders(assignment: Assignment) -> Counter[int]:
    return Counter(replicas[0] for replicas in assignment.values() if replicas)


def _first_that(plan: ReassignmentPlan, broker: int, *, new: bool) -> PartitionTarget | None:
    """Return the first reassignment that gives the broker a copy (`new`), or the preferred leadership."""

    def given(target: PartitionTarget) -> Replicas:
        return added(target) if new else target.replicas[:1]

    return next((target for target in plan.reassignments if broker in given(target)), None)


def _under_min_isr(plan: ReassignmentPlan, state: ClusterState) -> Iterator[Violation]:
    for index, target in enumerate(plan.reassignments):
        wanted = min_insync_replicas(target.partition.topic, state)
        alive = [broker for broker in target.replicas if broker in state.brokers]
        if len(alive) < wanted:
            message = (
                f"{target.partition}: live replicas would be {len(alive)}, and its min.insync.replicas is {wanted}"
            )
            hint = "producers with acks=all would be refused; give it more replicas"
            field = ("spec", "partitions", index, "replicas")
            yield Violation(codes.UNDER_MIN_ISR, message, hint, partition=target.partition, field=field)
