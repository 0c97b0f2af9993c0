"""Remembers which two brokers had nothing to exchange, until one of them exchanges with anybody."""

from __future__ import annotations


class FailedSwaps:
    """For searches whose end depends on nothing but what the two brokers have, and on the terms they are asked on."""

    def __init__(self, brokers: int) -> None:
        self._exchanges = [0] * brokers
        self._asked: dict[tuple[int, int, tuple[float, ...]], tuple[int, int]] = {}

    def known(self, giver: int, taker: int, *terms: float) -> bool:
        """Whether they were asked on these terms as they are now, and had nothing."""
        return self._asked.get((giver, taker, terms)) == (self._exchanges[giver], self._exchanges[taker])

    def note(self, giver: int, taker: int, *terms: float) -> None:
        """Note that they have nothing on these terms."""
        self._asked[giver, taker, terms] = (self._exchanges[giver], self._exchanges[taker])

    def forget(self, giver: int, taker: int) -> None:
        """Forget what is noted of either, for they have exchanged."""
        self._exchanges[giver] += 1
        self._exchanges[taker] += 1
