"""The second level of one cluster's plan: its entries' log directories, and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.plan.model.field_types import ANY_LOG_DIR
from kadmin.planner.disk_request import compile_disks
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


def log_dir_lists(
    cluster: ClusterArrays, chosen: ChosenDisks | None, lists: Ints, entries: Ints
) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return the log directories of each entry, null where it names none."""
    disks = cluster.disks
    if chosen is None or disks is None:
        return pa.nulls(len(entries), pa.list_(pa.string()))
    read = disks.readable(cluster.alive)
    names = pa.array([*(disks.paths[disk] for disk in read), ANY_LOG_DIR])
    named = chosen.named[entries]
    silent = ~any_per_row(named)
    filled = (lists[entries] != NONE) & ~silent[:, None]
    which = np.where(named, chosen.disk[entries], len(read))[filled]
    offsets = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), names.take(pa.array(which)), mask=pa.array(silent)
    )


def disk_figures(
    cluster: ClusterArrays, disks: DiskArrays, request: RebalanceRequest, chosen: ChosenDisks
) -> DiskFigures:
    """Return the figures of the disks of brokers with several."""
    read = disks.readable(cluster.alive)
    before = disks.held[read]
    counted = np.flatnonzero(~np.isnan(chosen.goal))
    goal, after = chosen.goal[counted], chosen.after[counted]
    ids = cluster.broker_ids[disks.broker[read]]
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
                path=disks.paths[read[at]],
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
