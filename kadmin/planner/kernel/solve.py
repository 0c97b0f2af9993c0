"""From the question to the answer: releases, counts, bytes, leaders, order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.augment import augment
from kadmin.planner.kernel.bounds import LeastMoves, added, least_moves
from kadmin.planner.kernel.cycles import cancel_cycles
from kadmin.planner.kernel.fill import fill
from kadmin.planner.kernel.leaders import choose_leaders
from kadmin.planner.kernel.order import order_alone
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.problem import NONE, ObstacleError, Solution
from kadmin.planner.kernel.releases import release
from kadmin.planner.kernel.sizes import even_sizes
from kadmin.planner.kernel.succession import order_lists
from kadmin.planner.kernel.topic_group import TopicGroup, shares
from kadmin.planner.kernel.topics import spread_topics

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Ints, Problem


PASSES = 8
"""After so many passes the last answer counts; almost every problem is settled after the first."""


def solve(problem: Problem) -> Solution:
    """Return the target lists; the same problem always gives the same lists.

    The answer is asked for again with itself as the cluster, until that changes nothing: so a second run on the result
    proposes nothing. Raises ObstacleError where no plan can satisfy the problem, or none was found.
    """
    solution = _solve_once(problem, least_moves(problem))
    for _ in range(PASSES):
        settled = replace(problem, current=solution.target, start=solution.target)
        again = _solve_once(settled, LeastMoves(0, 0))
        if np.array_equal(again.target, solution.target):
            break
        solution = replace(again, bound=solution.bound, proved=solution.proved)
    return solution


def _solve_once(problem: Problem, least: LeastMoves) -> Solution:
    placement = Placement(problem)
    counted = _place(placement, least)
    free = ~order_alone(problem, placement.slots)
    leader = choose_leaders(problem, placement.slots, free)
    target = order_lists(problem, placement.slots, leader, free)
    return Solution(target, counted.quota, counted.bound, counted.proved)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The quotas, a bound on moves, and whether both are proved to be the best there are."""

    quota: Ints
    bound: int
    proved: bool


def _place(placement: Placement, least: LeastMoves) -> _Counted:
    problem = placement.problem
    if problem.leaders_only:
        return _Counted(placement.count.copy(), least.by_quotas, proved=True)
    release(placement)
    quota, placed = placement.count.copy(), list[TopicGroup]()
    for share in shares(placement):
        fill(share)
        augment(share)
        quota = share.others + share.quota
        placed.append(share)
    alone = len(placed) <= 1
    proved = cancel_cycles(placement, quota, least.by_quotas if alone else NONE)
    bound = least.by_quotas if alone and np.array_equal(placement.count, quota) else least.by_rules
    bound = int(added(problem, placement.slots).sum()) if proved else bound
    for share in placed if alone else shares(placement):
        spread_topics(share)
        even_sizes(share)
    overfull = np.flatnonzero(placement.load > problem.brokers.capacity)
    if overfull.size:
        raise ObstacleError("no plan was found that keeps every broker within its capacity_bytes", brokers=overfull)
    return _Counted(quota, bound, proved)
