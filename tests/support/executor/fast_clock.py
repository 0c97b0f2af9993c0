"""A clock for tests."""

from __future__ import annotations

from kadmin.operations.context import Clock


class FastClock(Clock):
    """A clock that starts at 0, on which every wait passes at once; a test may set `time`."""

    def __init__(self, until: float = float("inf")) -> None:
        super().__init__(until)
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def wait(self, seconds: float) -> None:
        self.time += seconds
