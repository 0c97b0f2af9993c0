"""Predicts the fill of each disk over the waves of a reassignment.

Goals: the highest fill of every disk, the wave in which it is reached, and the disks that lack
room, before one is full.
Constraints: a copy is made before the one that it replaces is removed, between brokers and between
the disks of one. A replica lands in the log directory that the plan names, else in the one with the
fewest replicas, future ones counted, whatever their bytes (Kafka's own rule); the first by path
stands for directories with equally few. Directories on one file system share its room.
Unknown never counts against a plan: brokers whose disks, or whose replicas on them, are not known
are compared by the sum of their disks.
Example: two empty disks of 10 bytes. Copies of 6 and 6 bytes go to one each, and fill 60 % of both.
Copies of 15 and 1 bytes do not fit, although their sum does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.cluster.disks import DiskState, file_systems
from kadmin.plan.directories import Directories
from kadmin.plan.disk_space import Shortage, shortages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.disks import Disk, DiskReplica
    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import PartitionTarget


@dataclass(frozen=True, slots=True)
class DiskForecast:
    """The room of a file system of a broker, of the log directories `paths`.

    `usable_bytes` are those of now, `least_bytes` the least over the waves, first in `wave` (from
    1; 0: now); negative where copies lack room. `final_bytes` are those after the last wave.
    `has_others`: the broker has disks beside it.
    """

    broker_id: int
    paths: tuple[str, ...]
    total_bytes: int | None
    usable_bytes: int
    least_bytes: int
    wave: int
    final_bytes: int
    has_others: bool = False

    @property
    def fill(self) -> float | None:
        """The used part of now."""
        return self._fill(self.usable_bytes)

    @property
    def highest_fill(self) -> float | None:
        """The highest used part over the waves; above 1 where copies lack room."""
        return self._fill(self.least_bytes)

    @property
    def final_fill(self) -> float | None:
        """The used part after the last wave."""
        return self._fill(self.final_bytes)

    def _fill(self, usable_bytes: int) -> float | None:
        return (self.total_bytes - usable_bytes) / self.total_bytes if self.total_bytes else None


@dataclass(frozen=True, slots=True)
class DiskForecasts:
    """The disks that waves write to, by broker and path, and the shortages, of sums as well."""

    disks: tuple[DiskForecast, ...] = ()
    shortages: tuple[Shortage, ...] = ()


def forecast(waves: Sequence[Sequence[PartitionTarget]], facts: ClusterFacts) -> DiskForecasts:
    """Predict every disk that gets copies in the waves.

    A partition has the larger of its size and the one on disk: the plan may be older than data.
    """
    waves = [[_as_large_as_now(target, facts) for target in wave] for wave in waves]
    receivers = {
        broker
        for wave in waves
        for target in wave
        for broker in (*target.added, *target.directories)
    }
    partitions = {target.partition for wave in waves for target in wave}
    listed = Directories.of(
        {},
        {broker: facts.replicas[broker] for broker in receivers if broker in facts.replicas},
        partitions,
    )
    brokers = {
        broker: _BrokerDisks(facts.disks[broker], facts.replicas[broker], listed, broker)
        for broker in sorted(receivers)
        if broker in facts.replicas and _has_room_known(facts.disks.get(broker, ()))
    }
    for number, wave in enumerate(waves, 1):
        for disks in brokers.values():
            disks.apply(wave, number)
    found = tuple(each for disks in brokers.values() for each in disks.forecasts())
    lacking = tuple(each for disks in brokers.values() for each in disks.shortages())
    sums = {broker: usable for broker, usable in facts.usable.items() if broker not in brokers}
    by_sum = (_in_sum(each, facts) for each in shortages(waves, sums))
    return DiskForecasts(found, tuple(sorted((*lacking, *by_sum), key=lambda each: each.broker_id)))


def _as_large_as_now(target: PartitionTarget, facts: ClusterFacts) -> PartitionTarget:
    now = facts.sizes.get(target.partition, 0)
    planned = target.size_bytes
    return target if planned is None or planned >= now else replace(target, size_bytes=now)


def _has_room_known(disks: Iterable[Disk]) -> bool:
    usable = [disk.usable_bytes for disk in disks if disk.state is not DiskState.FAILED]
    return bool(usable) and None not in usable


def _in_sum(shortage: Shortage, facts: ClusterFacts) -> Shortage:
    disks = [each for each in facts.disks.get(shortage.broker_id, ()) if each.usable_bytes]
    return Shortage(
        shortage.broker_id,
        shortage.usable_bytes,
        shortage.needed_bytes,
        shortage.partitions,
        disks=max(len(file_systems(disks)), 1),
    )


@dataclass(slots=True)
class _Room:
    """The room of one file system while waves are applied."""

    disks: tuple[Disk, ...]
    usable_bytes: int
    left: int
    least: int
    wave: int = 0
    coming: list[TopicPartition] = field(default_factory=list)
    short: tuple[TopicPartition, ...] = ()


class _BrokerDisks:
    """The disks of one broker while waves are applied."""

    def __init__(
        self,
        disks: Iterable[Disk],
        replicas: Sequence[DiskReplica],
        listed: Directories,
        broker_id: int,
    ) -> None:
        self._broker_id = broker_id
        readable = [disk for disk in disks if disk.state is not DiskState.FAILED]
        self._rooms = [_room(shared) for shared in file_systems(readable)]
        self._room_of = {disk.path: room for room in self._rooms for disk in room.disks}
        self._open = sorted(disk.path for disk in readable if disk.state is DiskState.ONLINE)
        self._count = Counter(each.path for each in replicas)
        self._at = {
            partition: (found.path, found.size_bytes)
            for partition, found in listed.replicas.get(broker_id, {}).items()
        }
        self._reserve(replicas)

    def _reserve(self, replicas: Sequence[DiskReplica]) -> None:
        """Take the bytes that copies between the disks have still to write."""
        futures = [each for each in replicas if each.is_future]
        if not futures:
            return
        sizes = {each.partition: each.size_bytes or 0 for each in replicas if not each.is_future}
        for each in futures:
            room = self._room_of.get(each.path)
            if room is not None:
                room.left -= max(sizes.get(each.partition, 0) - (each.size_bytes or 0), 0)
        for room in self._rooms:
            room.least = room.left

    def apply(self, wave: Sequence[PartitionTarget], number: int) -> None:
        """Copy a wave's replicas, then remove those that they replace."""
        released: list[tuple[str, int]] = []
        for target in wave:
            now = self._at.get(target.partition)
            if self._broker_id in target.added and now is None:
                self._land(target)
            elif self._broker_id in target.removed and now is not None:
                released.append((now[0], now[1] or target.size_bytes or 0))
                del self._at[target.partition]
            elif now is not None and (target.directories.get(self._broker_id, now[0]) != now[0]):
                size = now[1] or 0
                path = target.directories[self._broker_id]
                self._take(path, size, target.partition)
                released.append((now[0], size))
                self._at[target.partition] = path, size
        for room in self._rooms:
            if room.left < room.least:
                room.least, room.wave = room.left, number
                if room.left < 0:
                    room.short = tuple(room.coming)
        for path, size in released:
            self._count[path] -= 1
            if (room_of := self._room_of.get(path)) is not None:
                room_of.left += size

    def _land(self, target: PartitionTarget) -> None:
        named = target.directories.get(self._broker_id)
        paths = [named] if named is not None else self._open
        if not paths:
            return
        path = min(paths, key=lambda each: self._count[each])
        size = target.size_bytes or 0
        self._take(path, size, target.partition)
        self._at[target.partition] = path, size

    def _take(self, path: str, size: int, partition: TopicPartition) -> None:
        self._count[path] += 1
        if (room := self._room_of.get(path)) is not None:
            room.left -= size
            if size:
                room.coming.append(partition)

    def forecasts(self) -> Iterable[DiskForecast]:
        """Yield the file systems that get copies."""
        for room in self._rooms:
            if room.coming:
                yield DiskForecast(
                    self._broker_id,
                    tuple(disk.path for disk in room.disks),
                    room.disks[0].total_bytes,
                    room.usable_bytes,
                    room.least,
                    room.wave,
                    room.left,
                    len(self._rooms) > 1,
                )

    def shortages(self) -> Iterable[Shortage]:
        """Yield the file systems that lack room."""
        for room in self._rooms:
            if room.short:
                paths = tuple(disk.path for disk in room.disks) if len(self._rooms) > 1 else ()
                needed = room.usable_bytes - room.least
                yield Shortage(self._broker_id, room.usable_bytes, needed, room.short, paths)


def _room(shared: tuple[Disk, ...]) -> _Room:
    usable = shared[0].usable_bytes or 0
    return _Room(shared, usable, usable, usable)
