"""Puts disks under small clusters, and applies the log directories of a plan to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from support.planner.small_clusters import applied

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from support.planner.small_clusters import Proposed

    from kadmin.inventory import ClusterInventory

PATHS = ("/d0", "/d1", "/d2", "/d3")
SHARED = 0.3
SIZES = (4 * 10**12, 2 * 10**12, 4 * 10**12, 8 * 10**12)


def with_disks(cluster: ClusterInventory, seed: int, most: int = 4) -> ClusterInventory:
    """Return the cluster with one to `most` disks of unequal sizes under each broker.

    The first two are one file system now and then.
    """
    draw = np.random.default_rng(seed)
    disks, replicas = list[Disk](), list[DiskReplica]()
    for broker in cluster.brokers:
        paths = PATHS[: int(draw.integers(1, most + 1))]
        skew = draw.uniform(0.1, 1.0, len(paths))
        shared = draw.random() < SHARED
        for at, path in enumerate(paths):
            like = 0 if at == 1 and shared else at
            disks.append(Disk(broker.broker_id, path, SIZES[like], SIZES[like] // 2 - like))
        for row in cluster.partitions:
            if broker.broker_id in row.replicas:
                path = paths[int(draw.choice(len(paths), p=skew / skew.sum()))]
                partition = TopicPartition(row.topic, row.partition)
                replicas.append(DiskReplica(partition, broker.broker_id, path, row.size_bytes))
    return replace(cluster, disks=tuple(disks), replicas=tuple(replicas))


def fail(cluster: ClusterInventory, broker: int, path: str) -> ClusterInventory:
    """Return the cluster with a failed disk, whose replicas are in no answer."""
    disks = tuple(
        replace(each, state=DiskState.FAILED, total_bytes=None, usable_bytes=None)
        if (each.broker_id, each.path) == (broker, path)
        else each
        for each in cluster.disks
    )
    replicas = tuple(
        each for each in cluster.replicas if (each.broker_id, each.path) != (broker, path)
    )
    return replace(cluster, disks=disks, replicas=replicas)


def places(cluster: ClusterInventory) -> dict[tuple[str, int, int], str]:
    """Return the log directory of each replica."""
    return {
        (each.partition.topic, each.partition.partition, each.broker_id): each.path
        for each in cluster.replicas
    }


def disks_applied(cluster: ClusterInventory, proposed: Proposed) -> ClusterInventory:
    """Return the cluster when the plan is done.

    A replica whose directory is not named stays, or is on the only disk of its broker.
    """
    after, before = applied(cluster, proposed), places(cluster)
    paths = paths_of(cluster)
    sizes = {(each.topic, each.partition): each.size_bytes for each in cluster.partitions}
    replicas = []
    for row in after.partitions:
        key = (row.topic, row.partition)
        named = proposed.log_dirs.get(key) or ["any"] * len(row.replicas)
        for broker, path in zip(row.replicas, named, strict=True):
            here = before.get((*key, broker)) if path == "any" else path
            if here is None and len(paths[broker]) == 1:
                here = paths[broker][0]
            if here is not None:
                replicas.append(DiskReplica(TopicPartition(*key), broker, here, sizes[key]))
    return replace(after, replicas=tuple(replicas))


def paths_of(cluster: ClusterInventory) -> Mapping[int, Sequence[str]]:
    """Return the paths of each broker's disks."""
    found: dict[int, list[str]] = {row.broker_id: [] for row in cluster.brokers}
    for disk in cluster.disks:
        found.setdefault(disk.broker_id, []).append(disk.path)
    return found
