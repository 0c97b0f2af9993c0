"""Caches pairs of brokers without a useful swap until one of the two takes part in another swap."""

from __future__ import annotations


class FailedSwaps:
    """A cache of failed searches.

    A result depends only on the two brokers' replicas and the search's terms.
    """

    def __init__(self, brokers: int) -> None:
        self._swaps = [0] * brokers
        self._failed: dict[tuple[int, int, tuple[float, ...]], tuple[int, int]] = {}

    def contains(self, giver: int, taker: int, *terms: float) -> bool:
        """Whether the search for this pair of brokers and these terms failed before.

        It counts only if neither has swapped since.
        """
        return self._failed.get((giver, taker, terms)) == (self._swaps[giver], self._swaps[taker])

    def add(self, giver: int, taker: int, *terms: float) -> None:
        """Record that this search failed."""
        self._failed[giver, taker, terms] = (self._swaps[giver], self._swaps[taker])

    def forget(self, giver: int, taker: int) -> None:
        """Remove the records of either broker, after a swap between them."""
        self._swaps[giver] += 1
        self._swaps[taker] += 1
