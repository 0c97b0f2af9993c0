"""The events of a running operation as lines of text, as a progress bar on a terminal, or as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from kadmin.errors import count
from kadmin.operations.events import Noted, Opened, Progressed, StepPublished
from kadmin.operations.record.record import StepKind
from kadmin.plan.units import format_rate, format_size
from kadmin.report.kinds import STEP_WORDS
from kadmin.report.text import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event

_BAR = 24
_NAMES: dict[type[Event], str] = {
    Opened: "opened",
    StepPublished: "published",
    Progressed: "progressed",
    Noted: "noted",
}
"""The value of `event` in JSON."""


class JsonFollower:
    """Writes events as lines of JSON, schema `answers/event`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._last: tuple[int, str] | None = None

    def __call__(self, event: Event) -> None:
        """Write one event; progress only when it changed."""
        if isinstance(event, Progressed):
            if self._last == (event.done, event.reason):
                return
            self._last = (event.done, event.reason)
        self._write(json.dumps({"event": _NAMES[type(event)], **asdict(event)}, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Do nothing: every line is complete."""


class Follower:
    """Writes events as lines; with `live` the progress line overwrites itself."""

    def __init__(self, write: Callable[[str], None], *, live: bool) -> None:
        self._write = write
        self._live = live
        self._drawn = 0
        self._last: tuple[int, str] | None = None

    def __call__(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, Progressed):
            self._progress(event)
            return
        self.close()
        self._write(f"{_line(event)}\n")

    def close(self) -> None:
        """End an open progress line."""
        if self._drawn:
            self._write("\n")
            self._drawn = 0

    def _progress(self, event: Progressed) -> None:
        if self._live:
            full = _BAR * event.done // max(event.total, 1)
            text = f"[{'#' * full}{'.' * (_BAR - full)}] {_numbers(event)}"
            self._write("\r" + text.ljust(self._drawn))
            self._drawn = len(text)
            return
        if self._last != (event.done, event.reason):
            self._last = (event.done, event.reason)
            self._write(f"{_numbers(event)}\n")


def _line(event: Opened | StepPublished | Noted) -> str:
    if isinstance(event, Opened):
        return f"operation {event.operation_id} is on record"
    if isinstance(event, StepPublished):
        words = STEP_WORDS[StepKind(event.what)]
        return f"step {event.step}: {words.published} of {count(event.count, words.subject)} published"
    return event.text


def _numbers(event: Progressed) -> str:
    parts = [f"{event.done}/{event.total} done"]
    if event.total_bytes and event.done_bytes is not None:
        parts.append(f"{format_size(event.done_bytes)} of {format_size(event.total_bytes)}")
        if event.rate is not None and event.eta_s is not None:
            parts.append(f"{format_rate(round(event.rate))}, {duration(event.eta_s)} left")
    if event.reason:
        parts.append(event.reason)
    return ", ".join(parts)
