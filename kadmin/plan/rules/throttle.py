"""The rule on copies without a throttle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.copying import suggested_rate
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import UNTHROTTLED, Switch
from kadmin.plan.units import format_rate
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.diagnostics import Severity
    from kadmin.plan.model import PartitionTarget, Policy, ThrottleSpec
    from kadmin.plan.rules.world import ClusterView


def unthrottled(
    copied: Sequence[PartitionTarget], throttle: ThrottleSpec | None, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Warn of copies without a throttle, with a rate for them.

    `throttle: none` in a plan waives the warning. A policy may forbid unthrottled copies even then, also to commands
    that act.
    """
    switch = Switch.WARNING if policy is None else policy.codes.get(codes.UNTHROTTLED, Switch.WARNING)
    is_accepted = throttle is not None and (throttle != UNTHROTTLED or switch is not Switch.ERROR)
    if not copied or is_accepted or switch is Switch.OFF:
        return
    state, facts = (None, ClusterFacts()) if world is None else (world.state, world.facts)
    rate, why = suggested_rate(copied, state, facts)
    message = (
        f"{count(len(copied), 'partition')} would be copied without a throttle, as fast as the network allows; "
        f"--throttle {format_rate(rate)} would be {why}"
    )
    next_step = f"set spec.throttle: {{rate: {format_rate(rate)}}}"
    if switch is not Switch.ERROR:
        next_step += ", or spec.throttle: none if this is meant"
    severity: Severity = "error" if switch is Switch.ERROR else "warning"
    yield Diagnostic(codes.UNTHROTTLED, message, next_step, severity, partition=copied[0].partition)
