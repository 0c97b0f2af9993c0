"""The wish of somebody elsewhere: pause or cancel. The one write that is made without the lock.

A runner reads it at every tick and heeds it at its next safe point; its own status then says so, which is how the
one who asked knows that somebody was there to hear it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import IntEnum

from kadmin.errors import NotCompletedError


class Stop(IntEnum):
    """What is asked of the runner; a stronger wish replaces a weaker one, never the other way round.

    PAUSE and CANCEL publish nothing more and follow what runs to its end; CANCEL_NOW takes back what runs.
    """

    PAUSE = 1
    CANCEL = 2
    CANCEL_NOW = 3


class StoppedByRequestError(NotCompletedError):
    """The operation was paused or cancelled at the wish of somebody."""


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A wish, who asked and when; `allow_foreign` waives entries of others for CANCEL_NOW."""

    stop: Stop
    by: str
    at: str
    allow_foreign: bool = False

    def __str__(self) -> str:
        verb = {Stop.PAUSE: "pause", Stop.CANCEL: "cancel", Stop.CANCEL_NOW: "cancel at once"}[self.stop]
        return f"asked to {verb} by {self.by} at {self.at}"


def encode_request(request: StopRequest) -> bytes:
    """Encode a request."""
    return json.dumps({**asdict(request), "stop": request.stop.name}, sort_keys=True).encode()


def decode_request(data: bytes) -> StopRequest:
    """Decode a request."""
    value = json.loads(data)
    return StopRequest(**{**value, "stop": Stop[value["stop"]]})
