"""A request to pause or cancel an operation, written by another process without the lock.

The runner reads it at every tick and obeys it at its next safe point. Its status then carries the request, which
confirms to the requester that a runner has read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kadmin.errors import NotCompletedError


class Stop(IntEnum):
    """What the runner is asked to do; a stronger request replaces a weaker one, never the reverse.

    PAUSE and CANCEL publish nothing more and follow the running wave to its end; CANCEL_NOW takes it back.
    """

    PAUSE = 1
    CANCEL = 2
    CANCEL_NOW = 3


class StoppedByRequestError(NotCompletedError):
    """The operation was paused or cancelled by a request."""


@dataclass(frozen=True, slots=True)
class StopRequest:
    """What is asked, by whom and when; `allow_foreign` lets CANCEL_NOW start entries of other tools."""

    stop: Stop
    by: str
    at: str
    allow_foreign: bool = False

    def __str__(self) -> str:
        verb = {Stop.PAUSE: "pause", Stop.CANCEL: "cancel", Stop.CANCEL_NOW: "cancel at once"}[self.stop]
        return f"asked to {verb} by {self.by} at {self.at}"
