"""Several clusters that are watched: rows of a screen, lines of a pipe, answers in JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from kadmin.answers.fleet import WatchedStatus
from kadmin.cluster.names import one_line
from kadmin.operations.decide.wave import COPYING
from kadmin.operations.record.record import OperationState
from kadmin.plan.signals import readable_amount
from kadmin.plan.units import readable_rate
from kadmin.report.fleet import failure_answer, failure_lines
from kadmin.report.operations.history import moment_text
from kadmin.report.operations.progress_line import fields
from kadmin.report.operations.status import ended_text, status_answer, status_text
from kadmin.report.screen import Meaning
from kadmin.report.text import NOTHING, duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.errors import KadminError
    from kadmin.next_step import Naming
    from kadmin.operations.reading.status import Status, Unfinished
    from kadmin.operations.record.record import Listing
    from kadmin.plan.signals import SignalValue

SILENT_S = 10.0
"""Seconds without an answer after which a row says so."""
COLUMNS: tuple[str, ...] = ("cluster", "operation", "wave", "rate", "left", "signal", "last event")


@dataclass(frozen=True, slots=True)
class WatchedCluster:
    """A cluster as it was read last: its status, or the error in its place.

    Neither is there before the first answer. `ended` is its last finished operation, where none is
    unfinished; `age_s` the seconds since it was read; `named` adds its context to commands.
    """

    name: str
    status: Status | None = None
    ended: Listing | None = None
    error: KadminError | None = None
    age_s: float = 0.0
    named: Naming = str


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the cells of an operation by column, or a text in their place.

    `details` are the same in full, as `status` shows it.
    """

    cluster: str
    operation_id: str | None = None
    cells: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    meaning: Meaning | None = None
    details: tuple[str, ...] = ()


def rows_of(cluster: WatchedCluster) -> list[Row]:
    """Return a row for each unfinished operation, or one for the cluster."""
    status, error, silence = cluster.status, cluster.error, _silence(cluster)
    if error is not None:
        message, *others = failure_lines(error)
        return [Row(cluster.name, text=message, meaning=Meaning.ERROR, details=(message, *others))]
    if status is None:
        return [Row(cluster.name, text=silence or "is being read")]
    if not status.operations:
        idle = silence or _idle_text(cluster)
        _, *others = _details(status, cluster)
        return [Row(cluster.name, text=idle, details=(idle, *others))]
    return [
        Row(
            cluster.name,
            each.listing.operation_id,
            _cells(each, status) | {"last event": silence or event_text(each)},
            meaning=Meaning.WARNING if silence or _obstacle(each) else None,
            details=_details(replace(status, operations=(each,)), cluster),
        )
        for each in status.operations
    ]


def cluster_lines(cluster: WatchedCluster) -> list[tuple[str, str]]:
    """Return a line for each row, and the part of it that must change for another one.

    Bytes, rate and time left change all the time; a new value of them is no reason for a line.
    """
    if cluster.status is None or not cluster.status.operations:
        return [(row.text, row.text) for row in rows_of(cluster)]
    return list(_operation_lines(cluster.status))


def watched_answer(cluster: WatchedCluster) -> WatchedStatus:
    """Answer for a cluster as it was read last."""
    found = None if cluster.status is None else status_answer(cluster.status)
    return WatchedStatus(
        cluster.name,
        None if found is None else found.operations,
        None if found is None else found.lock,
        None if found is None else found.late_requests,
        None if cluster.error is None else failure_answer(cluster.error),
    )


def event_text(found: Unfinished) -> str:
    """Return the obstacle of an operation, or else the last event on record with its time."""
    if obstacle := _obstacle(found):
        return obstacle
    if found.last_event is None or found.record is None:
        return NOTHING
    waves = len(found.record.waves) if found.progress is None else found.progress.waves
    return f"{_time(found.last_event.at)} {moment_text(found.last_event, found.record, waves)}"


def _obstacle(found: Unfinished) -> str:
    if found.unknown:
        return f"unknown: {one_line(found.unknown)}"
    is_waiting = found.waits_for not in {"", COPYING}
    return f"waits for: {one_line(found.waits_for)}" if is_waiting else ""


def _operation_lines(status: Status) -> Iterator[tuple[str, str]]:
    for each in status.operations:
        shown = {} if each.progress is None else fields(each.progress)
        shown |= {"signal": _signals(each), "event": event_text(each)}
        listing = each.listing
        head = f"operation {listing.operation_id} ({listing.kind}, {_state(each, status)})"
        lasting = [shown.get(name) for name in ("wave", "count", "event")]
        yield f"{head}: {', '.join(filter(None, shown.values()))}", f"{head} {lasting}"


def _cells(found: Unfinished, status: Status) -> dict[str, str]:
    progress, state = found.progress, _state(found, status)
    cells = {"operation": found.listing.operation_id, "signal": _signals(found)}
    if progress is not None:
        cells["wave"] = f"{progress.wave}/{progress.waves}" if progress.waves else ""
        cells["rate"] = "" if progress.rate is None else readable_rate(progress.rate)
        cells["left"] = "" if progress.eta_s is None else duration(progress.eta_s)
    if state != OperationState.RUNNING:
        cells["rate"] = state
    return {name: cells.get(name) or NOTHING for name in COLUMNS[1:]}


def _state(found: Unfinished, status: Status) -> str:
    has_runner = status.runner_of(found.listing) is not None
    return found.listing.described_state(has_runner=has_runner)


def _signals(found: Unfinished) -> str:
    """Return the last value on record of each signal with its limit, the nearest to it first."""
    if found.rates is None:
        return ""
    last = [seen[-1][1] for seen in found.rates.signals.values()]
    return ", ".join(map(_signal_text, sorted(last, key=_share, reverse=True)))


def _signal_text(signal: SignalValue) -> str:
    value = "?" if signal.value is None else readable_amount(signal.value, signal.unit)
    return f"{value} of {readable_amount(signal.limit, signal.unit)} {signal.name}"


def _share(signal: SignalValue) -> float:
    """Return the reached share of a signal's limit; a signal without a value is the first."""
    return inf if signal.value is None or not signal.limit else signal.value / signal.limit


def _details(status: Status, cluster: WatchedCluster) -> tuple[str, ...]:
    return tuple(status_text(status, cluster.named).split("\n"))


def _idle_text(cluster: WatchedCluster) -> str:
    last = cluster.ended
    ended = "" if last is None else f"; {_time(last.status.updated_at)} {ended_text(last)}"
    return f"no operation is unfinished{ended}"


def _silence(cluster: WatchedCluster) -> str:
    is_silent = cluster.age_s >= SILENT_S
    return f"no answer for {duration(cluster.age_s)}" if is_silent else ""


def _time(at: str) -> str:
    """Return the time of day of a timestamp: `10:31:02Z`."""
    return one_line(at.partition("T")[2] or at)
