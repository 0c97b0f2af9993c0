"""Draws small disk problems, and solves them exactly (HiGHS, by scipy).

The optimum has the fewest bytes outside of limits, then the fewest moves between disks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from kadmin.planner.kernel.disk_problem import BrokerDisks, DiskProblem
from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

TOLERANCE = 0.05


def draw_problem(seed: int, fewest: int, most: int) -> DiskProblem:
    """Draw a broker with `fewest` to `most` replicas on two to four disks of unequal weight."""
    draw = np.random.default_rng(seed)
    disks, replicas = int(draw.integers(2, 5)), int(draw.integers(fewest, most + 1))
    size = (
        draw.choice([1, 10, 100, 1000], replicas)
        if draw.random() < 0.5
        else draw.lognormal(6, 1.5, replicas).astype(np.int64) + 1
    )
    home = (
        draw.integers(0, disks, replicas)
        if draw.random() < 0.5
        else np.minimum(draw.geometric(0.5, replicas) - 1, disks - 1)
    )
    home = np.where(draw.random(replicas) < 0.3 * draw.random(), NONE, home)
    may_hold, may_receive = np.ones(disks, np.bool_), np.ones(disks, np.bool_)
    may_hold[0] = draw.random() > 0.3
    may_receive[disks - 1] = disks == 2 or draw.random() > 0.2
    fixed = (draw.random(replicas) < 0.1 * (draw.random() < 0.3)) & (home != NONE)
    weight = draw.choice([1.0, 1.0, 2.0, 3.0], disks)
    room = np.full(disks, NO_LIMIT)
    disks_ = BrokerDisks(weight, room, may_hold, may_receive & may_hold)
    return DiskProblem.of(disks_, size.astype(np.int64), home.astype(np.int64), fixed, TOLERANCE)


def exact_disks(problem: DiskProblem) -> tuple[int, int]:
    """Return the least bytes outside of limits, and the fewest moves of a choice that has them."""
    pairs = [
        (replica, disk)
        for replica, home in enumerate(problem.home.tolist())
        for disk in range(len(problem.disks))
        if _may_be(problem, replica, home, disk)
    ]
    outside = 2 * len(problem.disks)
    rows, least, most = _rows(problem, pairs)
    whole = np.concatenate([np.ones(len(pairs)), np.zeros(outside)])
    moves = np.zeros(len(pairs) + outside)
    moves[: len(pairs)] = [problem.home[one] not in (NONE, disk) for one, disk in pairs]
    bytes_out = _solved(1 - whole, whole, rows, least, most)
    rows = np.vstack([rows, 1 - whole])
    least, most = np.append(least, -np.inf), np.append(most, bytes_out + 1e-4)
    return bytes_out, _solved(moves, whole, rows, least, most)


def _may_be(problem: DiskProblem, replica: int, home: int, disk: int) -> bool:
    if problem.fixed[replica]:
        return disk == home
    holds = disk == home and problem.disks.may_hold[disk]
    return bool(holds or problem.disks.may_receive[disk])


def _rows(problem: DiskProblem, pairs: list[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
    """Return constraints: each replica on one disk, and each disk's limits with slack."""
    disks, width = len(problem.disks), len(pairs) + 2 * len(problem.disks)
    rows = np.zeros((len(problem) + 2 * disks, width))
    least, most = np.ones(len(rows)), np.ones(len(rows))
    for at, (replica, disk) in enumerate(pairs):
        rows[replica, at] = 1
        rows[len(problem) + disk, at] = rows[len(problem) + disks + disk, at] = problem.size[
            replica
        ]
    for disk in range(disks):
        above, below = len(problem) + disk, len(problem) + disks + disk
        rows[above, len(pairs) + disk], rows[below, len(pairs) + disks + disk] = -1, 1
        least[above], most[above] = -np.inf, problem.high[disk]
        least[below], most[below] = problem.low[disk], np.inf
    return rows, least, most


def _solved(cost: Floats, whole: Floats, rows: Floats, least: Floats, most: Floats) -> int:
    found = milp(
        cost,
        constraints=LinearConstraint(rows, least, most),
        integrality=whole,
        bounds=Bounds(0, np.where(whole > 0, 1, np.inf)),
        options={"mip_rel_gap": 0},
    )
    return round(float(found.fun))


def moves_of(problem: DiskProblem, disk: Ints) -> int:
    """Count the moves between disks."""
    return int(((problem.home != NONE) & (disk != problem.home)).sum())


def allowed(problem: DiskProblem, disk: Ints) -> Bools:
    """Whether each replica may be on its disk."""
    return np.array(
        [
            _may_be(problem, replica, home, at)
            for replica, (home, at) in enumerate(
                zip(problem.home.tolist(), disk.tolist(), strict=True)
            )
        ]
    )
