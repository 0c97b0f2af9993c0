"""Measures the commit delays of partitions, in a thread for each of their leaders."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from kadmin.cluster.offsets import LogEnd
from kadmin.errors import KadminError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.commit_delay import Watched
    from kadmin.plan.pairs import Pair

ROUND_S = 0.25
"""Seconds from one measurement of a leader's partitions to the next, at least."""
REQUESTS_PER_S = 50
"""Requests to all leaders together."""
_FIRST_LOOK_S, _GROWTH, _LAST_LOOK_S = 0.004, 1.5, 0.5
_ANSWER_S = 1.0
_GIVE_UP_S = 30.0
_KEPT_S = 60.0


@dataclass(frozen=True, slots=True)
class Delay:
    """The commit delay of a partition, in seconds, measured until a time in monotonic seconds.

    `pairs` are those that the partition belongs to, none for a control. `is_over` is false for a
    record that is not committed yet: its delay is at least that long.
    """

    partition: TopicPartition
    pairs: frozenset[Pair]
    at: float
    seconds: float
    is_over: bool = True


class CommitDelays:
    """Asks leaders for the end of their logs, and then until the high watermark is as far.

    Nothing is written, and nothing is raised: a leader that does not answer commits nothing.
    Partitions to which no client writes have no delays. Close it.
    """

    def __init__(self, brokers: LiveBrokers, now: Callable[[], float] = time.monotonic) -> None:
        self._brokers = brokers
        self._now = now
        self._changing = threading.Lock()
        self._closed = threading.Event()
        self._watched: Watched = {}
        self._threads: dict[int, threading.Thread] = {}
        self._found: deque[Delay] = deque()
        self._open: dict[TopicPartition, Delay] = {}

    def watch(self, watched: Watched) -> None:
        """Measure these partitions from now on, and no others."""
        self._watched = watched
        for leader in watched:
            if leader not in self._threads or not self._threads[leader].is_alive():
                thread = threading.Thread(target=self._follow, args=(leader,), daemon=True)
                self._threads[leader] = thread
                thread.start()

    def since(self, then: float) -> list[Delay]:
        """Return the delays that ended after a time, and those that last for ROUND_S already."""
        now = self._now()
        with self._changing:
            found = [delay for delay in self._found if delay.at >= then]
            begun = [delay for delay in self._open.values() if now - delay.at >= ROUND_S]
        return found + [replace(delay, at=now, seconds=now - delay.at) for delay in begun]

    def close(self) -> None:
        """End every measurement, and close the connections."""
        self._closed.set()
        for thread in self._threads.values():
            thread.join()
        self._brokers.close()

    def _follow(self, leader: int) -> None:
        ends: dict[TopicPartition, int] = {}
        while leader in self._watched and not self._closed.is_set():
            began, partitions = self._now(), self._watched[leader]
            written = self._ask(leader, partitions, LogEnd.WRITTEN)
            begun = [
                Delay(each, partitions[each], self._now(), 0.0, is_over=False)
                for each, end in written.items()
                if ends.get(each, end) < end
            ]
            requests = 1 + self._measure(leader, begun, written)
            ends = {each: end for each, end in {**ends, **written}.items() if each in partitions}
            pause_s = max(ROUND_S, requests * len(self._watched) / REQUESTS_PER_S)
            self._closed.wait(max(0.0, began + pause_s - self._now()))

    def _measure(
        self, leader: int, begun: Sequence[Delay], ends: Mapping[TopicPartition, int]
    ) -> int:
        """Ask for high watermarks until they are at these ends; return the number of requests."""
        began, requests, look_s = self._now(), 0, _FIRST_LOOK_S
        before, left = began, {delay.partition: delay for delay in begun}
        self._keep((), left)
        while left and not self._closed.wait(look_s):
            committed, now = self._ask(leader, left, LogEnd.LAST), self._now()
            requests += 1
            gives_up = now - began > _GIVE_UP_S or leader not in self._watched
            # A delay ended between two looks.
            done = [
                replace(delay, at=now, seconds=(before + now) / 2 - delay.at, is_over=True)
                if committed.get(each, -1) >= ends[each]
                else replace(delay, at=now, seconds=now - delay.at)
                for each, delay in left.items()
                if gives_up or committed.get(each, -1) >= ends[each]
            ]
            self._keep(done)
            for delay in done:
                del left[delay.partition]
            before, look_s = now, min(look_s * _GROWTH, _LAST_LOOK_S)
        return requests

    def _keep(
        self, done: Sequence[Delay], begun: Mapping[TopicPartition, Delay] = MappingProxyType({})
    ) -> None:
        with self._changing:
            self._open |= begun
            self._found.extend(done)
            for delay in done:
                del self._open[delay.partition]
            while self._found and self._found[0].at < self._found[-1].at - _KEPT_S:
                self._found.popleft()

    def _ask(
        self, leader: int, partitions: Iterable[TopicPartition], at: LogEnd
    ) -> dict[TopicPartition, int]:
        try:
            found = self._brokers.log_offsets({leader: partitions}, at, _ANSWER_S)
        except KadminError:
            return {}
        return {each: end for given in found.given.values() for each, end in given.offsets.items()}
