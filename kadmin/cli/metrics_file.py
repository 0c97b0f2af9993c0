"""Keeps the metrics of a run in a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kadmin.cli.inputs import replace_file
from kadmin.errors import NotCompletedError
from kadmin.operations.events import Note, Progressed, ServerRequestLogged
from kadmin.report.metrics import exposition
from kadmin.report.operations.run_metrics import RunMetrics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.operations.events import Event

BETWEEN_TICKS_S = 1.0
"""Seconds between two writes where only progress was made."""


class MetricsFile:
    """Writes the metrics after events; `complain` gets the first failure, and no other.

    The first write is at the beginning, and raises NotCompletedError where the file cannot be
    written.
    """

    def __init__(self, path: Path, complain: Callable[[str], None]) -> None:
        self._path = path
        self._complain = complain
        self._known = RunMetrics(started_at=time.time())
        self._written_at = 0.0
        self._failed = False
        self._write()

    def __call__(self, event: Event) -> None:
        """Update the metrics by an event; write them unless only progress was made a moment ago."""
        self._known = self._known.after(event, time.time())
        if isinstance(event, ServerRequestLogged | Note):
            return
        if isinstance(event, Progressed) and time.monotonic() - self._written_at < BETWEEN_TICKS_S:
            return
        try:
            self._write()
        except NotCompletedError as error:
            if not self._failed:
                self._failed = True
                self._complain(
                    f"warning: {error.message} {error.cause}; the command continues without metrics"
                )

    def _write(self) -> None:
        self._written_at = time.monotonic()
        replace_file(self._path, exposition(self._known.gauges()))
