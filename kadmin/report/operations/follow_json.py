"""The events of a running operation as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from kadmin.operations.events import Noted, Opened, Progressed, StepPublished

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event

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
