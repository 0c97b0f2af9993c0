"""A request to change the throttle of an operation, written by another process without the lock.

It is kept apart from a request to stop, so that neither replaces the other; the last one counts.
The runner reads it in every round, puts the change on record as a step, and then changes the
configs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.plan.units import readable_rate

if TYPE_CHECKING:
    from kadmin.plan.model import HoursSpec, ThrottleSpec


@dataclass(frozen=True, slots=True)
class ThrottleRequest:
    """A request for a rate in bytes per second, with author and time.

    `spec` is the throttle as it was asked for, None in older requests; `hours` are those of its
    copies, None for all.
    """

    rate: int
    by: str
    at: str
    spec: ThrottleSpec | None = None
    hours: HoursSpec | None = None

    def __str__(self) -> str:
        most = None if self.spec is None else self.spec.most
        rate = readable_rate(self.rate) + (f" to {readable_rate(most)}" if most else "")
        return f"asked to throttle at {rate} by {self.by} at {self.at}"
