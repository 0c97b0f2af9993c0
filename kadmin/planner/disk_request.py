"""Compiles what a request and the state of disks mean for both levels of a plan.

A broker of which a disk has failed gets no replicas, and moves none between its disks: Kafka
refuses these moves, and never ends a reassignment to a broker whose failed disk held the replica.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.plan.model import FailedDisks
from kadmin.planner.cluster_arrays import MOST_BYTES, UNKNOWN
from kadmin.planner.kernel.cluster_disks import ClusterDisks
from kadmin.planner.kernel.disk_problem import BrokerDisks
from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE, bytes_on
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ClusterArrays, DiskArrays
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem


def paths_by_broker(cluster: ClusterArrays) -> dict[int, list[str]]:
    """Return the log directories of each broker by its id."""
    found: dict[int, list[str]] = {}
    if cluster.disks is not None:
        ids = cluster.broker_ids[cluster.disks.broker].tolist()
        for broker, path in zip(ids, cluster.disks.paths, strict=True):
            found.setdefault(broker, []).append(path)
    return found


def may_get_replicas(cluster: ClusterArrays, request: RebalanceRequest) -> Bools:
    """Whether the disks of each broker let it get replicas, [B]."""
    disks, brokers = cluster.disks, len(cluster.broker_ids)
    if disks is None:
        return np.ones(brokers, np.bool_)
    able = np.bincount(disks.broker[may_receive(cluster, disks, request)], minlength=brokers) > 0
    described = np.bincount(disks.broker, minlength=brokers) > 0
    return (able | ~described) & ~disks.on_failed(brokers)


def lost_replicas(cluster: ClusterArrays, request: RebalanceRequest) -> Bools:
    """Whether each replica is on a failed disk that the request moves replicas from, [P, W]."""
    if cluster.disks is None or request.disks.failed is not FailedDisks.MOVE:
        return np.zeros(cluster.replicas.shape, np.bool_)
    return cluster.disks.lost


def groups_without(
    cluster: ClusterArrays, lost: Bools, group: Ints, allowed: Bools
) -> tuple[Ints, Bools]:
    """Return groups [P] and their brokers [G, B] in which no partition uses a broker that lost it.

    `lost` is [P, W].
    """
    rows = np.flatnonzero(lost.any(axis=1))
    if not len(rows):
        return group, allowed
    barred = np.zeros((len(rows), allowed.shape[1]), np.bool_)
    for column in range(lost.shape[1]):
        here = np.flatnonzero(lost[rows, column])
        barred[here, cluster.replicas[rows[here], column]] = True
    kinds, kind = np.unique(
        np.hstack([group[rows, None], barred]).astype(np.int64), axis=0, return_inverse=True
    )
    group = group.copy()
    group[rows] = len(allowed) + kind.reshape(-1)
    return group, np.vstack([allowed, allowed[kinds[:, 0]] & (kinds[:, 1:] == 0)])


def compile_disks(
    cluster: ClusterArrays, request: RebalanceRequest, changeable: Bools
) -> ClusterDisks | None:
    """Return the disks of the second level; None where no broker has several to choose from.

    `changeable` [P]: the plan may change the partition.
    """
    disks = cluster.disks
    if disks is None or (disks.disk.size and (disks.disk == NONE).all()):
        return None
    brokers = len(cluster.broker_ids)
    number = disk_numbers(cluster, disks, request)
    first = first_directories(number)
    receiving = number[may_receive(cluster, disks, request) & (number != NONE)]
    moves_data = not (request.leaders_only or request.free is not None)
    found = ClusterDisks(
        broker=disks.broker[first],
        disks=BrokerDisks(
            weight=_weights(cluster, disks, request, number),
            room=_room(disks)[first],
            may_hold=~_named(cluster, disks, request.disks.drain)[first],
            may_receive=np.bincount(receiving, minlength=len(first)) > 0,
        ),
        disk=np.append(number, NONE)[disks.disk],
        size=np.where(disks.size == UNKNOWN, np.maximum(cluster.size, 0)[:, None], disks.size),
        movable=changeable & moves_data,
        may_move=~disks.on_failed(brokers),
        tolerance=request.disk_tolerance,
        most_moves=NO_LIMIT if request.limits.disk_moves is None else request.limits.disk_moves,
    )
    return found if found.choice.any() else None


def disk_numbers(cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest) -> Ints:
    """Return the disk of the second level of each directory, [D], NONE of one that is not read.

    Directories of one file system are one disk, but for those that are to be emptied.
    """
    read = disks.readable(cluster.alive)
    drained = _named(cluster, disks, request.disks.drain)
    # An emptied one is a disk of its own, so that its replicas may go to the others.
    own = np.where(drained, len(drained) + np.arange(len(drained)), disks.file_system)
    _, first, which = np.unique(own[read], return_index=True, return_inverse=True)
    number = np.full(len(disks.broker), NONE)
    number[read] = np.argsort(np.argsort(first))[which]
    return number


def first_directories(number: Ints) -> Ints:
    """Return the first directory of each disk."""
    read = np.flatnonzero(number != NONE)
    return np.asarray(read[np.unique(number[read], return_index=True)[1]])


def within_disks(
    cluster: ClusterArrays, request: RebalanceRequest, problem: PlacementProblem, target: Ints
) -> PlacementProblem | None:
    """Return the problem with the room of disks as capacity, None where `target` [P, W] keeps it.

    It is made where needed alone, because a capacity costs evenness. What a broker holds now fits.
    """
    disks = cluster.disks
    if disks is None or not len(disks.broker):
        return None
    brokers, now = len(cluster.broker_ids), bytes_on(problem, problem.current)
    open_ = np.unique(
        disks.file_system[~disks.failed & ~_named(cluster, disks, request.disks.drain)]
    )
    each = np.minimum(_room(disks)[open_], MOST_BYTES)
    room = np.bincount(disks.broker[open_], each.astype(np.float64), minlength=brokers)
    described = np.bincount(disks.broker, minlength=brokers) > 0
    limit = np.where(described, np.minimum(room, NO_LIMIT), NO_LIMIT).astype(np.int64)
    after = bytes_on(problem, target)
    if not ((after > limit) & (after > now)).any():
        return None
    capacity = np.minimum(problem.brokers.capacity, np.maximum(limit, now))
    return replace(problem, brokers=replace(problem.brokers, capacity=capacity))


def disk_notes(cluster: ClusterArrays) -> Iterator[str]:
    """Yield what the state of disks keeps the plan from."""
    disks = cluster.disks
    if disks is None:
        return
    failed = np.flatnonzero(disks.on_failed(len(cluster.broker_ids)))
    if len(failed):
        names = name_some(cluster.broker_ids[failed].tolist())
        yield (
            f"brokers with a failed disk get no replicas, and move none between their disks "
            f"({names})"
        )
    if alone := _only_on_failed(cluster, disks):
        yield (
            f"the only replica is on a failed disk, and its records are lost unless the disk "
            f"returns: {name_some(alone)}"
        )
    several = disks.several(len(cluster.broker_ids))
    filled = cluster.replicas != NONE
    unknown = filled & (disks.disk == NONE) & ~disks.lost & several[cluster.replicas]
    if unknown.any():
        yield (
            f"the disk of {int(unknown.sum())} replicas is not known; they stay where they are, "
            "and their bytes do not count for disks"
        )
    shared = np.unique(disks.broker[disks.file_system != np.arange(len(disks.broker))])
    if len(shared):
        names = name_some(cluster.broker_ids[shared].tolist())
        yield (
            "log directories with the same total_bytes, and nearly the same usable_bytes, seem to "
            f"share a file system: they count as one disk, on brokers {names}"
        )
    unsized = np.unique(disks.broker[(disks.total == UNKNOWN) & several[disks.broker]])
    if len(unsized):
        names = name_some(cluster.broker_ids[unsized].tolist())
        yield f"the size of disks is not known, and they count as equal, on brokers {names}"


def _only_on_failed(cluster: ClusterArrays, disks: DiskArrays) -> list[str]:
    alone = disks.lost.any(axis=1) & ((cluster.replicas != NONE).sum(axis=1) == 1)
    return [
        f"{cluster.topics[cluster.topic[at]]}-{cluster.partition[at]}"
        for at in np.flatnonzero(alone)
    ]


def may_receive(cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest) -> Bools:
    """Whether each directory may get replicas, [D]."""
    named = (request.disks.drain, request.disks.no_receive)
    closed = [_named(cluster, disks, each) for each in named]
    return ~(disks.failed | disks.cordoned | closed[0] | closed[1])


def _named(
    cluster: ClusterArrays, disks: DiskArrays, named: Mapping[int, tuple[str, ...]]
) -> Bools:
    ids = cluster.broker_ids[disks.broker].tolist()
    pairs = zip(ids, disks.paths, strict=True)
    return np.array([path in named.get(broker, ()) for broker, path in pairs], np.bool_)


def _weights(
    cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest, number: Ints
) -> Floats:
    """Return the weight of each disk: the sum of the request's for its directories, or its size.

    Those of a broker of which a size is not known are equal. `number` is the disk of each directory
    [D].
    """
    first = first_directories(number)
    unsized = np.zeros(len(cluster.broker_ids), np.bool_)
    unsized[disks.broker[~disks.failed & (disks.total <= 0)]] = True
    weight = np.where(unsized[disks.broker[first]], 1, disks.total[first]).astype(np.float64)
    for broker, given in sorted(request.disks.weights.items()):
        for disk in np.flatnonzero(cluster.broker_ids[disks.broker[first]] == broker).tolist():
            directories = np.flatnonzero(number == disk).tolist()
            weight[disk] = sum(given.get(disks.paths[each], 1.0) for each in directories)
    return weight


def _room(disks: DiskArrays) -> Ints:
    """Return the most bytes that the file system of each directory can hold, [D].

    NO_LIMIT where that is unknown.
    """
    held = np.zeros(len(disks.broker), np.int64)
    np.add.at(held, disks.file_system, disks.held)
    size = np.where(disks.total == UNKNOWN, NO_LIMIT, disks.total)
    return np.where(disks.usable == UNKNOWN, size, held[disks.file_system] + disks.usable)
