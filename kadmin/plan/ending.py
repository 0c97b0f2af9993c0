"""Estimates when copies end that have hours.

Goals: the time on the wall at which the busiest broker has sent or received what is left, wave
after wave.
Constraints: outside the hours copies have the rate outside where that is lower, and none with a
pause. Where the rate follows the clients, it lies between two rates, and the end between two times.
Example: 9 GB at 1 MB/s take two and a half hours; from 22:00-23:00 on they end on the third night.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.hours import Ending
from kadmin.plan.model import hours_of

if TYPE_CHECKING:
    from datetime import datetime

    from kadmin.plan.copying import Throttle
    from kadmin.plan.hours import Hours


def ending(hours: Hours, left: float, rates: tuple[float, float], at: datetime) -> Ending | None:
    """Return the end of copies with bytes `left` on the busiest broker, wave after wave.

    `rates` are the lowest and the highest inside the hours, in bytes per second. None: there is no
    end within ten years, or the rate is that of an unknown network.
    """
    lowest, highest = rates
    if lowest >= WHOLE_NETWORK.amount or lowest <= 0:
        return None
    latest = _end(hours, left, lowest, at)
    earliest = latest if highest == lowest else _end(hours, left, highest, at)
    if earliest is None or latest is None:
        return None
    return Ending(at, earliest, latest, hours.zone)


def ending_of(throttle: Throttle, at: datetime) -> Ending | None:
    """Return the end of all waves of a plan that begins at `at`.

    None without hours, or where a size is unknown.
    """
    seconds, hours = throttle.makespan_seconds, throttle.hours
    if seconds is None or hours is None:
        return None
    rates = throttle.rate, throttle.spec.most or throttle.rate
    return ending(hours_of(hours), seconds * throttle.rate, rates, at)


def _end(hours: Hours, left: float, rate: float, at: datetime) -> datetime | None:
    return hours.end_of(at, left / rate, min(hours.outside / rate, 1.0))
