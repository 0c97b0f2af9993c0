"""Edits of an operation's throttle and hours: what an edit does not name stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.model import HoursSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.plan.hours import Window
    from kadmin.plan.model import SignalLimit, ThrottleSpec

_HOURS = ("--hours", "22:00-06:00", "--zone", "Europe/Berlin")


@dataclass(frozen=True, slots=True)
class ThrottleEdit:
    """A change of a throttle, by fields that are not None.

    Without `signals` ({}) there are no limits any more, without windows `within` (()) no hours.
    `outside` is in bytes per second, 0 for a pause.
    """

    rate: ThrottleSpec | None = None
    signals: Mapping[str, SignalLimit] | None = None
    within: tuple[Window, ...] | None = None
    zone: str | None = None
    outside: int | None = None

    def throttle(self, before: ThrottleSpec | None) -> ThrottleSpec:
        """Return the throttle after the edit, None being no throttle.

        Raises InvalidInputError for limits of signals beside a fixed rate.
        """
        found = before or WHOLE_NETWORK  # with hours alone
        if self.rate is not None:
            found = self.rate.in_place_of(before or self.rate)
        if self.signals is not None:
            found = replace(found, signals=self.signals)
        if found.signals and found.most is None:
            limits = [f"{name}={limit.below}" for name, limit in found.signals.items()]
            typed = [word for limit in limits for word in ("--while", limit)]
            raise InvalidInputError(
                "Limits of signals need a range of rates: a fixed rate cannot follow them.",
                next_step=command("throttle set", "--rate", "MIN..MAX", *typed),
            )
        return found

    def hours(self, before: HoursSpec | None) -> HoursSpec | None:
        """Return the hours after the edit, None for copies at any time.

        Raises InvalidInputError where there are no hours to change, and without a zone.
        """
        if self.within == ():
            return None
        if self.within is None and before is None:
            if self.zone is None and self.outside is None:
                return None
            raise InvalidInputError(
                "The operation has no hours, whose time zone or rate outside could be changed.",
                next_step=command("throttle set", *_HOURS),
            )
        found = before or HoursSpec()
        if self.within is not None:
            found = HoursSpec(self.within, found.zone, outside=found.outside)
        outside = found.outside if self.outside is None else self.outside
        found = replace(found, zone=self.zone or found.zone, outside=outside)
        if found.within and found.zone is None:
            raise InvalidInputError(
                "The hours have no time zone.", next_step="add --zone, as in --zone Europe/Berlin"
            )
        return found
