"""Converts one cluster's tables of disks and of replicas on them, as Arrow, into numpy arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.cluster.disks import Disk, DiskState, file_systems, written_bytes
from kadmin.planner.cluster_arrays import UNKNOWN, DiskArrays, ints
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.cluster_arrays import ArrowTable, ClusterArrays
    from kadmin.planner.kernel.placement_problem import Ints


def with_disks(cluster: ClusterArrays, disks: ArrowTable, replicas: ArrowTable) -> ClusterArrays:
    """Return the cluster with its disks; without rows of disks, as it is.

    The tables must be valid. Partitions whose live replicas are all on failed disks have no source.
    """
    known = np.isin(ints(disks.column("broker_id")), cluster.broker_ids)
    rows = disks.filter(known).sort_by([("broker_id", "ascending"), ("path", "ascending")])
    if not len(rows):
        return cluster
    broker = np.searchsorted(cluster.broker_ids, ints(rows.column("broker_id")))
    states = np.array(rows.column("state").to_pylist(), object)
    found = DiskArrays(
        broker=broker,
        paths=tuple(rows.column("path").to_pylist()),
        failed=states == DiskState.FAILED,
        cordoned=states == DiskState.CORDONED,
        total=ints(rows.column("total_bytes")),
        usable=ints(rows.column("usable_bytes")),
        file_system=np.arange(len(rows)),
        disk=np.full(cluster.replicas.shape, NONE),
        size=np.full(cluster.replicas.shape, UNKNOWN),
        lost=np.zeros(cluster.replicas.shape, np.bool_),
    )
    if not len(replicas):
        return replace(cluster, disks=_on_file_systems(found))
    _place(found, cluster, replicas)
    found = _on_file_systems(found)
    filled = cluster.replicas != NONE
    on_failed = found.on_failed(len(cluster.broker_ids))[cluster.replicas]
    found.lost[:] = filled & (found.disk == NONE) & on_failed
    readable = filled & cluster.alive[cluster.replicas] & ~found.lost
    gone = found.lost.any(axis=1) & ~readable.any(axis=1)
    return replace(cluster, disks=found, without_source=cluster.without_source | gone)


def _on_file_systems(found: DiskArrays) -> DiskArrays:
    """Return the directories with those of one file system together.

    Two that hold about the same bytes are taken for equal disks, each with its part of the room:
    nothing tells these from one file system.
    """
    file_system, usable, held = found.file_system.copy(), found.usable.copy(), found.held
    read = np.flatnonzero(~found.failed)
    for broker in np.unique(found.broker[read]).tolist():
        here = read[found.broker[read] == broker].tolist()
        place = {found.paths[at]: at for at in here}
        for shared in file_systems(_disk(found, at) for at in here):
            at = [place[disk.path] for disk in shared]
            if np.ptp(held[at]) > written_bytes(int(found.total[at[0]])):
                file_system[at] = at[0]
            elif len(at) > 1:
                usable[at] //= len(at)
    return replace(found, file_system=file_system, usable=usable)


def _disk(found: DiskArrays, at: int) -> Disk:
    total, usable = (
        None if each[at] == UNKNOWN else int(each[at]) for each in (found.total, found.usable)
    )
    return Disk(int(found.broker[at]), found.paths[at], total, usable)


def _place(found: DiskArrays, cluster: ClusterArrays, replicas: ArrowTable) -> None:
    """Fill in `disk` and `size`; rows of what the cluster does not have are left out."""
    partition = _partitions(cluster, replicas)
    ids = ints(replicas.column("broker_id"))
    broker = np.searchsorted(cluster.broker_ids, ids)
    broker[broker == len(cluster.broker_ids)] = 0
    disk = np.where(cluster.broker_ids[broker] == ids, _disks(found, broker, replicas), NONE)
    size = ints(replicas.column("size_bytes"))
    rows = np.flatnonzero((partition != NONE) & (disk != NONE))
    for column, held in enumerate(cluster.replicas.T):
        here = rows[held[partition[rows]] == broker[rows]]
        found.disk[partition[here], column] = disk[here]
        found.size[partition[here], column] = size[here]


def _partitions(cluster: ClusterArrays, replicas: ArrowTable) -> Ints:
    """Return the index of the partition of each row, NONE of one that the cluster does not have."""
    encoded = replicas.column("topic").combine_chunks().dictionary_encode()
    rank = {name: at for at, name in enumerate(cluster.topics)}
    topics = np.array([rank.get(name, NONE) for name in encoded.dictionary.to_pylist()], np.int64)
    topic, number = topics[ints(encoded.indices)], ints(replicas.column("partition"))
    span = 1 + max(int(number.max(initial=0)), int(cluster.partition.max(initial=0)))
    keys, wanted = cluster.topic * span + cluster.partition, topic * span + number
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where((topic != NONE) & (keys[at] == wanted), at, NONE) if len(keys) else at + NONE


def _disks(found: DiskArrays, broker: Ints, replicas: ArrowTable) -> Ints:
    """Return the disk of each row, NONE of one that its broker does not have."""
    encoded = replicas.column("path").combine_chunks().dictionary_encode()
    number = {path: at for at, path in enumerate(encoded.dictionary.to_pylist())}
    by_key = {
        (at, number[path]): disk
        for disk, (at, path) in enumerate(zip(found.broker.tolist(), found.paths, strict=True))
        if path in number
    }
    keys = broker * len(number) + ints(encoded.indices)
    table = np.full(int(keys.max()) + 1, NONE)
    for (at, path), disk in by_key.items():
        if (key := at * len(number) + path) < len(table):
            table[key] = disk
    return np.asarray(table[keys])
