"""Words numbers, and lists of names, as part of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


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
