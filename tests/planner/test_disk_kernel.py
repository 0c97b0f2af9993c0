"""The disks of one broker, beside an exact solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.planner.exact_disks import TOLERANCE, allowed, draw_problem, exact_disks, moves_of

from kadmin.planner.kernel.disk_bounds import least_disk_moves
from kadmin.planner.kernel.disk_moves import choose_disks
from kadmin.planner.kernel.disk_problem import BrokerDisks, DiskProblem, bytes_by_disk
from kadmin.planner.kernel.disk_search import fewest_moves
from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE

CASES = 30


@pytest.mark.parametrize(
    ("fewest", "most", "seed"),
    [(2, 9, 0), (10, 23, 1000), pytest.param(24, 48, 2000, marks=pytest.mark.matrix)],
)
def test_choices_have_the_fewest_moves(fewest: int, most: int, seed: int) -> None:
    """Rule: the fewest bytes outside of limits, then the fewest moves: in 95 % of cases the least
    that an exact solver finds, never more than one above; no bound is wrong.
    """
    beaten = 0
    for each in range(seed, seed + CASES):
        problem = draw_problem(each, fewest, most)
        outside, moves = exact_disks(problem)
        found = choose_disks(problem, NO_LIMIT)
        assert allowed(problem, found.disk).all()
        assert least_disk_moves(problem, outside) <= moves, each
        assert found.outside == outside, each
        assert found.bound <= moves, each
        above = moves_of(problem, found.disk) - moves
        assert above in {0, 1}, each
        beaten += above
    assert beaten <= 0.05 * CASES


@pytest.mark.parametrize("over", [0, 1, 5])
def test_a_search_from_any_number_of_moves_keeps_its_bound(over: int) -> None:
    """Rule: whatever is known, the bound is no more than the least, and what is found is better."""
    for each in range(CASES):
        problem = draw_problem(each, 2, 14)
        outside, moves = exact_disks(problem)
        found = fewest_moves(problem, outside, moves + over, 0)
        assert found.bound <= moves, each
        if found.disk is None:
            assert over == 0
        else:
            assert moves_of(problem, found.disk) == moves, each
            assert (
                problem.outside(bytes_by_disk(problem.size, found.disk, len(problem.disks))).sum()
                <= outside
            )


def test_a_bound_counts_what_takes_the_place_of_a_replica_that_must_leave() -> None:
    """Rule: the replica of 40 bytes leaves, and replicas of one byte take its place."""
    problem = problem_of([40] + [1] * 60, [0] + [1] * 60, [20, 80])
    assert least_disk_moves(problem, 0) == 1
    found = choose_disks(problem, NO_LIMIT)
    assert (found.outside, moves_of(problem, found.disk), found.bound) == (0, 20, 20)


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
    disks = BrokerDisks(weights, np.full(len(weights), NO_LIMIT), able, able)
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
