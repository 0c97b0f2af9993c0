"""The events of a running operation as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.operations.events import Asked, Ended, Opened, Progressed, StateChanged, StepPublished

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event, LostRecords


class JsonFollower:
    """Writes events as lines of JSON, schema `answers/event`; `now` gives the time of each (RFC 3339)."""

    def __init__(self, write: Callable[[str], None], now: Callable[[], str]) -> None:
        self._write = write
        self._now = now
        self._opened: Opened | None = None
        self._last: tuple[object, ...] = ()

    def __call__(self, event: Event) -> None:
        """Write one event; progress only when something changed, and growing bytes as often as brokers are asked."""
        if isinstance(event, Opened):
            self._opened = event
        if isinstance(event, Progressed):
            shown = (event.done, event.wave, event.done_bytes, event.reason)
            if self._last == shown:
                return
            self._last = shown
        value = event_value(event, self._now(), self._opened)
        self._write(json.dumps(value, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Do nothing: every line is complete."""


def event_value(event: Event, at: str, opened: Opened | None) -> dict[str, Any]:
    """Return an event as `answers/event` describes it; `opened` names the operation, None before it is on record."""
    return {
        "at": at,
        "cluster_id": None if opened is None else opened.cluster_id,
        "operation": None if opened is None else opened.operation_id,
        **_fields(event),
    }


def _fields(event: Event) -> dict[str, Any]:
    """Return what an event adds to the line; `event` names it."""
    match event:
        case Opened():
            return {"event": "opened"}
        case StepPublished():
            return {"event": "published", "what": event.what, "count": event.count, "step": event.step}
        case Progressed():
            return _progress(event)
        case StateChanged():
            lost = [_lost(each) for each in event.lost_records]
            return {"event": "state_changed", "state": event.state, "text": event.text, "lost_records": lost}
        case Ended():
            ending = {"event": "ended", "exit_code": event.exit_code, "text": event.text}
            return {**ending, "next_command": event.next_command}
    return {"event": "asked" if isinstance(event, Asked) else "noted", "text": event.text}


def _lost(lost: LostRecords) -> dict[str, Any]:
    return {**asdict(lost), **asdict(lost.partition)}


def _progress(event: Progressed) -> dict[str, Any]:
    return {
        "event": "progressed",
        "done": event.done,
        "total": event.total,
        "bytes_done": event.done_bytes,
        "bytes_total": event.total_bytes,
        "wave": event.wave,
        "waves": event.waves,
        "rate_bytes_per_s": event.rate,
        "eta_s": event.eta_s,
        "reason": event.reason,
    }
