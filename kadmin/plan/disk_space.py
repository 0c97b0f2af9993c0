"""Checks that the copies of a reassignment fit on the disks of the brokers that receive them.

Goals: which brokers lack room, how many bytes they need, and for which partitions, before a disk is
full.
Constraints: copies are made before the ones that they replace are removed, so a wave makes room for
later waves only. Unknown never counts against a plan: a copy of unknown size needs nothing, and a
broker that gives one away is not short of room afterwards.
Example: broker 3 can write 10 bytes. A wave brings it 6, the next one takes 4 away and brings 7: it
needs 13.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.plan.units import readable_size
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import PartitionTarget


@dataclass(frozen=True, slots=True)
class Shortage:
    """A broker without disk space for its copies.

    It has the most bytes that it needs at one time, and the partitions. `paths` are the log
    directories on the disk that is short; empty for a broker as a whole, whose room is the sum of
    so many `disks`.
    """

    broker_id: int
    usable_bytes: int
    needed_bytes: int
    partitions: tuple[TopicPartition, ...]
    paths: tuple[str, ...] = ()
    disks: int = 1

    def __str__(self) -> str:
        disk_space, lacking = (
            readable_size(self.usable_bytes),
            readable_size(self.needed_bytes - self.usable_bytes),
        )
        names = name_some(self.partitions)
        where = f"{name_some(self.paths)} of broker" if self.paths else "broker"
        total = f" (sum of {self.disks} disks)" if self.disks > 1 else ""
        return (
            f"{where} {self.broker_id} has room for {disk_space}{total}, {lacking} less than the "
            f"copies of {names} need"
        )


def shortages(
    waves: Sequence[Sequence[PartitionTarget]], usable: Mapping[int, int | None]
) -> tuple[Shortage, ...]:
    """Return the brokers that lack room for waves still to come, by id.

    `usable` are the bytes that each broker can still write; one whose room is unknown is never
    among them.
    """
    disk_space = {broker: bytes_ for broker, bytes_ in usable.items() if bytes_ is not None}
    needed: Counter[int] = Counter()
    coming: defaultdict[int, list[TopicPartition]] = defaultdict(list)
    found: dict[int, Shortage] = {}
    never_short: set[int] = set()
    for wave in waves:
        for target in wave:
            for broker in target.added if target.size_bytes else ():
                needed[broker] += target.size_bytes or 0
                coming[broker].append(target.partition)
        for broker in sorted(set(disk_space) - never_short):
            most = found[broker].needed_bytes if broker in found else disk_space[broker]
            if needed[broker] > most:
                found[broker] = Shortage(
                    broker, disk_space[broker], needed[broker], tuple(coming[broker])
                )
        for target in wave:
            if target.size_bytes is None:
                never_short.update(target.removed)
            else:
                needed.subtract(dict.fromkeys(target.removed, target.size_bytes))
    return tuple(found[broker] for broker in sorted(found))
