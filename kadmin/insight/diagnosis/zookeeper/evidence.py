"""What the doctor looked at: plain values of several looks at one cluster, some seconds apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.cluster.zookeeper.model import Acl, ControllerNode, Znode
    from kadmin.insight.diagnosis.zookeeper.versions import KafkaVersions

STAYS_S = 5.0
"""What a controller has not touched for so long, it does not see or does not want."""


@dataclass(frozen=True, slots=True)
class ControllerSample:
    """The controller at one moment. Between two samples at least a second passes."""

    epoch: int
    controller: ControllerNode | None


@dataclass(frozen=True, slots=True)
class AdminLook:
    """The admin znodes at one moment: bytes and facts as they are, absent is None.

    `deletion_parent` is `/admin/delete_topics` itself, `deletions` its children. `acls` holds the ACL of `/admin` and
    of each node that is there, by path, as far as it may be read.
    """

    reassignment: Znode | None = None
    election: Znode | None = None
    deletion_parent: Znode | None = None
    deletions: tuple[str, ...] = ()
    acls: Mapping[str, tuple[Acl, ...]] = field(default_factory=dict)

    def node(self, path: str) -> Znode | None:
        """Return the reassignment or the election node by its path."""
        return next((node for node in (self.reassignment, self.election) if node and node.path == path), None)


@dataclass(frozen=True, slots=True)
class LockHeld:
    """Who holds the lock, in words, and for which operation."""

    operation_id: str
    holder: str


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """An operation on record that is not finished; `words` says who started it and when.

    `lists` holds what it may ask for per partition: its target, and the original when it is cancelled. `elects` is
    whether it publishes elections; `whole` is False for a record that was never written to its end.
    """

    operation_id: str
    kind: str
    words: str
    lists: Mapping[TopicPartition, tuple[Replicas, ...]] = field(default_factory=dict)
    elects: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that `diagnose` knows; `root` is where kadmin keeps its znodes.

    `state` was read last, tolerantly: what could not be read is in its details. `first` and `last` are two looks
    at the admin nodes, `stayed_s` seconds apart: at least STAYS_S where there was anything. `deaf` holds the admin
    paths on which the controller's session was in nobody's watch list, twice, seconds apart; `listening` those where it
    was. `broker_configs` are by entity name, `<default>` included; `notifications` counts the children of each folder
    of messages.
    """

    zookeeper: str
    versions: KafkaVersions
    state: ClusterState
    samples: tuple[ControllerSample, ...]
    first: AdminLook
    last: AdminLook
    stayed_s: float = 0.0
    deaf: frozenset[str] = frozenset()
    listening: frozenset[str] = frozenset()
    root: str = "/kadmin"
    lock: LockHeld | None = None
    operations: tuple[OpenOperation, ...] = ()
    broker_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notifications: Mapping[str, int] = field(default_factory=dict)

    @property
    def heal_command(self) -> str:
        """The command that offers the cures for this cluster."""
        return f"kadmin heal -z {self.zookeeper}"
