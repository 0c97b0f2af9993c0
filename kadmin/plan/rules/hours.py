"""Rules on the hours of a reassignment."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.hours import cover_the_week
from kadmin.plan.model import ThrottleBy
from kadmin.plan.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.model import HoursSpec, ThrottleSpec


def check_hours(hours: HoursSpec | None, throttle: ThrottleSpec | None) -> Iterator[Diagnostic]:
    """Yield the problems of the hours of a plan with this throttle.

    A rate outside needs no throttle: without one, copies inside may use the whole network.
    """
    if hours is None:
        return
    if hours.zone is not None and not _has_data(hours.zone):
        yield _unknown_zone(hours.zone)
    if cover_the_week(hours.within):
        next_step = "name fewer windows, or leave spec.hours out"
        yield _without_effect("within", "its windows are the whole week", next_step)
    elif hours.quiet == 1:
        next_step = "write a part below 1, such as 0.7"
        yield _without_effect("quiet", "no broker has more than its own peak", next_step)
    elif (
        throttle is not None
        and throttle.by is ThrottleBy.RATE
        and hours.outside >= (most := throttle.most or throttle.amount)
    ):
        why = f"the throttle is {format_rate(most)}, inside and outside"
        next_step = f"write a rate below {format_rate(most)}, or pause"
        yield _without_effect("outside", why, next_step)


def _unknown_zone(name: str) -> Diagnostic:
    from zoneinfo import available_timezones

    close = difflib.get_close_matches(name, sorted(available_timezones()), n=1)
    next_step = f"did you mean {close[0]}? " if close else ""
    next_step += "if the name is right, update the package tzdata: pip install --upgrade tzdata"
    message = f"this machine has no data of a time zone {name}"
    return Diagnostic(codes.UNKNOWN_ZONE, message, next_step, field=("spec", "hours", "zone"))


def _has_data(zone: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(zone)
    except (OSError, ValueError, ZoneInfoNotFoundError):  # by the version of Python
        return False
    return True


def _without_effect(key: str, why: str, next_step: str) -> Diagnostic:
    message = f"spec.hours changes nothing: {why}"
    field = ("spec", "hours", key)
    return Diagnostic(codes.HOURS_WITHOUT_EFFECT, message, next_step, "warning", field=field)
