"""The log directories that a plan names, compared with those in which the replicas are.

A replica that its broker does not have yet gets the directory that was asked for before it came,
unless the broker was restarted since: then, as without a request, the one with the fewest
partitions. A replica that is in another one is moved: a future replica catches up with it, and
replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.disks import DiskState, current_replicas

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kadmin.cluster.disks import Disk, DiskReplica
    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import PartitionTarget

    Listed: TypeAlias = Mapping[int, Mapping[TopicPartition, DiskReplica]]
    FirstDirectories: TypeAlias = Mapping[TopicPartition, Mapping[int, str]]
    """The log directories of partitions' replicas, by broker."""


class DirectoryPlace(StrEnum):
    """The place of a replica that is to be in a log directory."""

    THERE = "there"
    """In the directory, and not about to leave it."""
    MOVING = "moving"
    """In another one, and copied to it."""
    ELSEWHERE = "elsewhere"
    """In another one, or copied to another one."""
    ABSENT = "absent"
    """The broker lists no such replica: it has none yet, or has it in a directory that failed."""
    UNKNOWN = "unknown"
    """The broker did not describe its directories."""


@dataclass(frozen=True, slots=True)
class DiskMove:
    """A replica that is to be in `path`; `source` is where it is, None where it is not there yet.

    `size_bytes` are those that are copied between directories of the broker, None where unknown.
    """

    partition: TopicPartition
    broker_id: int
    path: str
    source: str | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Directories:
    """The disks of brokers, and partitions' replicas and future replicas on them.

    A broker that did not describe them is in none of the mappings.
    """

    disks: Mapping[int, tuple[Disk, ...]] = field(default_factory=dict)
    replicas: Listed = field(default_factory=dict)
    futures: Listed = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        disks: Mapping[int, tuple[Disk, ...]],
        replicas: Mapping[int, Iterable[DiskReplica]],
        partitions: Collection[TopicPartition],
    ) -> Directories:
        """Return the replicas of these partitions among those that brokers listed."""
        asked = frozenset(partitions)
        listed = {
            broker: [each for each in found if each.partition in asked] if asked else []
            for broker, found in replicas.items()
        }
        return cls(
            disks,
            {
                broker: {each.partition: each for each in current_replicas(found)}
                for broker, found in listed.items()
            },
            {
                broker: {each.partition: each for each in found if each.is_future}
                for broker, found in listed.items()
            },
        )

    def present(self, partition: TopicPartition, broker: int) -> str | None:
        """Return the directory of a replica; None where it is not there, or not known."""
        found = self.replicas.get(broker, {}).get(partition)
        return None if found is None else found.path

    def future(self, partition: TopicPartition, broker: int) -> DiskReplica | None:
        """Return the copy that is to replace a replica, None where there is none."""
        return self.futures.get(broker, {}).get(partition)

    def placement(self, partition: TopicPartition, broker: int, path: str) -> DirectoryPlace:
        """Compare the place of a replica with the directory in which it is to be."""
        if broker not in self.replicas:
            return DirectoryPlace.UNKNOWN
        present, future = self.present(partition, broker), self.future(partition, broker)
        if present is None:
            return DirectoryPlace.ABSENT
        if future is not None:
            return DirectoryPlace.MOVING if future.path == path else DirectoryPlace.ELSEWHERE
        return DirectoryPlace.THERE if present == path else DirectoryPlace.ELSEWHERE

    def failed(self, broker: int) -> tuple[str, ...]:
        """Return the directories that a broker cannot read."""
        found = self.disks.get(broker, ())
        return tuple(each.path for each in found if each.state is DiskState.FAILED)


def placements(
    target: PartitionTarget, found: Directories
) -> Iterator[tuple[int, str, DirectoryPlace]]:
    """Yield each broker for which a target names a directory, with it and the replica's place."""
    for broker, path in target.directories.items():
        yield broker, path, found.placement(target.partition, broker, path)


def is_placed(target: PartitionTarget, found: Directories) -> bool:
    """Whether every replica is in the directory that its target names; unknown is not."""
    return all(place is DirectoryPlace.THERE for _, _, place in placements(target, found))


def disk_moves(targets: Iterable[PartitionTarget], found: Directories) -> tuple[DiskMove, ...]:
    """Return the replicas that are not in the directory that their target names, in order."""
    moves = []
    for target in targets:
        for broker, path, place in placements(target, found):
            if place is not DirectoryPlace.THERE:
                replica = found.replicas.get(broker, {}).get(target.partition)
                moves.append(
                    DiskMove(target.partition, broker, path)
                    if replica is None
                    else DiskMove(target.partition, broker, path, replica.path, replica.size_bytes)
                )
    return tuple(moves)


def first_directories(
    targets: Iterable[PartitionTarget], found: Directories
) -> dict[TopicPartition, dict[int, str]]:
    """Return the directory of every present replica of targets, by partition and broker."""
    first = {
        target.partition: {
            broker: path
            for broker in target.current or ()
            if (path := found.present(target.partition, broker)) is not None
        }
        for target in targets
    }
    return {partition: paths for partition, paths in first.items() if paths}
