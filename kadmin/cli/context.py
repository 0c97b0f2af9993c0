"""Opens what a cluster command works with: the cluster, the clock with its signals, and the progress on stderr."""

from __future__ import annotations

import math
import os
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kadmin.cli.deadline import alarm
from kadmin.cli.telling import UNASKED
from kadmin.errors import KadminError, NotCompletedError, UsageError
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

    from kadmin.cli.address import ClusterAddress
    from kadmin.cli.telling import Telling
    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.servers import Security
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.events import Tell
    from kadmin.operations.kafka.context import KafkaContext
    from kadmin.operations.zookeeper.backend import ZooKeeperContext

ROOT_VARIABLE = "KADMIN_ROOT"
LEASE_VARIABLE = "KADMIN_LEASE"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 1.5
"""Seconds for what a command still has to do after its deadline, as to release a lock."""
# A request leaves up to 3 s after its record; a shorter lease could end before it.
_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 5, 600


@contextmanager
def open_context(
    cluster: ClusterAddress,
    *,
    timeout_s: float | None = None,
    telling: Telling = UNASKED,
) -> Iterator[Context]:
    """Connect to the cluster, and stop at a safe point when a signal comes.

    `timeout_s` bounds the whole command: calls and waits end by then, each with its own error; the clean-up has
    GRACE_S more, after which an alarm ends it. `telling` says what is told of it, and to whom.
    """
    with running(cluster, timeout_s, telling) as (clock, tell), connect(cluster, clock, tell, reads=False) as context:
        yield context


@contextmanager
def open_reading(
    cluster: ClusterAddress,
    *,
    timeout_s: float | None = None,
    telling: Telling = UNASKED,
) -> Iterator[KafkaContext | ZooKeeperContext]:
    """Connect as `open_context` does for a command that takes no lock and needs no record.

    Through their brokers, clusters in ZooKeeper mode are opened, too.
    """
    with running(cluster, timeout_s, telling) as (clock, tell), connect(cluster, clock, tell, reads=True) as context:
        yield context


@contextmanager
def open_zookeeper(
    cluster: ClusterAddress,
    instead: str,
    *,
    timeout_s: float | None = None,
    telling: Telling = UNASKED,
) -> Iterator[ZooKeeperContext]:
    """Open the context of a command that only ZooKeeper serves; `instead` is the command that serves through brokers.

    Raises UsageError for a cluster that is reached through its brokers.
    """
    require_zookeeper(cluster, instead)
    with running(cluster, timeout_s, telling) as (clock, tell), connect_zookeeper(cluster, clock, tell) as context:
        yield context


def require_zookeeper(cluster: ClusterAddress, instead: str) -> None:
    """Raise UsageError for a cluster that is reached through its brokers; `instead` is what serves there."""
    if cluster.zookeeper is None:
        raise UsageError(
            "This command reads or repairs znodes, which only ZooKeeper has.",
            next_command=cluster.named_in(instead).replace("BROKERS", str(cluster)),
        )


@contextmanager
def open_kafka(cluster: ClusterAddress, *, timeout_s: float | None = None) -> Iterator[KafkaContext]:
    """Connect to the brokers of a cluster as `open_reading` does, for questions that brokers alone answer."""
    with (
        running(cluster, timeout_s, UNASKED) as (clock, tell),
        connect_kafka(cluster, clock, tell, reads=True) as context,
    ):
        yield context


@contextmanager
def running(cluster: ClusterAddress, timeout_s: float | None, telling: Telling) -> Iterator[tuple[Clock, Tell]]:
    """Yield the clock of a command and the receiver of its events, before it connects to the cluster."""
    from kadmin.cli.story import told

    with ticking(timeout_s) as clock, told(telling, clock, str(cluster)) as tell:
        try:
            yield clock, tell
        except KadminError as error:
            if error.next_command is not None:
                error.next_command = cluster.named_in(error.next_command)
            raise


@contextmanager
def ticking(timeout_s: float | None) -> Iterator[Clock]:
    """Yield the clock of a command, which ends at its deadline and at a signal; as `open_context`."""
    from kadmin.operations.context import Clock

    clock = Clock(math.inf if timeout_s is None else time.monotonic() + timeout_s)
    with alarm(timeout_s, grace_s=GRACE_S), _signals(clock):
        yield clock


def connect(
    cluster: ClusterAddress, clock: Clock, tell: Tell, *, reads: bool
) -> AbstractContextManager[KafkaContext | ZooKeeperContext]:
    """Connect to a cluster until the clock's end; what `reads` only takes no lock and needs no record."""
    if cluster.zookeeper is None:
        return connect_kafka(cluster, clock, tell, reads=reads)
    return connect_zookeeper(cluster, clock, tell)


@contextmanager
def connect_brokers(cluster: ClusterAddress, clock: Clock, tell: Tell) -> Iterator[KafkaConnection]:
    """Connect to the brokers of a cluster until the clock's end, with -z to those that ZooKeeper names.

    With -b no controller is asked.
    """
    from kadmin.cli.protection import require_cluster_id
    from kadmin.cluster.kafka.addresses import parse_bootstrap
    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.metadata import read_metadata
    from kadmin.cluster.kafka.servers import Servers

    if cluster.zookeeper is None:
        servers = Servers(parse_bootstrap(cluster.bootstrap or ""), _security(cluster, tell))
    else:
        with connect_zookeeper(cluster, clock, tell) as context:
            servers = context.backend.servers(context.backend.read(()))
    with KafkaConnection(servers, until=clock.until) as connection:
        if cluster.zookeeper is None and cluster.context is not None and cluster.context.cluster_id is not None:
            require_cluster_id(cluster, read_metadata(connection, ()).cluster_id, f"{cluster.bootstrap}")
        yield connection


@contextmanager
def connect_zookeeper(cluster: ClusterAddress, clock: Clock, tell: Tell) -> Iterator[ZooKeeperContext]:
    """Connect to ZooKeeper.

    The environment variable KADMIN_ROOT is the znode below which kadmin keeps its own, for clusters whose ACLs forbid
    the default.
    """
    from kadmin.cli.credentials import authentication_of
    from kadmin.cluster.kafka.addresses import parse_bootstrap
    from kadmin.cluster.kafka.servers import Servers
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.zookeeper.backend import zookeeper_context
    from kadmin.operations.zookeeper.paths import DEFAULT_ROOT, Paths

    named = cluster.context and cluster.context.kafka.bootstrap_servers
    brokers = Servers(parse_bootstrap(named) if named else (), _security(cluster, tell), cluster.without_brokers)
    identity = authentication_of(cluster.context, clock.until - clock.now())
    with Store.connect(cluster.zookeeper or "", authentication=identity, until=clock.until) as store:
        paths = Paths(os.environ.get(ROOT_VARIABLE, DEFAULT_ROOT))
        context = zookeeper_context(store, paths, clock, tell, brokers)
        _require_its_cluster(cluster, context)
        yield context


@contextmanager
def connect_kafka(
    cluster: ClusterAddress, clock: Clock, tell: Tell, *, reads: bool, in_any_mode: bool = False
) -> Iterator[KafkaContext]:
    """Connect to brokers; what `reads` only takes no lock and needs no record, in ZooKeeper mode, too."""
    from kadmin.cluster.kafka.addresses import parse_bootstrap
    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.servers import Servers
    from kadmin.operations.kafka.context import kafka_context, reading_context, require_kraft_mode
    from kadmin.operations.kafka.record_copy import copies_folder

    lease_s, copies = _lease_s(), copies_folder()
    servers = Servers(parse_bootstrap(cluster.bootstrap or ""), _security(cluster, tell))
    with KafkaConnection(servers, until=clock.until) as connection:
        if reads:
            context = reading_context(connection, cluster.records, clock, tell, copies=copies)
        else:
            if not in_any_mode:
                require_kraft_mode(connection)
            context = kafka_context(connection, cluster.records, clock, tell, lease_s, copies=copies)
        _require_its_cluster(cluster, context)
        yield context


def _require_its_cluster(cluster: ClusterAddress, context: Context) -> None:
    """Raise StalePlanError where the context of the address names the id of another cluster than is there."""
    from kadmin.cli.protection import require_cluster_id

    if cluster.context is None or cluster.context.cluster_id is None:
        return
    with suppress(NotCompletedError):  # for a znode that cannot be decoded, which a heal may be about to repair
        require_cluster_id(cluster, context.backend.read(()).cluster_id, f"{cluster.zookeeper or cluster.bootstrap}")


def _security(cluster: ClusterAddress, tell: Tell) -> Security:
    """Read how brokers are asked; keys of the file that are not used are told."""
    from kadmin.cluster.kafka.servers import PLAIN
    from kadmin.operations.events import Noted

    if cluster.command_config is None:
        return PLAIN
    from kadmin.cluster.kafka.client_properties import read_client_properties

    found = read_client_properties(cluster.command_config)
    if found.unused:
        tell(Noted(f"kadmin has no use for {name_some(found.unused)}"))
    for warning in found.warnings:
        tell(Noted(f"warning: {warning}"))
    return found.security


def _lease_s() -> float:
    """Return how long the lock of a dead holder lasts in the record topic: the variable KADMIN_LEASE, in seconds."""
    from kadmin.operations.kafka.topic import LEASE_S

    text = os.environ.get(LEASE_VARIABLE)
    if text is None:
        return LEASE_S
    if not text.isdecimal() or not _SHORTEST_LEASE_S <= int(text) <= _LONGEST_LEASE_S:
        raise UsageError(
            f"{LEASE_VARIABLE} is {text!r}.",
            next_command=f"set it to a number of seconds from {_SHORTEST_LEASE_S} to {_LONGEST_LEASE_S}, or unset it",
        )
    return float(text)


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
