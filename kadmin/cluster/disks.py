"""The disks (log directories) of brokers, and the replicas on each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import TopicPartition


class DiskState(StrEnum):
    """The state of a log directory, as its broker describes it."""

    ONLINE = "online"
    FAILED = "failed"
    """Its broker cannot read it; its replicas are in no answer until it is repaired and the broker
    restarted."""
    CORDONED = "cordoned"
    """It takes no new replicas, and serves those that it has (KIP-1066, Kafka 4.3 and later)."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A log directory of a broker.

    `total_bytes` and `usable_bytes` are those of its file system, None where the broker gives none
    (before Kafka 3.3, and of a directory that failed).
    """

    broker_id: int
    path: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    state: DiskState = DiskState.ONLINE

    @property
    def fill(self) -> float | None:
        """The used part of its file system, 0 to 1; None where it is unknown."""
        if not self.total_bytes or self.usable_bytes is None:
            return None
        return (self.total_bytes - self.usable_bytes) / self.total_bytes

    @property
    def fill_percent(self) -> int | None:
        """The used part in percent, rounded down; None where it is unknown."""
        if not self.total_bytes or self.usable_bytes is None:
            return None
        return 100 * (self.total_bytes - self.usable_bytes) // self.total_bytes


@dataclass(frozen=True, slots=True)
class DiskReplica:
    """A replica on a disk, with the bytes of its own log segments there (None: unknown).

    A future replica is a copy that catches up with the replica in another directory of the same
    broker, which it replaces; it is `offset_lag` records behind.
    """

    partition: TopicPartition
    broker_id: int
    path: str
    size_bytes: int | None
    is_future: bool = False
    offset_lag: int = 0


DISK_FILL = 0.9
"""The part of a disk above which it counts as full."""
MOST_WRITTEN_BYTES = 64_000_000
"""What may be written to a file system between two looks at it, for one answer of a broker."""
OfBroker = TypeVar("OfBroker", Disk, DiskReplica)

_BY_PARTITION = attrgetter("partition.topic", "partition.partition", "broker_id")


def by_broker(found: Iterable[OfBroker]) -> dict[int, tuple[OfBroker, ...]]:
    """Return disks, or replicas, by the id of their broker."""
    of: dict[int, list[OfBroker]] = {}
    for each in found:
        of.setdefault(each.broker_id, []).append(each)
    return {broker: tuple(of[broker]) for broker in sorted(of)}


def current_replicas(found: Iterable[DiskReplica]) -> tuple[DiskReplica, ...]:
    """Return the replicas that are not future ones, each once, by partition and broker.

    Of one that is listed in two directories the larger copy counts: the broker is about to remove
    the other.
    """
    kept: list[DiskReplica] = []
    for each in sorted((each for each in found if not each.is_future), key=_BY_PARTITION):
        last = kept[-1] if kept else None
        if last is None or (last.broker_id, last.partition) != (each.broker_id, each.partition):
            kept.append(each)
        elif (last.size_bytes or 0) < (each.size_bytes or 0):
            kept[-1] = each
    return tuple(kept)


def file_systems(disks: Iterable[Disk]) -> tuple[tuple[Disk, ...], ...]:
    """Return the disks of one broker, those of one file system together.

    No answer names file systems. Two of the same size and with the same usable bytes, but for what
    is written while a broker looks at one after the other, are taken for one: their space then
    counts once. A disk of unknown size is on one of its own.
    """
    groups: list[list[Disk]] = []
    for disk in disks:
        shared = next((group for group in groups if _share_space(group[0], disk)), None)
        if shared is None:
            groups.append([disk])
        else:
            shared.append(disk)
    return tuple(map(tuple, groups))


def _share_space(one: Disk, other: Disk) -> bool:
    if one.total_bytes is None or one.usable_bytes is None or other.usable_bytes is None:
        return False
    return one.total_bytes == other.total_bytes and abs(
        one.usable_bytes - other.usable_bytes
    ) <= written_bytes(one.total_bytes)


def written_bytes(total_bytes: int) -> int:
    """Return the most by which two looks at one file system are taken to differ."""
    return min(MOST_WRITTEN_BYTES, total_bytes // 1000)


def usable_bytes(disks: Iterable[Disk]) -> int | None:
    """Return the bytes that a broker can write to new replicas, None where a disk gives none.

    A disk that failed or is cordoned takes none.
    """
    open_to_new = [disk for disk in disks if disk.state is DiskState.ONLINE]
    each = [shared[0].usable_bytes for shared in file_systems(open_to_new)]
    return None if None in each else sum(known or 0 for known in each)
