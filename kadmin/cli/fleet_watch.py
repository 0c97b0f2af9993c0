"""Reads the status of several clusters again and again, each in a thread of its own."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cli.context import GRACE_S
from kadmin.cli.deadline import late
from kadmin.cli.options import BETWEEN_READS_S
from kadmin.cli.side_by_side import failure, highest_exit_code, teller
from kadmin.errors import KadminError, UnreachableError, UsageError
from kadmin.operations.context import Clock
from kadmin.operations.reading.status import StatusReader
from kadmin.operations.reading.verify import history
from kadmin.report.operations.watched_clusters import WatchedCluster
from kadmin.worlds.open import connect

if TYPE_CHECKING:
    from kadmin.contexts.address import Fleet
    from kadmin.operations.context import Context
    from kadmin.operations.events import EventSink
    from kadmin.operations.reading.status import Status

MOST_CLUSTERS = 32
"""Clusters that are watched at once: each has a thread and connections of its own."""
_LONGEST_WAIT_S = 60.0
"""A queue takes no infinite wait."""


class FleetWatch:
    """Reads the clusters of a fleet again and again, and has the latest answer of each.

    With `ends`, the reading of a cluster ends once no operation is unfinished there, and where it
    fails before there was one.
    """

    def __init__(self, fleet: Fleet, clock: Clock, *, ends: bool) -> None:
        """Raise UsageError for too many clusters."""
        if len(fleet.clusters) > MOST_CLUSTERS:
            raise UsageError(
                f"--watch reads {MOST_CLUSTERS} clusters at once, and the pattern matches "
                f"{len(fleet.clusters)}.",
                next_step="--context with a pattern that matches fewer, or leave --watch out",
            )
        self.fleet = fleet
        self.clock = clock
        self._ends = ends
        self._latest = {
            name: WatchedCluster(name, named=each.named) for name, each in fleet.clusters.items()
        }
        self._read_at = dict.fromkeys(self._latest, clock.now())
        self._answers: queue.SimpleQueue[WatchedCluster | None] = queue.SimpleQueue()
        self._over = threading.Event()
        # Daemons: a call that no deadline ends does not keep the command from ending.
        self._threads = [
            threading.Thread(target=self._work, args=(name,), daemon=True) for name in self._latest
        ]
        self._working = len(self._threads)

    def start(self) -> None:
        """Begin to read every cluster."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the reading, and wait a moment for connections to be closed."""
        self._over.set()
        until = time.monotonic() + GRACE_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    @property
    def ended(self) -> bool:
        """Whether no cluster is read any more, and every answer was taken."""
        return self._working == 0

    def take(self, wait_s: float) -> WatchedCluster | None:
        """Return the next answer of any cluster; None where none comes in time."""
        try:
            found = self._answers.get(timeout=max(0.0, min(wait_s, _LONGEST_WAIT_S)))
        except queue.Empty:
            return None
        if found is None:
            self._working -= 1
            return None
        self._read_at[found.name] = self.clock.now()
        self._latest[found.name] = found
        return found

    @property
    def latest(self) -> list[WatchedCluster]:
        """The latest answer of each cluster, with its age."""
        now = self.clock.now()
        return [
            replace(each, age_s=now - self._read_at[name]) for name, each in self._latest.items()
        ]

    def exit_code(self, timeout_s: float | None) -> int:
        """Return the highest exit code of the latest answers; none by --timeout counts, too."""
        silent = late(timeout_s) if timeout_s is not None and self.clock.over else None
        return highest_exit_code(
            each.error or (silent if each.status is None else None)
            for each in self._latest.values()
        )

    def _work(self, name: str) -> None:
        try:
            self._watch(name)
        except Exception as error:  # noqa: BLE001 - a bug that one cluster brings to light must not hide the others
            self._fail(name, error)
        finally:
            self._answers.put(None)

    def _watch(self, name: str) -> None:
        """Read a cluster until the end; one that does not answer is connected to again."""
        cluster, seen = self.fleet.clusters[name], False
        while not self._over.is_set():
            try:
                with connect(
                    cluster, Clock(self.clock.until), self._teller(name), reads=False
                ) as context:
                    reader = StatusReader(context)
                    while not self._over.is_set():
                        found = reader.read()
                        self._answers.put(self._answer(name, context, found))
                        seen = seen or bool(found.operations)
                        if self._ends and not found.operations:
                            return
                        self._over.wait(BETWEEN_READS_S)
            except KadminError as error:
                self._fail(name, error)
                is_outage = type(error) is UnreachableError
                if not is_outage or (self._ends and not seen):
                    return
                self._over.wait(BETWEEN_READS_S)

    def _answer(self, name: str, context: Context, found: Status) -> WatchedCluster:
        # Beside an unfinished operation nobody sees the last one.
        listings = () if found.operations else history(context)
        ended = [each for each in listings if each.status.state.finished]
        return replace(self._named(name), status=found, ended=ended[-1] if ended else None)

    def _fail(self, name: str, error: Exception) -> None:
        told = failure(self.fleet.clusters[name], error)
        self._answers.put(replace(self._named(name), error=told))

    def _named(self, name: str) -> WatchedCluster:
        return WatchedCluster(name, named=self.fleet.clusters[name].named)

    def _teller(self, name: str) -> EventSink:
        """Print the notes of a cluster, but not over a screen."""
        return teller(name) if self._ends else lambda _: None
