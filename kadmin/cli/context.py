"""Opens what a cluster command works with: the store, the clock with its signals, and the progress on stderr."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from kadmin.cli import options
from kadmin.cli.deadline import alarm
from kadmin.cli.terminal import screen_of
from kadmin.errors import KadminError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from kadmin.operations.context import Clock
    from kadmin.operations.zookeeper.backend import ZooKeeperContext

ROOT_VARIABLE = "KADMIN_ROOT"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GRACE_S = 1.5
_COMMAND = re.compile(r"\bkadmin (?=[a-z])(?:(?!, |; |: | \(|\)|$).)*")
"""A command that a message names: it ends before a comma, a semicolon, a colon or a bracket."""
_WITHOUT_CLUSTER = tuple(f"kadmin {name}" for name in ("validate", "convert", "schema", "sandbox", "propose rebalance"))


@contextmanager
def open_context(
    zookeeper: str, *, timeout_s: float | None = None, story: options.OutputFormat = options.OutputFormat.HUMAN
) -> Iterator[ZooKeeperContext]:
    """Connect to the cluster, and stop at a safe point when a signal comes.

    `timeout_s` bounds the whole command: calls and waits end by then, each with its own error; the clean-up has
    _GRACE_S more, after which an alarm ends it. The environment variable KADMIN_ROOT is the znode below which kadmin
    keeps its own, for clusters whose ACLs forbid the default. `story` is the format of the progress on stderr.
    """
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.context import Clock
    from kadmin.operations.zookeeper.backend import zookeeper_context
    from kadmin.operations.zookeeper.paths import DEFAULT_ROOT, Paths
    from kadmin.report.operations.follow import Follower
    from kadmin.report.operations.follow_json import JsonFollower

    def write(text: str) -> None:
        typer.echo(text, err=True, nl=False)

    in_json = story is options.OutputFormat.JSON
    clock = Clock(math.inf if timeout_s is None else time.monotonic() + timeout_s)
    follower = (
        JsonFollower(write, clock.timestamp) if in_json else Follower(write, screen_of(sys.stderr), time.monotonic)
    )
    with (
        alarm(timeout_s, grace_s=_GRACE_S),
        _signals(clock),
        Store.connect(zookeeper, until=clock.until) as store,
    ):
        try:
            yield zookeeper_context(store, Paths(os.environ.get(ROOT_VARIABLE, DEFAULT_ROOT)), clock, follower)
        except KadminError as error:
            if error.next_command is not None:
                error.next_command = with_address(error.next_command, zookeeper)
            raise
        finally:
            follower.close()


def with_address(text: str, zookeeper: str) -> str:
    """Add `-z` to the commands that a text names, where they take it and lack it, unless the environment has it."""
    if os.environ.get(options.ZOOKEEPER_VARIABLE) == zookeeper:
        return text

    def add(found: re.Match[str]) -> str:
        line = found[0]
        return line if " -z " in line or line.startswith(_WITHOUT_CLUSTER) else f"{line} -z {shlex.quote(zookeeper)}"

    return _COMMAND.sub(add, text)


def require_cluster(zookeeper: str | None) -> str:
    """Return the address of the cluster; raises UsageError where neither it nor a snapshot was given."""
    if zookeeper is None:
        raise UsageError(
            "A cluster or a snapshot is needed.",
            next_command="add -z CONNECT (or set KADMIN_ZOOKEEPER), or --inventory DIR",
        )
    return zookeeper


@contextmanager
def _signals(clock: Clock) -> Iterator[None]:
    # The first signal stops at a safe point; with the default handlers back, a second one ends the process at once.
    def stop(number: int, _frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        clock.interrupt(number)

    previous = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
