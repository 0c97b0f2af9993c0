"""A request to change the throttle of an operation, written by another process without the lock.

It is kept apart from a request to stop, so that neither replaces the other; the last one counts.
The runner reads it in every round, puts the change on record as a step, and then changes the
configs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.throttle_words import throttle_in_words

if TYPE_CHECKING:
    from kadmin.plan.model import HoursSpec


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

    @property
    def asked(self) -> ThrottleSpec:
        """The throttle that is asked for; of an older request, its rate."""
        return self.spec or ThrottleSpec(ThrottleBy.RATE, self.rate)

    def keeps_rates_of(self, before: ThrottleSpec) -> bool:
        """Whether its rate, or its range of rates, is that of another throttle."""
        return (self.asked.amount, self.asked.most) == (before.amount, before.most)

    def __str__(self) -> str:
        throttle = throttle_in_words(self.asked, self.hours)
        return f"asked to throttle at {throttle} by {self.by} at {self.at}"
