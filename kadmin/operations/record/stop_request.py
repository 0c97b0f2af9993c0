"""A request to pause or cancel an operation, written by another process without the lock.

The runner reads it in every round and obeys it when the running wave is done. It confirms the
request in its status.
"""

from __future__ import annotations

import re
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


_VERBS = {Stop.PAUSE: "pause", Stop.CANCEL: "cancel", Stop.CANCEL_NOW: "cancel at once"}
_TEXT = re.compile(f"asked to ({'|'.join(_VERBS.values())}) by (.+) at (\\S+)")


class StoppedByRequestError(NotCompletedError):
    """The operation was paused or cancelled by a request: it is not completed, and no error."""

    heading = ""


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A request to stop, with author and time.

    `allow_foreign` lets CANCEL_NOW start entries of other tools.
    """

    stop: Stop
    by: str
    at: str
    allow_foreign: bool = False

    @classmethod
    def parse(cls, text: str) -> StopRequest | None:
        """Return the request of its text, which leaves `allow_foreign` out.

        None for other texts.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            return None
        return cls(
            next(stop for stop, verb in _VERBS.items() if verb == found[1]), found[2], found[3]
        )

    def covers(self, other: StopRequest) -> bool:
        """Whether the other request asks for no more: it is no stronger, and lets no more start."""
        return (self.stop, self.allow_foreign) >= (other.stop, other.allow_foreign)

    @property
    def asked(self) -> str:
        """The request and its author, without the time."""
        return f"asked to {_VERBS[self.stop]} by {self.by}"

    def __str__(self) -> str:
        return f"{self.asked} at {self.at}"
