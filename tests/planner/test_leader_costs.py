"""Leaders that cost least across zones: against the least that any choice of leaders costs, and in
plans.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, vstack
from support.planner.small_clusters import request

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.entry_reasons import Reason, entry_reasons
from kadmin.planner.kernel.hourly_load import HourlyLoad, LeaderCosts, Resource, ResourceName
from kadmin.planner.kernel.leader_costs import leader_costs, lower_leader_costs
from kadmin.planner.kernel.leaders import choose_leaders
from kadmin.planner.kernel.load_over_time import leader_changes
from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.solve import solve

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

ZONES = 3
UNLIMITED = 1_000_000


def problem_of(seed: int, brokers: int, partitions: int) -> PlacementProblem:
    """Return random lists, whose leaders are even already."""
    draw = np.random.default_rng(seed)
    rows = tuple(BrokerRow(broker, f"r{broker % ZONES}") for broker in range(brokers))
    lists = [
        tuple(
            draw.choice(brokers, int(draw.integers(1, min(brokers, 3) + 1)), replace=False).tolist()
        )
        for _ in range(partitions)
    ]
    cluster = ClusterInventory(
        "c", rows, tuple(PartitionRow("t", at, each) for at, each in enumerate(lists))
    )
    problem = compile_request(cluster_arrays(*rows_as_arrow(cluster)), request()).problem
    current = problem.current.copy()
    leader = choose_leaders(problem, current, np.ones(partitions, np.bool_))
    at = (current == leader[:, None]).argmax(axis=1)
    every = np.arange(partitions)
    current[every, at], current[every, 0] = current[every, 0], leader
    return replace(problem, current=current, start=current)


def costs_of(problem: PlacementProblem, seed: int) -> LeaderCosts:
    draw = np.random.default_rng(seed)
    into = draw.lognormal(8, 1.5, len(problem))
    shares = draw.dirichlet(np.ones(ZONES))
    client = np.round((1 - shares) * into[:, None] * 1000).astype(np.int64)
    return LeaderCosts(
        np.arange(len(problem.brokers)) % ZONES, client, np.round(into * 1000).astype(np.int64)
    )


def cost_of(lists: Ints, leader: Ints, costs: LeaderCosts) -> int:
    at = (lists == leader[:, None]).argmax(axis=1)
    return int(leader_costs(lists, costs)[np.arange(len(lists)), at].sum())


def least_cost(lists: Ints, costs: LeaderCosts, brokers: int, least: int, most: int) -> float:
    """Return the least cost of leaders whose counts are between two numbers; the linear program has
    whole solutions.
    """
    rows, slots = np.nonzero(lists != NONE)
    ones, each = np.ones(len(rows)), np.arange(len(rows))
    one_leader = coo_matrix((ones, (rows, each)), shape=(len(lists), len(rows)))
    led = coo_matrix((ones, (lists[rows, slots], each)), shape=(brokers, len(rows)))
    found = linprog(
        leader_costs(lists, costs)[rows, slots].astype(float),
        A_eq=one_leader,
        b_eq=np.ones(len(lists)),
        A_ub=vstack([led, -led]),
        b_ub=np.concatenate([np.full(brokers, most), np.full(brokers, -least)]),
        bounds=(0, 1),
        method="highs",
    )
    return float(found.fun)


@given(st.integers(0, 2**16), st.integers(2, 8), st.integers(2, 60))
def test_nothing_costs_less_with_counts_that_are_as_even(
    seed: int, brokers: int, partitions: int
) -> None:
    """Rule: the cost is the least of all choices of leaders whose counts are within one of each
    other.
    """
    problem = problem_of(seed, brokers, partitions)
    lists, costs = problem.current, costs_of(problem, seed)
    leader = lists[:, 0].copy()
    before = np.bincount(leader, minlength=brokers)
    lower_leader_costs(problem, lists, leader, costs, UNLIMITED)
    after = np.bincount(leader, minlength=brokers)
    assert (lists == leader[:, None]).any(axis=1).all()
    if np.ptp(before) > 1:
        assert after.tolist() == before.tolist()
        assert cost_of(lists, leader, costs) <= cost_of(lists, lists[:, 0], costs)
        return
    assert (after.min(), after.max()) == (before.min(), before.max())
    least = least_cost(lists, costs, brokers, int(before.min()), int(before.max()))
    assert cost_of(lists, leader, costs) == pytest.approx(least, rel=1e-9, abs=1)


@given(st.integers(0, 2**16), st.integers(0, 12))
def test_the_budget_of_leader_changes_holds_and_is_spent_on_what_saves_most(
    seed: int, budget: int
) -> None:
    problem = problem_of(seed, 6, 60)
    lists, costs = problem.current, costs_of(problem, seed)
    saved = []
    for most in (budget, 2 * budget):
        leader = lists[:, 0].copy()
        lower_leader_costs(problem, lists, leader, costs, most)
        assert leader_changes(problem, leader) <= most
        saved.append(cost_of(lists, lists[:, 0], costs) - cost_of(lists, leader, costs))
    assert 0 <= saved[0] <= saved[1]


def with_costs(
    problem: PlacementProblem, costs: LeaderCosts | None, leader_changes: float
) -> PlacementProblem:
    """Return a problem whose load is the same everywhere."""
    even = np.full(len(problem.brokers), 1 / len(problem.brokers))
    out = Resource(ResourceName.OUT, None, np.ones((len(problem), 4)), even, 1.1)
    return replace(problem, load=HourlyLoad((out,), 0.02, leader_changes, costs))


def test_a_plan_has_cheaper_leaders_and_says_why_and_a_second_run_has_nothing_to_do() -> None:
    problem = problem_of(7, 6, 60)
    costs = costs_of(problem, 7)
    problem = replace(problem, leaders_only=True)
    found, without = (solve(with_costs(problem, each, 40)) for each in (costs, None))
    changed = np.flatnonzero(found.target[:, 0] != problem.current[:, 0])
    assert without.target.tolist() == problem.current.tolist()
    assert cost_of(found.target, found.target[:, 0], costs) < cost_of(
        problem.current, problem.current[:, 0], costs
    )
    assert 0 < len(changed) <= 20, "half of the budget"
    reasons = entry_reasons(with_costs(problem, costs, 40), found, NONE)
    assert Reason.ZONES in {reasons[each] for each in changed}
    settled = replace(problem, current=found.target, start=found.target)
    again = solve(with_costs(settled, costs, 0.5))
    assert again.target.tolist() == found.target.tolist()


def test_leaders_that_cost_the_same_everywhere_leave_the_plan_as_it_is() -> None:
    problem = problem_of(7, 6, 60)
    same = LeaderCosts(np.arange(6) % ZONES, np.full((60, ZONES), 5), np.zeros(60, np.int64))
    without = solve(with_costs(problem, None, 40))
    assert solve(with_costs(problem, same, 40)).target.tolist() == without.target.tolist()
