"""Rules on a BrokerMaintenance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.rules.names import Directory, other_cluster, unknown_brokers
from kadmin.plan.rules.pending import election_running, reassignment_running, stale_lists
from kadmin.plan.rules.throttle import check_throttle, unthrottled_severity
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import MaintenancePlan, Policy
    from kadmin.plan.rules.world import ClusterView


def check_maintenance(
    plan: MaintenancePlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a plan: names, orders of replicas, pending requests, its throttle."""
    entries: dict[TopicPartition | None, tuple[str | int, ...]] = {
        target.partition: ("spec", "rounds", index, "partitions", number)
        for index, each in enumerate(plan.rounds)
        for number, target in enumerate(each.demotions)
    }
    for found in _problems(plan, world, policy):
        yield found if found.field else replace(found, field=entries.get(found.partition, ()))


def _problems(
    plan: MaintenancePlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    partitions = [target.partition for target in plan.demotions]
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_partitions(partitions)
        for index, each in enumerate(plan.rounds):
            field = ("spec", "rounds", index, "brokers")
            yield from unknown_brokers(each.brokers, world, field)
        yield from reassignment_running(world, set(partitions))
        yield from election_running(world)
    yield from _orders(plan)
    yield from check_throttle(plan.throttle, None if world is None else world.facts.signals)
    if world is not None:
        yield from stale_lists(plan.demotions, world)
    severity = unthrottled_severity(plan.throttle, policy)
    if severity is not None:
        brokers = {broker for each in plan.rounds for broker in each.brokers}
        message = (
            f"{brokers_in_words(brokers)} would catch up without a throttle, as fast as the "
            "network allows"
        )
        yield Diagnostic(
            codes.UNTHROTTLED,
            message,
            "set spec.throttle: {rate: 50MB/s}, or another rate",
            severity,
            field=("spec",),
        )


def _orders(plan: MaintenancePlan) -> Iterator[Diagnostic]:
    """Refuse targets that are not the same replicas in another order, with a known one before."""
    for index, each in enumerate(plan.rounds):
        seen = set()
        for number, target in enumerate(each.demotions):
            field = ("spec", "rounds", index, "partitions", number)
            if target.partition in seen:
                message = f"{target.partition} is named twice in round {index + 1}"
                yield Diagnostic(codes.DUPLICATE_PARTITION, message, field=field)
            seen.add(target.partition)
            current = target.current or ()
            if sorted(current) != sorted(target.replicas) or target.replicas[0] in each.brokers:
                message = (
                    f"{target.partition}: {list(current)} becomes {list(target.replicas)}, which "
                    f"is no order in which another broker than {name_some(each.brokers)} comes "
                    "first"
                )
                next_step = "name current, and the same brokers in another order"
                yield Diagnostic(codes.NO_DEMOTION, message, next_step, field=field)
            if target.directories:
                message = f"{target.partition}: a maintenance moves nothing between disks"
                next_step = "leave log_dirs out"
                yield Diagnostic(codes.NO_DEMOTION, message, next_step, field=field)
