"""Rates and signals of an operation over time, from its record and steps. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfoNotFoundError

from kadmin.operations.record.throttle_steps import current_hours, throttles_of
from kadmin.plan.throttle import rates_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from zoneinfo import ZoneInfo

    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.plan.hours import Hours
    from kadmin.plan.signals import SignalValue


@dataclass(frozen=True, slots=True)
class RatesSince:
    """The throttle from a time on: the highest rate, the rate of each broker, and the hours.

    `signals` are those that were seen when it was set.
    """

    at: datetime
    highest: int
    rates: Mapping[int, int]
    hours: Hours | None
    signals: tuple[SignalValue, ...] = ()


@dataclass(frozen=True, slots=True)
class RateHistory:
    """The throttles of an operation in order, at least two, until `end`; times are aware."""

    throttles: tuple[RatesSince, ...]
    end: datetime

    @property
    def start(self) -> datetime:
        """The time of the first throttle."""
        return self.throttles[0].at

    @property
    def rates(self) -> list[int]:
        """The highest rate of each throttle, in order."""
        return [each.highest for each in self.throttles]

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone of the last hours; None without hours."""
        hours = self.throttles[-1].hours
        return None if hours is None else hours.zone

    @property
    def signals(self) -> Mapping[str, list[tuple[datetime, SignalValue]]]:
        """The values of each signal by name, with their times."""
        found: dict[str, list[tuple[datetime, SignalValue]]] = {}
        for each in self.throttles:
            for signal in each.signals:
                found.setdefault(signal.name, []).append((each.at, signal))
        return found

    @property
    def outside(self) -> list[tuple[datetime, datetime]]:
        """The times outside the hours, each with its end."""
        ends = (*(each.at for each in self.throttles[1:]), self.end)
        found: list[tuple[datetime, datetime]] = []
        for throttle, until in zip(self.throttles, ends, strict=True):
            for start, end in _outside(throttle, until):
                joined = found.pop()[0] if found and found[-1][1] == start else start
                found.append((joined, end))
        return found


def _outside(throttle: RatesSince, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    hours = throttle.hours
    if hours is None:
        return
    changes = takewhile(lambda each: each < until, hours.changes(throttle.at))
    for start, end in pairwise((throttle.at, *changes, until)):
        if not hours.includes(start):
            yield start, end


def changed_rates(
    record: OperationRecord, steps: Iterable[Step], end: datetime
) -> RateHistory | None:
    """Return the throttles of an operation until a time.

    None where they did not change, and where a time on record cannot be parsed, or the zone of
    hours is one that this machine does not have.
    """
    found: list[RatesSince] = []
    try:
        for step, throttle in throttles_of(record, steps):
            if throttle is None:
                continue
            at = datetime.fromisoformat(record.created_at if step is None else step.at)
            change = None if step is None else step.throttle
            signals = () if change is None else change.signals
            rates = rates_of(throttle.changes)
            found.append(RatesSince(at, throttle.rate, rates, current_hours(throttle), signals))
        times = [*(each.at for each in found), end]
        in_order = times == sorted(times)
    except (ValueError, TypeError, ZoneInfoNotFoundError):
        return None
    return RateHistory(tuple(found), end) if found[1:] and in_order else None
