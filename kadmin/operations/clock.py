"""Time for the loop: monotonic, so that a wall clock set back moves no deadline; waiting can be interrupted."""

from __future__ import annotations

import math
import threading
import time
from datetime import UTC, datetime

from kadmin.errors import StoppedError


class Clock:
    """Monotonic seconds, a wall clock for people, and waits that `interrupt` and the command's end cut short.

    `until` is when the command ends; `stop_signal` the signal that asked to stop, None while nobody did. `careful` is
    set while there is a lock or a record to leave whole.
    """

    def __init__(self, until: float = math.inf) -> None:
        self._interrupted = threading.Event()
        self.until = until
        self.stop_signal: int | None = None
        self.careful = False

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def timestamp(self) -> str:
        """Return the wall clock's UTC time, ISO 8601 to the second."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def wait(self, seconds: float) -> None:
        """Wait, or return at once when interrupted or at the command's end."""
        self._interrupted.wait(max(0.0, min(seconds, self.until - self.now())))

    def interrupt(self, signal_number: int) -> None:
        """Note who asked to stop, and end the present wait and every later one; raises it where no care is needed."""
        self.stop_signal = signal_number
        self._interrupted.set()
        if not self.careful:
            raise StoppedError(f"Stopped by signal {signal_number}; nothing was changed.", signal_number=signal_number)

    def stop_if_asked(self, kept: str, next_command: str) -> None:
        """Raise StoppedError once a signal has come; `kept` says what stays as it is."""
        if self.stop_signal is not None:
            raise StoppedError(
                f"Stopped by signal {self.stop_signal}; {kept}.",
                signal_number=self.stop_signal,
                next_command=next_command,
            )
