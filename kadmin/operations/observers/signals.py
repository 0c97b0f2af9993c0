"""Reads the signals that a throttle has limits of, each in a thread of its own."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.contexts.signals import ANSWER_S, SignalReader
from kadmin.errors import UnreachableError
from kadmin.plan.signals import SignalSeen, limit_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.contexts.model import Signal
    from kadmin.plan.model import SignalLimit

READ_S = 10.0
"""Seconds from the end of one reading of a signal to the next."""


@dataclass(frozen=True, slots=True)
class _Last:
    """The last value of a signal, None before the first one, and its time in monotonic seconds.

    `trouble` is the reason why later readings have no value.
    """

    at: float
    value: float | None = None
    trouble: str | None = None


class Signals:
    """Keeps the last value of each signal that is watched.

    A server that does not answer blocks its own thread alone, and nothing is raised: an old value
    becomes older. Close it.
    """

    def __init__(
        self, signals: Mapping[str, Signal], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._signals = signals
        self._now = now
        self._closed = threading.Event()
        self._limits: Mapping[str, SignalLimit] = {}
        self._last: dict[str, _Last] = {}
        self._threads: dict[str, threading.Thread] = {}

    def watch(self, limits: Mapping[str, SignalLimit]) -> None:
        """Read the signals of these limits from now on, and no others.

        There is a signal for each, whose unit the limit fits.
        """
        for name in limits.keys() - self._limits.keys():
            self._last[name] = _Last(self._now())
        self._limits = limits
        for name in sorted(limits):
            if name not in self._threads or not self._threads[name].is_alive():
                thread = threading.Thread(target=self._follow, args=(name,), daemon=True)
                self._threads[name] = thread
                thread.start()

    def seen(self, now: float) -> tuple[SignalSeen, ...]:
        """Return each signal that is watched, with its last value and its limit."""
        return tuple(self._seen(name, limit, now) for name, limit in sorted(self._limits.items()))

    def close(self) -> None:
        """End the readings; one that waits for an answer ends by its own deadline."""
        self._closed.set()

    def _seen(self, name: str, limit: SignalLimit, now: float) -> SignalSeen:
        last, unit = self._last[name], self._signals[name].unit
        highest = limit_in(limit.below, unit)
        return SignalSeen(name, unit, highest, last.value, now - last.at, last.trouble)

    def _follow(self, name: str) -> None:
        reader = SignalReader(name, self._signals[name])
        while name in self._limits and not self._closed.is_set():
            try:
                value = reader.read(ANSWER_S)
            except UnreachableError as error:
                self._last[name] = replace(self._last[name], trouble=error.cause)
            else:
                self._last[name] = _Last(self._now(), value)
            self._closed.wait(READ_S)
