"""The disks of one broker, beside an exact solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.planner.exact_disks import TOLERANCE, allowed, draw_problem, exact_disks, moves_of

from kadmin.planner.kernel.disk_bounds import least_disk_moves
from kadmin.planner.kernel.disk_moves import choose_disks
from kadmin.planner.kernel.disk_problem import DiskProblem, Disks, bytes_by_disk
from kadmin.planner.kernel.few_disk_replicas import best_of_all
from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE

CASES = 30


def test_few_replicas_are_on_the_best_disks() -> None:
    """Rule: up to nine replicas: the fewest bytes outside of limits, then the fewest moves."""
    for seed in range(CASES):
        problem = draw_problem(seed, 2, 9)
        outside, moves = exact_disks(problem)
        found = choose_disks(problem, NO_LIMIT)
        assert allowed(problem, found.disk).all()
        assert (found.outside, moves_of(problem, found.disk)) == (outside, moves), seed


def test_bounds_hold_and_nine_of_ten_choices_have_the_fewest_moves() -> None:
    """Rule: with too many replicas to try all, choices are seldom beaten, and no bound is wrong."""
    fewest = even = 0
    for seed in range(CASES):
        problem = draw_problem(1000 + seed, 10, 22)
        outside, moves = exact_disks(problem)
        found = choose_disks(problem, NO_LIMIT)
        assert allowed(problem, found.disk).all()
        assert found.outside >= outside
        assert least_disk_moves(problem, outside) <= moves, seed
        if found.outside == outside:
            even += 1
            assert found.bound <= moves, seed
            fewest += moves_of(problem, found.disk) == moves
    assert even >= 0.9 * CASES
    assert fewest >= 0.9 * even


@pytest.mark.parametrize("disks", [2, 4])
@pytest.mark.parametrize("new", [0, 60])
def test_many_replicas_are_within_tolerance_at_the_bound(disks: int, new: int) -> None:
    """Rule: bytes within 5 % of each disk's part, at 1.05 times the bound."""
    for seed in range(6):
        draw = np.random.default_rng(seed)
        size = draw.lognormal(20, 1.5, 400).astype(np.int64)
        home = np.minimum(draw.geometric(0.5, 400) - 1, disks - 1)
        home[:new] = NONE
        problem = problem_of(size, home, np.array([1.0, 2.0, 1.0, 3.0])[:disks])
        found = choose_disks(problem, NO_LIMIT)
        load = bytes_by_disk(size, found.disk, disks)
        assert found.outside == 0
        assert (np.abs(load - problem.goal) <= TOLERANCE * problem.goal + 1).all()
        assert moves_of(problem, found.disk) <= 1.05 * found.bound


def problem_of(size: object, home: object, weight: object) -> DiskProblem:
    weights = np.asarray(weight, np.float64)
    able = np.ones(len(weights), np.bool_)
    disks = Disks(weights, np.full(len(weights), NO_LIMIT), able, able)
    sizes, homes = np.asarray(size, np.int64), np.asarray(home, np.int64)
    return DiskProblem.of(disks, sizes, homes, np.zeros(len(sizes), np.bool_), TOLERANCE)


def test_new_replicas_choose_their_disk_before_any_other_moves() -> None:
    problem = problem_of([50, 30, 30, 10], [0, NONE, NONE, NONE], [1, 1])
    found = choose_disks(problem, NO_LIMIT)
    assert found.disk.tolist() == [0, 1, 1, 0] or moves_of(problem, found.disk) == 0
    assert (found.outside, found.bound) == (0, 0)


def test_counts_are_even_where_bytes_leave_the_choice() -> None:
    size = np.concatenate([[1000, 1000], np.zeros(18, np.int64)])
    problem = problem_of(size, np.full(20, NONE), [1, 1])
    assert best_of_all(problem, NO_LIMIT) is None, "too many to try all"
    assert np.bincount(choose_disks(problem, NO_LIMIT).disk).tolist() == [10, 10]


@pytest.mark.parametrize("most", range(6))
def test_a_budget_of_moves_takes_the_largest_first(most: int) -> None:
    size = np.array([100] * 20 + [40] * 20)
    problem = problem_of(size, np.zeros(40, np.int64), [1, 1])
    found = choose_disks(problem, most)
    assert moves_of(problem, found.disk) == most
    assert found.outside == problem.outside(np.array([2800 - 100 * most, 100 * most])).sum()


def test_a_disk_that_gives_only_keeps_its_part() -> None:
    """Rule: a disk without new replicas is evened out as far as it gives; the rest is even."""
    problem = problem_of([10] * 40, [0] * 20 + [1] * 20, [1, 1, 1, 1])
    closed = replace(problem.disks, may_receive=np.array([False, True, True, True]))
    limited = DiskProblem.of(closed, problem.size, problem.home, problem.fixed, TOLERANCE)
    found = choose_disks(limited, NO_LIMIT)
    assert np.bincount(found.disk).tolist() == [10, 10, 10, 10]


def test_room_bounds_the_part_of_a_disk() -> None:
    problem = problem_of([10] * 40, [0] * 40, [1, 1])
    small = replace(problem.disks, room=np.array([NO_LIMIT, 50]))
    limited = DiskProblem.of(small, problem.size, problem.home, problem.fixed, TOLERANCE)
    found = choose_disks(limited, NO_LIMIT)
    assert np.bincount(found.disk).tolist() == [35, 5]
