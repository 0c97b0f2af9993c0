"""Finds the quiet hours of a plan: `spec.hours.quiet` becomes windows, which go on record.

The load counts of every broker that gets a rate: those that may send or receive copies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.plan.model import HoursSpec
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.hours import Window
    from kadmin.plan.rules import ClusterView


def with_quiet_hours(found: Examination, world: ClusterView) -> Examination:
    """Return an examination with windows in place of quiet hours, or refused without any."""
    throttle = found.throttle
    if throttle is None or throttle.hours is None or throttle.hours.quiet is None:
        return found
    spec = throttle.hours
    brokers = sorted(each.broker_id for each in throttle.values if each.broker_id is not None)
    try:
        windows = _windows(spec, brokers, world)
    except InvalidInputError as refusal:
        throttle = replace(throttle, hours=None)
        return replace(found, throttle=throttle, refusals=(*found.refusals, refusal))
    hours = HoursSpec(windows, "UTC", outside=spec.outside)
    return replace(found, throttle=replace(throttle, hours=hours))


def _windows(spec: HoursSpec, brokers: list[int], world: ClusterView) -> tuple[Window, ...]:
    if world.facts.load is None or spec.quiet is None:
        raise InvalidInputError(f"The load history {spec.folder} was not read.")
    windows = world.facts.load.quiet_windows(world.state, brokers, spec.quiet)
    if not windows:
        raise InvalidInputError(
            f"No hour of the week is quiet for {brokers_in_words(brokers)}.",
            cause=f"in each, one receives or sends more than {spec.quiet:g} of its own peak, by "
            f"the load history {spec.folder}",
            next_step="write a larger part under spec.hours.quiet, or windows under "
            "spec.hours.within",
        )
    return windows
