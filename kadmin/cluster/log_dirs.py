"""The replicas and the disk space of brokers' log directories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.disks import Disk, DiskReplica
    from kadmin.cluster.model import TopicPartition
    from kadmin.errors import KadminError, NotCompletedError


@dataclass(frozen=True, slots=True)
class LogDirs:
    """The bytes on disk of every replica, by broker.

    `failed` holds the error of each broker that gave no sizes. `failed_dirs` has an error for each
    log directory that a broker which gave sizes cannot read. `usable` are the bytes that a broker
    can still write: the sum of its healthy directories that are not cordoned, without an entry
    where one of them gives none (before Kafka 3.3). A file system that two of them share counts
    once. `empty` are brokers that listed nothing, in directories that they can all read, not even a
    copy between two of them. `disks` are the directories of each broker that answered, failed ones
    among them, by path; `replicas` are those that it listed, future ones among them, by partition.
    """

    sizes: Mapping[int, Mapping[TopicPartition, int]]
    failed: Mapping[int, KadminError]
    usable: Mapping[int, int] = field(default_factory=dict)
    failed_dirs: Mapping[int, tuple[NotCompletedError, ...]] = field(default_factory=dict)
    empty: frozenset[int] = frozenset()
    disks: Mapping[int, tuple[Disk, ...]] = field(default_factory=dict)
    replicas: Mapping[int, tuple[DiskReplica, ...]] = field(default_factory=dict)

    @property
    def complete(self) -> Mapping[int, Mapping[TopicPartition, int]]:
        """The sizes of the brokers that can read all their directories."""
        return {
            broker: sizes for broker, sizes in self.sizes.items() if broker not in self.failed_dirs
        }
