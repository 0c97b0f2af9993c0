"""Latencies of produced and consumed records in each second, by topic."""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}


class Latencies:
    """Collects the latencies of one second; records that wait for their answer are counted apart.

    Acknowledgements come in the producer's thread, the rest in the caller's.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._produced: defaultdict[str, list[float]] = defaultdict(list)
        self._consumed: defaultdict[str, list[float]] = defaultdict(list)
        self._waiting: defaultdict[str, Counter[float]] = defaultdict(Counter)

    def sent(self, topic: str, due: float, records: int) -> None:
        """Count records that were to be sent at a time, in monotonic seconds."""
        with self._lock:
            self._waiting[topic][due] += records

    def acknowledged(self, topic: str, due: float, now: float) -> None:
        """Add the latency of a record since it was to be sent."""
        with self._lock:
            self._produced[topic].append(now - due)
            waiting = self._waiting[topic]
            waiting[due] -= 1
            if not waiting[due]:
                del waiting[due]

    def consumed(self, topic: str, latencies_s: Sequence[float]) -> None:
        """Add the latencies of records since they were produced."""
        with self._lock:
            self._consumed[topic].extend(latencies_s)

    def take(self, now: float) -> dict[str, Any]:
        """Return the figures of all topics and of each, and begin the next second."""
        with self._lock:
            topics = sorted({*self._produced, *self._consumed, *self._waiting})
            found = {topic: self._figures([topic], now) for topic in topics}
            whole = self._figures(topics, now)
            self._produced.clear()
            self._consumed.clear()
        return {**whole, "topics": found}

    def _figures(self, topics: Sequence[str], now: float) -> dict[str, Any]:
        dues = [due for topic in topics for due in self._waiting[topic]]
        waiting = sum(self._waiting[topic].total() for topic in topics)
        produced = _percentiles([each for topic in topics for each in self._produced[topic]])
        oldest = {"waiting": waiting, "oldest_ms": _ms(now - min(dues)) if dues else None}
        consumed = _percentiles([each for topic in topics for each in self._consumed[topic]])
        return {"producers": {**produced, **oldest}, "consumers": consumed}


def _percentiles(latencies_s: Sequence[float]) -> Mapping[str, Any]:
    """Return the number of records, and percentiles by the nearest rank; null without records."""
    ordered = sorted(latencies_s)
    ranks = {name: math.ceil(share * len(ordered)) - 1 for name, share in _SHARES.items()}
    figures = {name: _ms(ordered[rank]) if ordered else None for name, rank in ranks.items()}
    return {"records": len(ordered), **figures}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
