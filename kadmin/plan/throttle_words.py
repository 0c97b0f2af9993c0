"""A throttle and its hours, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.hours import format_window
from kadmin.plan.units import readable_rate
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.plan.model import HoursSpec, ThrottleSpec


def rate_in_words(rate: int) -> str:
    """Write a rate of a throttle, in bytes per second, for people."""
    return "the network's speed" if rate == WHOLE_NETWORK.amount else readable_rate(rate)


def throttle_in_words(
    throttle: ThrottleSpec, hours: HoursSpec | None = None, *, now: int | None = None, on: str = ""
) -> str:
    """Describe a throttle by its rate.

    `now` is the present rate, in bytes per second, where it is known; `on` names its brokers.
    """
    is_other = throttle.most is not None or now != throttle.amount
    parts = [f"{rate_in_words(now)} now"] if now is not None and is_other else []
    return ", ".join([*parts, *_parts(throttle, hours, on)])


def _parts(throttle: ThrottleSpec, hours: HoursSpec | None, on: str) -> Iterator[str]:
    rate = rate_in_words(throttle.amount)
    rate += f" to {readable_rate(throttle.most)}" if throttle.most is not None else ""
    rate += f" on {on}" if on else ""
    limits = [f"{name} is below {each.below}" for name, each in sorted(throttle.signals.items())]
    yield rate + (f" while {_joined(limits)}" if limits else "")
    if throttle.pair is not None:
        yield f"{count(throttle.pair, 'partition')} at once from one broker to another"
    if throttle.disks is not None:
        yield f"{readable_rate(throttle.disks)} between the disks of a broker"
    if hours is not None:
        yield f"within {hours_in_words(hours)}"


def hours_in_words(hours: HoursSpec) -> str:
    """Return `22:00-06:00 and sat-sun in Europe/Berlin, 5.00 MB/s outside`."""
    if hours.quiet is None:
        within = f"{_joined([format_window(each) for each in hours.within])} in {hours.zone}"
    else:
        within = f"the hours with at most {hours.quiet:g} of each broker's peak"
    outside = f"{rate_in_words(hours.outside)} outside" if hours.outside else "paused outside"
    return f"{within}, {outside}"


def _joined(words: Sequence[str]) -> str:
    """Join words: `a`, `a and b`, `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
