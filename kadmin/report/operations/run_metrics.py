"""The gauges of a command that runs an operation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.operations.events import Ended, OperationStarted, Progressed, StateChanged
from kadmin.operations.record.record import OperationState
from kadmin.report.metrics import Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.events import Event


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Metrics of a run: the operation and its state, once on record, its progress, the exit code.

    Times are in seconds since 1970: when the command began, and when progress last grew.
    """

    started_at: float
    operation: str = ""
    cluster_id: str = ""
    state: OperationState | None = None
    progress: Progressed | None = None
    progressed_at: float | None = None
    exit_code: int | None = None

    def after(self, event: Event, at: float) -> RunMetrics:
        """Return the metrics after an event at the time `at`."""
        match event:
            case OperationStarted():
                running = OperationState.RUNNING
                return replace(
                    self,
                    operation=event.operation_id,
                    cluster_id=event.cluster_id or "",
                    state=running,
                )
            case Progressed():
                before = self.progress
                grown = before is None or _amounts(before) != _amounts(event)
                return replace(
                    self, progress=event, progressed_at=at if grown else self.progressed_at
                )
            case StateChanged():
                return replace(self, state=OperationState(event.state))
            case Ended():
                return replace(self, exit_code=event.exit_code)
        return self

    def gauges(self) -> tuple[Gauge, ...]:
        """Return the gauges; one with an unknown value has no sample."""
        labels, found = {"operation": self.operation, "cluster_id": self.cluster_id}, self.progress
        state = Gauge(
            "kadmin_operation_state",
            "State of the operation on record: 1 for the state that it has, 0 for the others.",
            tuple(
                ({**labels, "state": each.value}, int(each is self.state))
                for each in OperationState
                if self.state
            ),
        )
        values: dict[str, tuple[str, float | None]] = {
            "start_timestamp_seconds": ("When the command began.", self.started_at),
            "last_progress_timestamp_seconds": (
                "When a partition or a byte was last done.",
                self.progressed_at,
            ),
            "exit_code": ("Exit code of the command; only once it has ended.", self.exit_code),
        }
        if found is not None:
            values |= {
                "partitions_done": (
                    "Partitions (of a deletion: topics) at their target.",
                    found.done,
                ),
                "partitions": ("Partitions (of a deletion: topics) of the operation.", found.total),
                "bytes_done": ("Bytes copied.", found.done_bytes),
                "bytes": ("Bytes to copy in all.", found.total_bytes),
                "rate_bytes_per_second": (
                    "Bytes copied per second, over the last half minute.",
                    found.rate,
                ),
                "eta_seconds": ("Seconds until the copies are done.", found.eta_s),
                "throttle_bytes_per_second": (
                    "The highest rate of a broker's throttle.",
                    found.throttle,
                ),
                "wave": ("The wave under way, from 1; 0 without waves.", found.wave),
                "waves": ("Waves of the plan.", found.waves),
            }
        gauges = (_gauge(name, text, value, labels) for name, (text, value) in values.items())
        return state, *gauges, *_signals(found, labels)


def _signals(found: Progressed | None, labels: Mapping[str, str]) -> tuple[Gauge, Gauge]:
    seen = () if found is None else found.signals
    named = [(each, {**labels, "name": each.name}) for each in seen]
    values = tuple((of, each.value) for each, of in named if each.value is not None)
    limits = tuple((of, each.limit) for each, of in named)
    return (
        Gauge("kadmin_operation_signal", "A signal that the throttle follows, its value.", values),
        Gauge("kadmin_operation_signal_limit", "The value that a signal is to be below.", limits),
    )


def _gauge(name: str, text: str, value: float | None, labels: Mapping[str, str]) -> Gauge:
    return Gauge(f"kadmin_operation_{name}", text, () if value is None else ((labels, value),))


def _amounts(progress: Progressed) -> tuple[object, ...]:
    return progress.done, progress.done_bytes, progress.wave
