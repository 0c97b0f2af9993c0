"""The load of each broker in each hour, before and after a plan, for the page of a proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ResourceHours:
    """`before`, `after` [broker][hour]: load over fair share, rounded to 3 digits.

    A broker's fair share in an hour is max(capacity of the broker * total of the hour, largest of
    the hour). `capacity` [broker] sums to 1. `total` [hour] is the load of all brokers, quiet hours
    raised, and `largest` [hour] that of the largest partition: bytes per second, or units of CPU.
    """

    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    capacity: tuple[float, ...]
    total: tuple[float, ...]
    largest: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LoadHours:
    """`start` is the Monday on which the history begins, ISO 8601 in UTC.

    `brokers` are ids, ascending.
    """

    start: str
    brokers: tuple[int, ...]
    resources: Mapping[str, ResourceHours]
