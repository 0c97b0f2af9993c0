"""Reads several clusters side by side.

Each has the command's deadline, and a broken one hides no other.
"""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import typer

from kadmin.cli.context import GRACE_S, ticking
from kadmin.cli.deadline import late
from kadmin.cli.options import OutputFormat
from kadmin.cli.output import answer
from kadmin.cluster.names import escaped
from kadmin.errors import KadminError
from kadmin.worlds.open import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kadmin.contexts.address import ClusterAddress, Fleet
    from kadmin.operations.context import Context
    from kadmin.operations.events import Event

Found = TypeVar("Found")

AT_ONCE = 16
"""Number of clusters that are read at once."""


@dataclass(frozen=True, slots=True)
class FromCluster(Generic[Found]):
    """The answer of a cluster, or the error in its place."""

    name: str
    found: Found | None = None
    error: KadminError | None = None


@dataclass(frozen=True, slots=True)
class FleetAnswer:
    """The rows of a cluster that answered, a block of text for details, its JSON and exit code."""

    rows: Sequence[Sequence[object]]
    value: object
    block: str = ""
    exit_code: int = 0


@dataclass(slots=True)
class _Reading(Generic[Found]):
    """The work of all threads: names that wait, and results as they come."""

    fleet: Fleet
    read: Callable[[ClusterAddress, Context], Found]
    until: float
    reads_only: bool
    waiting: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    results: queue.SimpleQueue[FromCluster[Found]] = field(default_factory=queue.SimpleQueue)

    def work(self) -> None:
        """Read one cluster after the other until none waits."""
        while True:
            try:
                name = self.waiting.get_nowait()
            except queue.Empty:
                return
            self.results.put(self._one(name))

    def _one(self, name: str) -> FromCluster[Found]:
        from kadmin.operations.context import Clock

        cluster = self.fleet.clusters[name]
        try:
            with connect(
                cluster, Clock(self.until), teller(name), reads=self.reads_only
            ) as context:
                return FromCluster(name, self.read(cluster, context))
        except Exception as error:  # noqa: BLE001 - a bug that one cluster brings to light must not hide the others
            return FromCluster(name, error=failure(cluster, error))


def read_side_by_side(
    fleet: Fleet,
    read: Callable[[ClusterAddress, Context], Found],
    timeout_s: float,
    *,
    reads_only: bool = True,
) -> tuple[FromCluster[Found], ...]:
    """Read every cluster, and return the results by name.

    One without a result by the deadline is an error.
    """
    with ticking(timeout_s) as clock:
        reading = _Reading(fleet, read, clock.until, reads_only)
        for name in fleet.clusters:
            reading.waiting.put(name)
        for _ in range(min(AT_ONCE, len(fleet.clusters))):
            # A daemon: a call that no deadline ends does not keep the command from ending.
            threading.Thread(target=reading.work, daemon=True).start()
        found: dict[str, FromCluster[Found]] = {}
        while len(found) < len(fleet.clusters):
            try:
                result = reading.results.get(
                    timeout=max(0.0, clock.until + GRACE_S / 2 - time.monotonic())
                )
            except queue.Empty:
                break
            found[result.name] = result
    return tuple(
        found.get(name, FromCluster(name, error=late(timeout_s))) for name in fleet.clusters
    )


def answer_fleet(
    output: OutputFormat,
    columns: Sequence[str],
    found: Sequence[FromCluster[Found]],
    render: Callable[[str, Found], FleetAnswer],
) -> int:
    """Print one answer for all clusters, and return the highest exit code of any."""
    from kadmin.report.fleet import fleet_answer, fleet_text

    answers = {each.name: render(each.name, each.found) for each in found if each.found is not None}
    failed = {each.name: each.error for each in found if each.error is not None}
    rows = [(name, *row) for name, each in answers.items() for row in each.rows]
    blocks = {name: each.block for name, each in answers.items() if each.block}
    values = {name: (each.exit_code, each.value) for name, each in answers.items()}
    answer(
        output,
        lambda: fleet_text(("cluster", *columns), rows, blocks, failed),
        lambda: fleet_answer([each.name for each in found], values, failed),
    )
    return highest_exit_code(
        [each.error for each in found], [each.exit_code for each in answers.values()]
    )


def highest_exit_code(errors: Iterable[KadminError | None], others: Sequence[int] = ()) -> int:
    """Return the highest exit code of the clusters that failed and of the `others`."""
    return max([0, *(each.exit_code for each in errors if each is not None), *others])


def failure(cluster: ClusterAddress, error: Exception) -> KadminError:
    """Return what is told of a cluster whose reading failed; its commands name the cluster."""
    if not isinstance(error, KadminError):
        return KadminError(f"A bug in kadmin: {type(error).__name__}.")
    error.next_step = cluster.named(error.next_step)
    return error


def teller(name: str) -> Callable[[Event], None]:
    """Print the notes of a cluster with its name."""
    from kadmin.operations.events import Note

    def tell(event: Event) -> None:
        if isinstance(event, Note):
            typer.echo(f"{name}: {escaped(event.text, len(event.text))}", err=True)

    return tell
