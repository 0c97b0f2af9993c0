"""Live brokers, asked over their own protocol: the port's `LiveBrokers`, in both worlds."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import FromBrokers
from kadmin.cluster.servers import PLAIN, Servers
from kadmin.errors import KadminError, NotAuthorizedError
from kadmin.worlds.kafka.wire.acls import hidden_topics
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.configs import describe_settings
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.elections import serves_elections
from kadmin.worlds.kafka.wire.groups import describe_groups
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs, describe_replicas
from kadmin.worlds.kafka.wire.metadata import internal_topics
from kadmin.worlds.kafka.wire.offsets import (
    ask_epoch_ends,
    ask_group_offsets,
    ask_groups,
    ask_log_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.groups import Groups
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.cluster.offsets import GroupOffsets, LogEnd, LogOffsets
    from kadmin.cluster.servers import Security


class KafkaBrokers:
    """Brokers at the addresses of `servers`."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self._opening = threading.Lock()
        self._connection: KafkaConnection | None = None

    def log_dirs(self, brokers: Iterable[int], *, bootstrap_s: float | None = None) -> LogDirs:
        """Return replica sizes and disk space of brokers."""
        return describe_log_dirs(self.servers, brokers, bootstrap_s=bootstrap_s)

    def replica_sizes(
        self, wanted: Mapping[int, Collection[TopicPartition]], timeout_s: float
    ) -> LogDirs:
        """Return the sizes of some partitions' replicas on brokers; the connection stays open."""
        return describe_replicas(self._kept(timeout_s), wanted, timeout_s)

    def settings(
        self, brokers: Iterable[int], names: Sequence[str]
    ) -> FromBrokers[Mapping[str, str]]:
        """Return the effective settings of brokers."""
        return describe_settings(self.servers, brokers, names)

    def groups(self, brokers: Iterable[int]) -> Groups:
        """Return the groups that brokers coordinate."""
        return describe_groups(self.servers, brokers)

    def group_offsets(self, brokers: Iterable[int]) -> FromBrokers[GroupOffsets]:
        """Return the offsets that groups have committed, from their coordinators."""
        with KafkaConnection(self.servers) as connection:
            listed = ask_groups(connection, brokers, REQUEST_S)()
            found = ask_group_offsets(connection, listed.given, REQUEST_S)()
        return FromBrokers(found.given, {**listed.failed, **found.failed})

    def serve_elections(self) -> bool:
        """Whether brokers serve elections of leaders that are not in sync."""
        with KafkaConnection(self.servers) as connection:
            return serves_elections(connection)

    def internal_topics(self, topics: Iterable[str]) -> Mapping[str, bool | None]:
        """Return whether topics are flagged as internal."""
        with KafkaConnection(self.servers) as connection:
            return internal_topics(connection, topics)

    def hidden_topics(self, topics: Collection[str]) -> tuple[str, ...]:
        """Return the topics that this client may not describe."""
        with KafkaConnection(self.servers) as connection:
            return hidden_topics(connection, topics)

    def log_offsets(
        self, led: Mapping[int, Iterable[TopicPartition]], at: LogEnd, timeout_s: float
    ) -> FromBrokers[LogOffsets]:
        """Return the offsets at one end of the logs that brokers lead."""
        return ask_log_offsets(self._kept(timeout_s), led, at, timeout_s)()

    def epoch_ends(
        self, epochs: Mapping[int, Mapping[TopicPartition, int]], timeout_s: float
    ) -> FromBrokers[LogOffsets]:
        """Return the end offsets of leader epochs in the logs of partitions that brokers lead."""
        return ask_epoch_ends(self._kept(timeout_s), epochs, timeout_s)()

    def refused_credentials(self) -> NotAuthorizedError | None:
        """Return the error where brokers refuse this client's credentials, with the next step."""
        if self.servers.security is PLAIN or self.servers.unasked:
            return None
        try:
            KafkaConnection(self.servers).close()
        except NotAuthorizedError as error:
            again = f"{error.next_step}; or --without-brokers, to go on without what brokers know"
            return NotAuthorizedError(error.message, cause=error.cause, next_step=again)
        except KadminError:
            return None
        return None

    def close(self) -> None:
        """Close the connection that is kept."""
        with self._opening:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _kept(self, bootstrap_s: float) -> KafkaConnection:
        with self._opening:
            if self._connection is None:
                self._connection = KafkaConnection(self.servers, bootstrap_s=bootstrap_s)
            return self._connection


def listeners_of(state: ClusterState, security: Security) -> Servers:
    """Return the live brokers' listeners of a security protocol; there may be none."""
    found = [
        f"{endpoint.host}:{endpoint.port}"
        for broker in state.brokers.values()
        for endpoint in broker.endpoints
        if endpoint.security_protocol == security.protocol
    ]
    return Servers(found, security)
