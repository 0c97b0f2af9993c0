"""Tries every disk for every replica, where a broker holds few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.disk_problem import DiskProblem
    from kadmin.planner.kernel.placement_problem import Ints

_TRIED = 2**16
"""The most choices of disks of which every one is tried."""
_FEW = 16
"""The most replicas that have two disks to choose from and not more choices than that."""


def best_of_all(problem: DiskProblem, most_moves: int) -> Ints | None:
    """Return the best disk of each replica, [N]; None where there are too many choices to try.

    The best has the fewest bytes outside of limits, then the fewest moves, then the fewest bytes
    of these, then the counts nearest to the goals.
    """
    if int((~problem.fixed).sum()) > _FEW:
        return None
    disks = problem.disks
    allowed = [
        np.flatnonzero(disks.may_receive | ((np.arange(len(disks)) == home) & disks.may_hold))
        if not fixed
        else np.array([home])
        for home, fixed in zip(problem.home.tolist(), problem.fixed.tolist(), strict=True)
    ]
    tried = 1
    for each in allowed:
        tried *= len(each)
        if tried > _TRIED:
            return None
    choice, repeated = np.arange(tried), 1
    chosen = np.zeros((tried, len(problem)), np.int64)
    load, count = (np.zeros((tried, len(disks)), np.int64) for _ in range(2))
    for replica, able in enumerate(allowed):
        chosen[:, replica] = np.resize(np.repeat(able, repeated), tried)
        load[choice, chosen[:, replica]] += problem.size[replica]
        count[choice, chosen[:, replica]] += 1
        repeated *= len(able)
    away = (chosen != problem.home) & (problem.home != NONE)
    moves, outside = away.sum(axis=1), problem.outside(load).sum(axis=1)
    uneven = np.abs(count - problem.even_counts).max(axis=1)
    ranked = np.lexsort((uneven, away @ problem.size, moves, outside, moves > most_moves))
    return np.asarray(chosen[ranked[0]])
