"""Opens the context of a cluster command.

It has the cluster, the clock with its signals, and the event sink on stderr.
"""

from __future__ import annotations

import math
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kadmin.cli.cluster import require_cluster
from kadmin.cli.deadline import alarm
from kadmin.cli.output_options import UNASKED
from kadmin.errors import KadminError, UsageError
from kadmin.worlds.open import connect, connect_zookeeper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from kadmin.cli.output_options import OutputOptions
    from kadmin.cluster.model import ClusterState
    from kadmin.contexts.address import ClusterAddress
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.events import EventSink
    from kadmin.worlds.zookeeper.cluster import ZooKeeperCluster

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 1.5
"""Seconds for the clean-up of a command after its deadline, as the release of a lock."""


@contextmanager
def open_context(
    cluster: ClusterAddress,
    *,
    timeout_s: float | None = None,
    output_options: OutputOptions = UNASKED,
) -> Iterator[Context]:
    """Connect to the cluster, and stop at a safe point when a signal comes.

    `timeout_s` bounds the whole command: calls and waits end by then, each with its own error; the
    clean-up has GRACE_S more, after which an alarm ends it. `output_options` selects its events and
    their sinks.
    """
    with (
        running(cluster, timeout_s, output_options) as (clock, tell),
        connect(cluster, clock, tell, reads=False) as context,
    ):
        yield context


@contextmanager
def open_reading(
    cluster: ClusterAddress,
    *,
    timeout_s: float | None = None,
    output_options: OutputOptions = UNASKED,
) -> Iterator[Context]:
    """Connect as `open_context` does for a command that takes no lock and needs no record.

    Through their brokers, clusters in ZooKeeper mode are opened, too.
    """
    with (
        running(cluster, timeout_s, output_options) as (clock, tell),
        connect(cluster, clock, tell, reads=True) as context,
    ):
        yield context


def read_cluster_or_inventory(
    cluster: ClusterAddress | None, inventory: Path | None, timeout_s: float
) -> ClusterState:
    """Read the cluster that a proposal is for: its snapshot where one is given."""
    if inventory is not None:
        from kadmin.operations.reading.preview import read_snapshot

        return read_snapshot(inventory, {}).state
    from kadmin.operations.reading.snapshot import read_state

    with open_reading(require_cluster(cluster), timeout_s=timeout_s) as context:
        return read_state(context)


@contextmanager
def open_zookeeper(
    cluster: ClusterAddress,
    next_step: NextStep | str,
    *,
    timeout_s: float | None = None,
    output_options: OutputOptions = UNASKED,
) -> Iterator[ZooKeeperCluster]:
    """Open the context of a command that only ZooKeeper serves.

    `next_step` is the command that serves through brokers. Raises UsageError for a cluster that is
    reached through its brokers.
    """
    require_zookeeper(cluster, next_step)
    with (
        running(cluster, timeout_s, output_options) as (clock, tell),
        connect_zookeeper(cluster, clock, tell) as context,
    ):
        yield context


def require_zookeeper(cluster: ClusterAddress, next_step: NextStep | str) -> None:
    """Raise UsageError for a cluster that is reached through its brokers.

    `next_step` is the alternative there.
    """
    if cluster.zookeeper is None:
        raise UsageError(
            "This command reads or repairs znodes, which only ZooKeeper has.",
            next_step=next_step.replace("BROKERS", str(cluster))
            if isinstance(next_step, str)
            else cluster.named(next_step),
        )


@contextmanager
def running(
    cluster: ClusterAddress, timeout_s: float | None, output_options: OutputOptions
) -> Iterator[tuple[Clock, EventSink]]:
    """Yield a command's clock and the receiver of its events, before it connects to the cluster."""
    from kadmin.cli.event_sinks import event_sink

    with ticking(timeout_s) as clock, event_sink(output_options, clock, str(cluster)) as tell:
        try:
            yield clock, tell
        except KadminError as error:
            error.next_step = cluster.named(error.next_step)
            raise


@contextmanager
def ticking(timeout_s: float | None) -> Iterator[Clock]:
    """Yield the clock of a command, which ends at its deadline and at a signal.

    As `open_context`.
    """
    from kadmin.operations.context import Clock

    clock = Clock(math.inf if timeout_s is None else time.monotonic() + timeout_s)
    with alarm(timeout_s, grace_s=GRACE_S), _signals(clock):
        yield clock


@contextmanager
def _signals(clock: Clock) -> Iterator[None]:
    # The first signal stops at a safe point; with the default handlers back, a second one ends the
    # process at once.
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
