"""Opens a cluster by its address, in the world of ZooKeeper or of Kafka's API.

Each world is imported when a cluster of its kind is opened.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, StalePlanError, UsageError
from kadmin.next_step import command
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from kadmin.cluster.servers import Security, Servers
    from kadmin.contexts.address import ClusterAddress
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.events import EventSink
    from kadmin.worlds.kafka.cluster import KafkaCluster
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.zookeeper.cluster import ZooKeeperCluster

ROOT_VARIABLE = "KADMIN_ROOT"
LEASE_VARIABLE = "KADMIN_LEASE"
# A request leaves up to 3 s after its record; a shorter lease could end before it.
_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 5, 600


def connect(
    cluster: ClusterAddress, clock: Clock, tell: EventSink, *, reads: bool
) -> AbstractContextManager[Context]:
    """Open the context of a cluster until the clock's end.

    With `reads` it takes no lock and needs no record.
    """
    if cluster.zookeeper is None:
        return connect_kafka(cluster, clock, tell, reads=reads)
    return connect_zookeeper(cluster, clock, tell)


@contextmanager
def connect_brokers(
    cluster: ClusterAddress, clock: Clock, tell: EventSink
) -> Iterator[KafkaConnection]:
    """Connect to a cluster's brokers until the clock's end, with -z to those that ZooKeeper names.

    With -b no controller is asked.
    """
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import read_metadata

    if cluster.zookeeper is None:
        servers = _servers(cluster, cluster.bootstrap or "", tell)
    else:
        with connect_zookeeper(cluster, clock, tell) as context:
            servers = context.backend.brokers(context.backend.read(())).servers
    with KafkaConnection(servers, until=clock.until) as connection:
        if (
            cluster.zookeeper is None
            and cluster.context is not None
            and cluster.context.cluster_id is not None
        ):
            require_cluster_id(
                cluster, read_metadata(connection, ()).cluster_id, f"{cluster.bootstrap}"
            )
        yield connection


@contextmanager
def connect_zookeeper(
    cluster: ClusterAddress, clock: Clock, tell: EventSink
) -> Iterator[ZooKeeperCluster]:
    """Connect to ZooKeeper.

    The environment variable KADMIN_ROOT is the znode below which kadmin keeps its own, for clusters
    whose ACLs forbid the default.
    """
    from kadmin.worlds.zookeeper.cluster import zookeeper_context
    from kadmin.worlds.zookeeper.credentials import authentication_of
    from kadmin.worlds.zookeeper.values.paths import DEFAULT_ROOT, Paths
    from kadmin.worlds.zookeeper.wire.store import Store

    named = None if cluster.context is None else cluster.context.kafka.bootstrap_servers
    brokers = replace(_servers(cluster, named, tell), unasked=cluster.without_brokers)
    identity = authentication_of(cluster.context, clock.until - clock.now())
    with Store.connect(
        cluster.zookeeper or "", authentication=identity, until=clock.until
    ) as store:
        paths = Paths(os.environ.get(ROOT_VARIABLE, DEFAULT_ROOT))
        context = zookeeper_context(store, paths, clock, tell, brokers)
        _require_its_cluster(cluster, context)
        yield replace(context, named=cluster.context)


@contextmanager
def connect_kafka(
    cluster: ClusterAddress,
    clock: Clock,
    tell: EventSink,
    *,
    reads: bool,
    in_any_mode: bool = False,
) -> Iterator[KafkaCluster]:
    """Open a context through brokers.

    With `reads` it takes no lock, and ZooKeeper-mode clusters are allowed.
    """
    from kadmin.worlds.kafka.cluster import kafka_context, reading_context, require_kraft_mode
    from kadmin.worlds.kafka.values.record_copy import copies_folder
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

    lease_s, copies = _lease_s(), copies_folder()
    servers = _servers(cluster, cluster.bootstrap or "", tell)
    with KafkaConnection(servers, until=clock.until) as connection:
        if reads:
            context = reading_context(connection, cluster.records, clock, tell, copies=copies)
        else:
            if not in_any_mode:
                require_kraft_mode(connection)
            context = kafka_context(
                connection, cluster.records, clock, tell, lease_s, copies=copies
            )
        _require_its_cluster(cluster, context)
        yield replace(context, named=cluster.context)


def _require_its_cluster(cluster: ClusterAddress, context: Context) -> None:
    """Raise StalePlanError where the address's context has the id of another cluster."""
    if cluster.context is None or cluster.context.cluster_id is None:
        return
    # For a znode that cannot be decoded, which a heal may be about to repair.
    with suppress(NotCompletedError):
        require_cluster_id(
            cluster,
            context.backend.read(()).cluster_id,
            f"{cluster.zookeeper or cluster.bootstrap}",
        )


def _servers(cluster: ClusterAddress, bootstrap: str | None, tell: EventSink) -> Servers:
    """Return the brokers at `bootstrap`, without addresses for None, and the client's security."""
    from kadmin.cluster.bootstrap import parse_bootstrap
    from kadmin.cluster.servers import Servers

    addresses = () if bootstrap is None else parse_bootstrap(bootstrap)
    return Servers(addresses, _security(cluster, tell))


def _security(cluster: ClusterAddress, tell: EventSink) -> Security:
    """Read the security settings of brokers.

    The note of the event sink lists keys of the file that are not used.
    """
    from kadmin.cluster.servers import PLAIN
    from kadmin.operations.events import Note

    if cluster.command_config is None:
        return PLAIN
    from kadmin.worlds.kafka.wire.client_properties import read_client_properties

    found = read_client_properties(cluster.command_config)
    if found.unused:
        tell(Note(f"kadmin does not use {name_some(found.unused)}"))
    for warning in found.warnings:
        tell(Note(f"warning: {warning}"))
    return found.security


def _lease_s() -> float:
    """Return the lease of a lock in the record topic, in seconds: the variable KADMIN_LEASE."""
    from kadmin.worlds.kafka.values.topic import LEASE_S

    text = os.environ.get(LEASE_VARIABLE)
    if text is None:
        return LEASE_S
    if not text.isdecimal() or not _SHORTEST_LEASE_S <= int(text) <= _LONGEST_LEASE_S:
        raise UsageError(
            f"{LEASE_VARIABLE} is {text!r}.",
            next_step=(
                f"set it to a number of seconds from {_SHORTEST_LEASE_S} to {_LONGEST_LEASE_S}, "
                "or unset it"
            ),
        )
    return float(text)


def require_cluster_id(address: ClusterAddress, cluster_id: str | None, what: str) -> None:
    """Raise StalePlanError where `what` belongs to another cluster than the context.

    An unknown id passes.
    """
    wanted = None if address.context is None else address.context.cluster_id
    if address.context is None or wanted is None or cluster_id is None or wanted == cluster_id:
        return
    raise StalePlanError(
        f"{what} is of cluster {cluster_id}; the context {address.context.name} is cluster "
        f"{wanted}.",
        next_step=command("context show", address.context.name),
    )
