"""Finds disks that failed, are full or unevenly full, or are gone, and copies between disks.

Goals: each failed disk with the replicas that it may have held; disks that will be full; brokers
whose disks differ much; log directories that an earlier snapshot has and their broker does not;
copies between disks of a broker.
Constraints: a failed directory lists nothing, so that its replicas are those of the broker that no
other directory lists. Fill is that of a file system, which log directories may share. A disk that
its broker does not report the size of is neither full nor uneven.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.disks import DISK_FILL, DiskState, file_systems
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command
from kadmin.plan.units import readable_size
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.disks import Disk, DiskReplica
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import ClusterState

UNEVEN = 0.2
"""The difference in fill between two disks of a broker above which they are uneven."""
_WORTH_NAMING = 0.5
"""The fill of the fullest disk of a broker below which uneven disks are no trouble."""
_SHOWN = 10
_NO_OTHER_REPLICA = "these had no other replica, and may be empty now without an error"


@dataclass(frozen=True, slots=True)
class EarlierDisks:
    """The disks of an earlier snapshot, and the replicas on them, by broker.

    `source` names it, with the time at which it was taken.
    """

    source: str
    cluster_id: str | None
    disks: Mapping[int, Sequence[Disk]]
    replicas: Mapping[int, Sequence[DiskReplica]]


def disk_troubles(
    state: ClusterState, found: LogDirs, earlier: EarlierDisks | None = None, znode: str = ""
) -> Iterator[Finding]:
    """Find troubles of the disks of live brokers; none of them stops an apply."""
    yield from _failed(state, found, znode)
    if earlier is not None and not of_another_cluster(state, earlier):
        yield from _removed(state, found, earlier, znode)
    yield from _full(found, znode)
    yield from _uneven(found, znode)
    yield from _copies(state, found, znode)


def of_another_cluster(state: ClusterState, earlier: EarlierDisks | None) -> tuple[str, ...]:
    """Return why an earlier snapshot cannot be compared with the cluster, nothing where it can."""
    if earlier is None or earlier.cluster_id in {None, state.cluster_id}:
        return ()
    return (f"log directories that brokers had before: {earlier.source} is of another cluster",)


def _failed(state: ClusterState, found: LogDirs, znode: str) -> Iterator[Finding]:
    for broker, disks in found.disks.items():
        failed = [disk for disk in disks if disk.state is DiskState.FAILED]
        if not failed:
            continue
        listed = found.sizes.get(broker, {})
        missing = [
            each
            for each, replicas in sorted(state.assignment.items())
            if broker in replicas and each not in listed
        ]
        alone = [each for each in missing if state.replicas(each) == (broker,)]
        yield Finding(
            Trouble.FAILED_DISK,
            f"Broker {broker} cannot read log directories of its own: "
            f"{name_some(disk.path for disk in failed)}.",
            "repair the disk and restart the broker: it reads a failed directory again only when "
            "it starts",
            severity="warning",
            znode=znode,
            evidence=(
                f"replicas in no directory that it can read ({len(missing)}): {name_some(missing)}",
                *((f"no other replica has the records of: {name_some(alone)}",) if alone else ()),
            ),
        )


def _removed(
    state: ClusterState, found: LogDirs, earlier: EarlierDisks, znode: str
) -> Iterator[Finding]:
    for broker in sorted(found.disks.keys() & earlier.disks.keys() & state.brokers.keys()):
        paths = {disk.path for disk in found.disks[broker]}
        for disk in earlier.disks[broker]:
            if disk.path not in paths:
                yield _removed_disk(state, disk, earlier, znode)


def _removed_disk(state: ClusterState, disk: Disk, earlier: EarlierDisks, znode: str) -> Finding:
    held = [each for each in earlier.replicas.get(disk.broker_id, ()) if each.path == disk.path]
    alone = [each.partition for each in held if state.replicas(each.partition) == (disk.broker_id,)]
    return Finding(
        Trouble.REMOVED_DISK,
        f"Broker {disk.broker_id} has no log directory {disk.path} any more, which it had before.",
        "if that was meant, take a new snapshot: " + command("snapshot", "--out", "DIR"),
        severity="warning",
        znode=znode,
        evidence=(
            f"{earlier.source}: it had {count(len(held), 'replica')}",
            *((f"{_NO_OTHER_REPLICA}: {name_some(alone)}",) if alone else ()),
        ),
    )


def _full(found: LogDirs, znode: str) -> Iterator[Finding]:
    full = [
        each for disks in found.disks.values() for each in _by_fill(disks) if each.fill >= DISK_FILL
    ]
    if full:
        full.sort(key=lambda each: -each.fill)
        yield Finding(
            Trouble.FULL_DISK,
            f"Disks are at least {100 * DISK_FILL:.0f} % full: "
            f"{name_some(f'{each.paths} of broker {each.disk.broker_id}' for each in full)}.",
            "make room, for the first write that fails takes the whole directory away: "
            + command("inspect disks", "--sort", "-fill_percent"),
            severity="warning",
            znode=znode,
            evidence=tuple(f"broker {each.disk.broker_id}: {each}" for each in full[:_SHOWN]),
        )


def _uneven(found: LogDirs, znode: str) -> Iterator[Finding]:
    uneven: dict[int, list[_Filled]] = {}
    for broker, disks in found.disks.items():
        filled = _by_fill(disk for disk in disks if disk.state is DiskState.ONLINE)
        if filled and filled[0].fill >= max(_WORTH_NAMING, filled[-1].fill + UNEVEN):
            uneven[broker] = filled
    if uneven:
        yield Finding(
            Trouble.UNEVEN_DISKS,
            f"Disks of one broker are unevenly full: {brokers_in_words(uneven)}.",
            command("inspect disks"),
            severity="warning",
            znode=znode,
            evidence=tuple(
                f"broker {broker}: {', '.join(map(str, filled))}"
                for broker, filled in list(uneven.items())[:_SHOWN]
            ),
        )


@dataclass(frozen=True, slots=True)
class _Filled:
    """A file system of a broker, whose size is known, with one of its log directories."""

    disk: Disk
    paths: str
    fill: float

    def __str__(self) -> str:
        left = readable_size(self.disk.usable_bytes or 0)
        return f"{self.paths} {self.disk.fill_percent} %, {left} left"


def _by_fill(disks: Iterable[Disk]) -> list[_Filled]:
    """Return the file systems of a broker, the fullest first."""
    found = [
        _Filled(group[0], " and ".join(disk.path for disk in group), group[0].fill)
        for group in file_systems(disks)
        if group[0].fill is not None
    ]
    return sorted(found, key=lambda each: -each.fill)


def _copies(state: ClusterState, found: LogDirs, znode: str) -> Iterator[Finding]:
    coming = [each for replicas in found.replicas.values() for each in replicas if each.is_future]
    if coming:
        concerned = {(each.partition, each.broker_id) for each in coming}
        current = {
            key: each
            for replicas in found.replicas.values()
            for each in replicas
            if not each.is_future and (key := (each.partition, each.broker_id)) in concerned
        }
        yield Finding(
            Trouble.FUTURE_REPLICAS,
            f"{count(len(coming), 'replica')} copied between log directories of one broker: "
            f"{name_some(each.partition for each in coming)}.",
            "wait until they are done: " + command("inspect disks"),
            severity="warning",
            znode=znode,
            evidence=tuple(
                _copy(each, current.get((each.partition, each.broker_id)), state)
                for each in coming[:_SHOWN]
            ),
        )


def _copy(future: DiskReplica, current: DiskReplica | None, state: ClusterState) -> str:
    where = f"{future.partition} on broker {future.broker_id}"
    size = readable_size(future.size_bytes or 0)
    if current is None or future.broker_id not in (state.replicas(future.partition) or ()):
        return f"{where}: left in {future.path}, {size}: the broker holds no replica to copy"
    return (
        f"{where}: from {current.path} to {future.path}, {size} of "
        f"{readable_size(current.size_bytes or 0)}, {count(future.offset_lag, 'record')} behind"
    )
