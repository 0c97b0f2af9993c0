"""Words numbers, times, and lists of names, as part of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime, tzinfo

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def name_some(names: Iterable[object], *, most: int = 5) -> str:
    """Name the first few of many things in an error: `a, b, c, d, e and 12 more`."""
    listed = [str(name) for name in names]
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")


def brokers_in_words(ids: Collection[int]) -> str:
    """Return brokers as part of a sentence, `broker 3`."""
    return f"{'broker' if len(ids) == 1 else 'brokers'} {name_some(sorted(ids))}"


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """Write a number with its noun: `1 topic`, `2,000 topics`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def weekday_and_time(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Return a time as part of a sentence, by the clocks of a zone: `on Sunday 03:10`.

    It is `today 03:10` on the day of `now`, and has the date from a week on.
    """
    local = at.astimezone(zone)
    days = (local.date() - now.astimezone(zone).date()).days
    if days == 0:
        return f"today {local:%H:%M}"
    date = f" {local:%Y-%m-%d}" if abs(days) >= len(_WEEKDAYS) else ""
    return f"on {_WEEKDAYS[local.weekday()]}{date} {local:%H:%M}"
