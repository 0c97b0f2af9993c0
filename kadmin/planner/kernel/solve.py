"""Solves a placement problem: removals, replica counts, moves, topics, bytes, leaders, list order.

The steps follow the order of the objectives; no later step undoes an earlier one's goal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.augmenting_paths import augment
from kadmin.planner.kernel.bounds import LeastMoves, least_moves
from kadmin.planner.kernel.byte_balance import balance_bytes
from kadmin.planner.kernel.direct_moves import place_directly
from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.leader_ways import open_ways
from kadmin.planner.kernel.leaders import (
    balance_bytes_of_leaders,
    even_leaders,
    leaders_within_one,
)
from kadmin.planner.kernel.load_over_time import even_out_load, leader_changes, moves
from kadmin.planner.kernel.mandatory_removals import remove_replicas
from kadmin.planner.kernel.negative_cycles import cancel_negative_cycles
from kadmin.planner.kernel.next_leaders import order_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import NONE, Solution
from kadmin.planner.kernel.topic_group import TopicGroup, topic_groups
from kadmin.planner.kernel.topic_leaders import spread_leaders
from kadmin.planner.kernel.topic_spread import spread_topics

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem


PASSES = 8
"""The most passes; almost every problem is settled after the first."""


def solve(problem: PlacementProblem) -> Solution:
    """Return the target assignment; the same problem always gives the same one.

    The plan is made without load first. Where load is known, replicas and leaders are then
    exchanged within its budget. The result is solved again as the current assignment until nothing
    changes, so that a second run on the result proposes nothing. Raises NoPlanError where no plan
    satisfies the problem, or none was found.
    """
    even = _settled(problem, _solve_once(problem, least_moves(problem)))
    if problem.load is None:
        return even
    solution = _settled(
        problem, replace(even, target=even_out_load(problem, problem.load, even.target))
    )
    ends, begins = solution.target, even.target
    return replace(
        solution,
        extra_moves=max(moves(problem, ends) - moves(problem, begins), 0),
        extra_leader_changes=max(
            leader_changes(problem, ends[:, 0]) - leader_changes(problem, begins[:, 0]), 0
        ),
    )


def _settled(problem: PlacementProblem, solution: Solution) -> Solution:
    for _ in range(PASSES):
        settled = replace(problem, current=solution.target, start=solution.target)
        again = _solve_once(settled, LeastMoves(0, 0))
        if np.array_equal(again.target, solution.target):
            break
        solution = replace(again, bound=solution.bound, proved=solution.proved)
    return solution


def _solve_once(problem: PlacementProblem, least: LeastMoves) -> Solution:
    placement = Placement(problem)
    counted = _place(placement, least)
    free = ~reorders_only(problem, placement.slots)
    leader = even_leaders(problem, placement.slots, free)
    if not problem.leaders_only and not leaders_within_one(problem, leader):
        leader = open_ways(placement, leader)
        free = ~reorders_only(problem, placement.slots)
    spread_leaders(problem, placement.slots, leader)
    balance_bytes_of_leaders(problem, placement.slots, leader)
    target = order_replicas(problem, placement.slots, leader, free)
    return Solution(target, counted.quota, counted.bound, counted.proved)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """The quotas, the bound on moves, and whether both are proved."""

    quota: Ints
    bound: int
    proved: bool


def _place(placement: Placement, least: LeastMoves) -> _Counts:
    problem = placement.problem
    if problem.leaders_only:
        return _Counts(placement.count.copy(), least.by_quotas, proved=True)
    remove_replicas(placement)
    quota, placed = placement.count.copy(), list[TopicGroup]()
    for group in topic_groups(placement):
        place_directly(group)
        augment(group)
        quota = group.others + group.quota
        placed.append(group)
    alone = len(placed) <= 1
    proved = cancel_negative_cycles(placement, quota, least.by_quotas if alone else NONE)
    bound = least.by_quotas if alone and np.array_equal(placement.count, quota) else least.by_rules
    bound = moves(problem, placement.slots) if proved else bound
    for group in placed if alone else topic_groups(placement):
        spread_topics(group, quota)
        balance_bytes(group)
    placement.refuse_overfull()
    return _Counts(quota, bound, proved)
