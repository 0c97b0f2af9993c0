"""The second level of one cluster's plan: its entries' log directories, and its figures."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.plan.model.field_types import ANY_LOG_DIR
from kadmin.planner.disk_request import (
    compile_disks,
    disk_numbers,
    first_directories,
    may_receive,
)
from kadmin.planner.figures import DiskBytes, DiskFigures
from kadmin.planner.kernel.cluster_disks import choose_all_disks
from kadmin.planner.kernel.placement_problem import NONE, any_per_row

if TYPE_CHECKING:
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ClusterArrays, DiskArrays
    from kadmin.planner.compiled_request import CompiledRequest
    from kadmin.planner.kernel.cluster_disks import ChosenDisks
    from kadmin.planner.kernel.placement_problem import Floats, Ints

_DIGITS = 6


def chosen_disks(
    cluster: ClusterArrays, request: RebalanceRequest, compiled: CompiledRequest, final: Ints
) -> ChosenDisks | None:
    """Return the disks of the replicas of lists `final` [P, W]; None where no broker has several.

    Raises NoPlanError as choose_all_disks.
    """
    disks = compile_disks(cluster, request, compiled.changeable)
    return None if disks is None else choose_all_disks(disks, compiled.problem, final)


def inside_alone(chosen: ChosenDisks, entries: Ints) -> Ints:
    """Return the partitions of which replicas move between disks alone, most bytes first.

    `entries` are those whose lists change.
    """
    others = any_per_row(chosen.moved)
    others[entries] = False
    found = np.flatnonzero(others)
    moved = np.where(chosen.moved[found], chosen.size[found], 0).sum(axis=1)
    return found[np.argsort(-moved, kind="stable")]


def named_directories(
    cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest, chosen: ChosenDisks
) -> Ints:
    """Return the directory of each replica that the plan names, [P, W], NONE of others.

    Of several on the chosen disk, it is one with the fewest replicas.
    """
    number = disk_numbers(cluster, disks, request)
    able = np.flatnonzero((number != NONE) & may_receive(cluster, disks, request))
    some = np.full(int(number.max()) + 1, NONE)
    some[number[able[::-1]]] = able[::-1]
    found = np.where(chosen.named, some[chosen.disk], NONE)
    held = np.bincount(disks.disk[disks.disk != NONE], minlength=len(number))
    several = np.flatnonzero(np.bincount(number[able]) > 1)
    for disk in several.tolist():
        directories = able[number[able] == disk]
        counts = [(int(held[at]), int(at)) for at in directories]
        heapify(counts)
        for place in np.flatnonzero(chosen.named & (chosen.disk == disk)).tolist():
            count, found.flat[place] = counts[0]
            heapreplace(counts, (count + 1, counts[0][1]))
    return found


def log_dir_lists(
    cluster: ClusterArrays,
    request: RebalanceRequest,
    chosen: ChosenDisks | None,
    lists: Ints,
    entries: Ints,
) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return the log directories of each entry, null where it names none."""
    disks = cluster.disks
    if chosen is None or disks is None:
        return pa.nulls(len(entries), pa.list_(pa.string()))
    directories = named_directories(cluster, disks, request, chosen)
    names = pa.array([*disks.paths, ANY_LOG_DIR])
    named = directories[entries] != NONE
    silent = ~any_per_row(named)
    filled = (lists[entries] != NONE) & ~silent[:, None]
    which = np.where(named, directories[entries], len(disks.paths))[filled]
    offsets = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), names.take(pa.array(which)), mask=pa.array(silent)
    )


def disk_figures(
    cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest, chosen: ChosenDisks
) -> DiskFigures:
    """Return the figures of the disks of brokers with several."""
    number = disk_numbers(cluster, disks, request)
    read = np.flatnonzero(number != NONE)
    before = np.zeros(len(chosen.goal), np.int64)
    np.add.at(before, number[read], disks.held[read])
    counted = np.flatnonzero(~np.isnan(chosen.goal))
    goal, after = chosen.goal[counted], chosen.after[counted]
    paths: list[list[str]] = [[] for _ in chosen.goal]
    for at in read.tolist():
        paths[number[at]].append(disks.paths[at])
    ids = cluster.broker_ids[disks.broker[first_directories(number)]]
    limited = request.limits.disk_moves is not None and chosen.moves >= request.limits.disk_moves
    return DiskFigures(
        moves=chosen.moves,
        moves_bound=None if limited else chosen.bound,
        proved_fewest=not limited and chosen.moves == chosen.bound,
        moved_bytes=chosen.moved_bytes,
        before=_most_over(before[counted], goal),
        after=_most_over(after, goal),
        outside=int((np.abs(after - goal) > np.ceil(request.disk_tolerance * goal)).sum()),
        disks=tuple(
            DiskBytes(
                broker_id=int(ids[at]),
                path=paths[at][0],
                shared_with=tuple(paths[at][1:]),
                before=int(before[at]),
                after=int(chosen.after[at]),
                part=round(float(chosen.goal[at])),
            )
            for at in counted.tolist()
        ),
    )


def _most_over(load: Ints, goal: Floats) -> float | None:
    parts = goal > 0
    return round(float((load[parts] / goal[parts]).max()), _DIGITS) if parts.any() else None
