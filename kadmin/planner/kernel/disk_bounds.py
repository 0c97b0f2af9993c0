"""Lower bounds on the moves between the disks of a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.disk_problem import bytes_by_disk
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.disk_problem import DiskProblem
    from kadmin.planner.kernel.placement_problem import Bools, Ints


def least_disk_moves(problem: DiskProblem, outside: int) -> int:
    """Return the moves that every plan needs that leaves at most `outside` bytes outside of limits.

    Replicas that must leave their disk move. Beside these, disks above their limit have to give the
    surplus, and disks below theirs lack what new replicas and those cannot bring: each takes at
    least as many moves as the largest replicas that add up to it.
    """
    forced, disks = problem.must_leave, len(problem.disks)
    stays = (problem.home != NONE) & ~forced
    size, home = problem.size[stays], problem.home[stays]
    load = bytes_by_disk(size, home, disks)
    may_move = ~problem.fixed[stays]
    surplus = np.maximum(load - problem.high, 0)
    lacking = np.maximum(problem.low - load, 0)
    if outside:
        giving = fewest(size[may_move & (surplus > 0)[home]], int(surplus.sum()) - outside)
    else:
        giving = sum(
            fewest(size[may_move & (home == disk)], int(surplus[disk]))
            for disk in np.flatnonzero(surplus).tolist()
        )
    brought = int(problem.size[~stays].sum())
    others = size[may_move & (lacking == 0)[home]]
    taking = fewest(others, int(lacking.sum()) - brought - outside)
    return int(forced.sum()) + max(giving, taking)


def fewest(sizes: Ints, wanted: int) -> int:
    """Return how many of the largest sizes [N] it takes to add up to `wanted`; all, if too few."""
    if wanted <= 0:
        return 0
    sums = np.sort(sizes)[::-1].cumsum()
    return min(int(np.searchsorted(sums, wanted)) + 1, len(sums))


def released(problem: DiskProblem) -> Bools:
    """Whether each replica has no disk to stay on: it is new, or must leave its disk, [N]."""
    return np.asarray((problem.home == NONE) | problem.must_leave)
