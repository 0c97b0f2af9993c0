"""Rules on a BrokerDecommission, beside those of the reassignment that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.drain import drain
from kadmin.plan.rules.names import unknown_brokers
from kadmin.plan.rules.outlook import replicas_field
from kadmin.plan.rules.reassignment import check_reassignment
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.model import DecommissionPlan, Policy
    from kadmin.plan.rules.world import ClusterView


def check_decommission(
    plan: DecommissionPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a plan: those of its reassignment, and what would stay."""
    if world is not None:
        yield from unknown_brokers(plan.brokers, world, ("spec", "brokers"))
    yield from _targets(plan)
    yield from check_reassignment(plan, world, policy)
    if world is not None:
        yield from _left(plan, world)


def _targets(plan: DecommissionPlan) -> Iterator[Diagnostic]:
    for index, target in enumerate(plan.reassignments):
        if leaving := sorted(set(plan.brokers).intersection(target.replicas)):
            message = (
                f"{target.partition}: {list(target.replicas)} has {brokers_in_words(leaving)}, "
                "which leaves"
            )
            next_step = "choose another broker, or take this one out of spec.brokers"
            yield Diagnostic(
                codes.NOT_DRAINED,
                message,
                next_step,
                partition=target.partition,
                field=replicas_field(index),
            )


def _left(plan: DecommissionPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Report partitions that the plan leaves on the brokers."""
    found, planned = drain(world.state, plan.brokers), {p.partition for p in plan.reassignments}
    for partition, reason in found.impossible.items():
        if partition not in planned:
            yield Diagnostic(
                codes.STAYS,
                f"{partition} would stay on {brokers_in_words(plan.brokers)}: {reason}",
                "mend that first, or delete the topic",
                partition=partition,
                field=("spec", "brokers"),
            )
    if landed := [each.partition for each in found.targets if each.partition not in planned]:
        yield Diagnostic(
            codes.LANDED,
            f"not in the plan, and moved in a further round: {name_some(landed)}",
            severity="warning",
            field=("spec", "brokers"),
        )
