"""Waiting in tests: by condition, with a deadline, never by time alone."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(condition: Callable[[], bool], deadline_s: float) -> None:
    """Wait for a condition; fail loudly when the deadline comes first."""
    give_up, pause = time.monotonic() + deadline_s, threading.Event()
    while not condition():
        assert time.monotonic() < give_up, f"not within {deadline_s} s"
        pause.wait(0.05)
