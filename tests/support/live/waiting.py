"""Waits for conditions with a deadline; suspends and resumes processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.waiting import poll

if TYPE_CHECKING:
    from collections.abc import Callable


STAYS_S = 3.0
"""How long something must stay to count as staying: controllers react in milliseconds, 0.6 s at
most."""
PATIENCE_S = 90.0
"""How long a busy machine may take for what is foreseen to end."""
_PAUSE_S = 0.05


def stays(
    condition: Callable[[], bool], seconds: float = STAYS_S, *, foreseen: bool = True
) -> bool:
    """Whether a condition holds all the time; one that is not foreseen to has longer, so as to
    end.
    """
    return all(condition() for _ in poll(seconds if foreseen else PATIENCE_S, _PAUSE_S))


def wait_until(condition: Callable[[], bool], deadline_s: float = PATIENCE_S) -> None:
    """Wait for a condition; fail loudly when the deadline comes first."""
    assert any(condition() for _ in poll(deadline_s, _PAUSE_S)), f"not within {deadline_s} s"


def freeze(pid: int) -> None:
    """Suspend a process and wait until its last thread is stopped: the signal alone returns
    before.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(_stopped(thread) for thread in Path(f"/proc/{pid}/task").iterdir()), 60)


def thaw(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


def _stopped(thread: Path) -> bool:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"
