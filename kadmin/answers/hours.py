"""The shape of hours in answers, and times in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from kadmin.plan.hours import format_window
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from datetime import datetime

    from kadmin.plan.model import HoursSpec

Time: TypeAlias = Annotated[str, "UTC, ISO 8601."]


@dataclass(frozen=True, slots=True)
class HoursAnswer:
    """The hours in which replicas are copied at the rate of the throttle."""

    within: Annotated[
        tuple[Annotated[str, "A window, as in a plan."], ...], "Windows of every week, united."
    ]
    zone: Annotated[str, "The time zone of the windows."]
    outside: Annotated[Count, "The rate outside, in bytes per second; 0 for a pause."]


def hours_answer(hours: HoursSpec) -> HoursAnswer:
    """Return the hours of a plan, or of an operation."""
    return HoursAnswer(tuple(map(format_window, hours.within)), str(hours.zone), hours.outside)


def utc_text(at: datetime) -> str:
    """Return a time to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
