"""A request to pause or cancel an operation, written by another process without the lock.

The runner reads it in every round and obeys it when the running wave is done. It confirms the request in its status.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kadmin.errors import NotCompletedError


class Stop(IntEnum):
    """The ways to stop an operation; a stronger request replaces a weaker one, never the reverse.

    PAUSE and CANCEL complete the running wave and publish no other; CANCEL_NOW takes it back.
    """

    PAUSE = 1
    CANCEL = 2
    CANCEL_NOW = 3


class StoppedByRequestError(NotCompletedError):
    """The operation was paused or cancelled by a request: it is not completed, and no error."""

    heading = ""


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A request to stop, with author and time; `allow_foreign` lets CANCEL_NOW start entries of other tools."""

    stop: Stop
    by: str
    at: str
    allow_foreign: bool = False

    def covers(self, other: StopRequest) -> bool:
        """Whether the other request asks for nothing more: it is no stronger, and lets nothing more start."""
        return (self.stop, self.allow_foreign) >= (other.stop, other.allow_foreign)

    @property
    def asked(self) -> str:
        """The request and its author, without the time."""
        verb = {Stop.PAUSE: "pause", Stop.CANCEL: "cancel", Stop.CANCEL_NOW: "cancel at once"}[self.stop]
        return f"asked to {verb} by {self.by}"

    def __str__(self) -> str:
        return f"{self.asked} at {self.at}"
