"""Evidence that `doctor` read through ZooKeeper: readings of one cluster, some seconds apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.log_dirs import LogDirs
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.cluster.versions import KafkaVersions
    from kadmin.insight.diagnosis.disks import EarlierDisks
    from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
    from kadmin.plan.throttle import ConfigValues
    from kadmin.worlds.zookeeper.model import Acl, ControllerNode, Znode

HEAL = command("heal")
"""Repairs the admin znodes that doctor has findings on."""
STAYS_S = 5.0
"""A controller that did not change a node for so long does not see it or ignores it."""


@dataclass(frozen=True, slots=True)
class ControllerSample:
    """The controller at one moment. Between two samples at least a second passes."""

    epoch: int
    controller: ControllerNode | None


@dataclass(frozen=True, slots=True)
class AdminLook:
    """The admin znodes at one moment; absent ones are None.

    `deletion_parent` is `/admin/delete_topics` itself, `deletions` its children. `acls` holds the
    readable ACLs of `/admin` and of the existing nodes, by path.
    """

    reassignment: Znode | None = None
    election: Znode | None = None
    deletion_parent: Znode | None = None
    deletions: tuple[str, ...] = ()
    acls: Mapping[str, tuple[Acl, ...]] = field(default_factory=dict)

    def node(self, path: str) -> Znode | None:
        """Return the reassignment or election znode of this look, by its path."""
        return next(
            (node for node in (self.reassignment, self.election) if node and node.path == path),
            None,
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The whole input of `diagnose`; `root` is the parent of kadmin's znodes.

    `state` was read last; its details name the unreadable znodes. `first` and `last` are readings
    of the admin nodes, `stayed_s` seconds apart: at least STAYS_S where there was a node.
    `not_watching` holds the admin paths that the controller's session did not watch on any server,
    checked twice; `listening` those that it watches. `broker_configs` are those of brokers and of
    their default. `notifications` counts the notifications in each parent znode. `unused_copies`
    are those on the disks of brokers that are no replicas: bytes by broker and partition; `held`
    are all of a broker that listed all its replicas. `disks` are those of the brokers that
    answered, `earlier_disks` those of a snapshot; `disks_unavailable` says why some are not known.
    """

    versions: KafkaVersions
    state: ClusterState
    samples: tuple[ControllerSample, ...]
    first: AdminLook
    last: AdminLook
    stayed_s: float = 0.0
    not_watching: frozenset[str] = frozenset()
    listening: frozenset[str] = frozenset()
    root: str = "/kadmin"
    lock: LockHeld | None = None
    operations: tuple[OpenOperation, ...] = ()
    broker_configs: ConfigValues = field(default_factory=dict)
    notifications: Mapping[str, int] = field(default_factory=dict)
    unused_copies: Mapping[int, Mapping[TopicPartition, int]] = field(default_factory=dict)
    held: Mapping[int, Mapping[TopicPartition, int]] = field(default_factory=dict)
    disks: LogDirs = field(default_factory=lambda: LogDirs({}, {}))
    earlier_disks: EarlierDisks | None = None
    disks_unavailable: str = ""
