"""Opens what a cluster command works with: the store, the clock with its signals, and the story on stderr."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from kadmin.operations.clock import Clock
    from kadmin.operations.runner import Desk
    from kadmin.operations.service import Bounds

ROOT_VARIABLE = "KADMIN_ROOT"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def open_desk(zookeeper: str, *, timeout_s: float | None = None) -> Iterator[Desk]:
    """Connect, follow signals, and close the story's open line at the end.

    `timeout_s` bounds the whole command, for commands that only read. The environment's KADMIN_ROOT says where kadmin
    keeps its znodes, for clusters whose ACLs forbid `/kadmin`.
    """
    from kadmin.cluster.store import Store
    from kadmin.operations.clock import Clock
    from kadmin.operations.record import Paths
    from kadmin.operations.runner import Desk
    from kadmin.report.follow import Follower

    follower = Follower(lambda text: typer.echo(text, err=True, nl=False), live=sys.stderr.isatty())
    clock = Clock()
    with _bounded(timeout_s), _signals(clock), Store.connect(zookeeper) as store:
        try:
            yield Desk(store, Paths(os.environ.get(ROOT_VARIABLE, "/kadmin")), clock, follower)
        finally:
            follower.close()


def bounds_of(desk: Desk, timeout_s: float | None, lock_timeout_s: float) -> Bounds:
    """Return the deadline of a command that began now, and how long it waits for a held lock."""
    from kadmin.operations.service import Bounds

    return Bounds(None if timeout_s is None else desk.clock.now() + timeout_s, lock_timeout_s)


@contextmanager
def _bounded(timeout_s: float | None) -> Iterator[None]:
    # A command that only reads may be cut anywhere, so an alarm bounds all of it, whatever it is waiting for.
    def expire(_number: int, _frame: FrameType | None) -> None:
        raise NotCompletedError(f"Not finished within {timeout_s:g} s.", next_command="give it more with --timeout")

    if timeout_s is None:
        yield
        return
    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def _signals(clock: Clock) -> Iterator[None]:
    # The first signal stops at a safe point; with the default handlers back, a second one ends the process at once.
    def stop(number: int, _frame: FrameType | None) -> None:
        clock.interrupt(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    previous = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
