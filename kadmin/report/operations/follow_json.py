"""The events of a running operation as lines of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kadmin.operations.events import Opened, Progressed, StepPublished

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event


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
        opened = self._opened
        line = {
            "at": self._now(),
            "cluster_id": None if opened is None else opened.cluster_id,
            "operation": None if opened is None else opened.operation_id,
            **_fields(event),
        }
        self._write(json.dumps(line, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Do nothing: every line is complete."""


def _fields(event: Event) -> dict[str, Any]:
    """Return what an event adds to the line; `event` names it."""
    match event:
        case Opened():
            return {"event": "opened"}
        case StepPublished():
            return {"event": "published", "what": event.what, "count": event.count, "step": event.step}
        case Progressed():
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
    return {"event": "noted", "text": event.text}
