"""Topics are spread by what moves anyway, and no higher objective gets worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from family import SIZES, tables
from support.planner.exact_solver import Optimum, exact_topics, unevenness
from support.planner.small_clusters import propose, request

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Racks
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.augmenting_paths import augment
from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.direct_moves import place_directly
from kadmin.planner.kernel.figures import evenness
from kadmin.planner.kernel.leaders import even_leaders
from kadmin.planner.kernel.mandatory_removals import remove_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import breaks_rack_rule, contains
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.topic_group import topic_groups
from kadmin.planner.kernel.topic_leaders import spread_leaders
from kadmin.planner.kernel.topic_spread import spread_topics

if TYPE_CHECKING:
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.kernel.placement_problem import PlacementProblem


def problem_of(seed: int, requested: RebalanceRequest) -> PlacementProblem:
    return compile_request(cluster_arrays(*tables(SIZES["S"], seed)), requested).problem


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "requested",
    [request(), request(drain=(1,)), request(never_lead=(13,))],
    ids=["add", "drain", "never-lead"],
)
def test_topics_are_more_even_and_nothing_else_changes(
    seed: int, requested: RebalanceRequest
) -> None:
    problem = problem_of(seed, requested)
    placement = Placement(problem)
    remove_replicas(placement)
    (share,) = topic_groups(placement)
    place_directly(share)
    augment(share)
    before, count, load = placement.slots.copy(), placement.count.copy(), placement.load.copy()
    spread_topics(share, placement.count.copy())
    everywhere = problem.brokers.may_hold
    excess = [
        evenness(problem, lists, everywhere).topic_excess for lists in (before, placement.slots)
    ]
    assert excess[1] < excess[0]
    assert (placement.count == count).all()
    assert (
        moves_per_partition(problem, placement.slots).sum()
        == moves_per_partition(problem, before).sum()
    )
    first = problem.current[:, 0]
    assert np.sum(~contains(placement.slots, first)) <= np.sum(~contains(before, first))
    assert (breaks_rack_rule(problem, placement.slots) <= breaks_rack_rule(problem, before)).all()
    assert (np.abs(placement.load - load) <= 2 * share.tolerance * load.mean()).all()
    assert (np.diff(np.sort(placement.slots, axis=1), axis=1) != 0).all()


@pytest.mark.parametrize(("old", "new"), [(3, 6), (6, 9), (6, 8)])
def test_added_brokers_get_some_of_each_topic(old: int, new: int) -> None:
    """Rule: twenty topics of six partitions are even, with the moves that fill the new brokers."""
    rows = [
        PartitionRow(f"t{topic}", number, tuple((topic + number + at) % old + 1 for at in range(3)))
        for topic in range(20)
        for number in range(6)
    ]
    brokers = tuple(BrokerRow(each + 1) for each in range(new))
    cluster = ClusterInventory("topics", brokers, tuple(rows))
    figures = propose(cluster, request()).figures
    assert figures["moves"] == figures["moves_bound"] == 360 * (new - old) // new
    assert figures["after"]["topic_excess"] == 0


def test_topics_are_nearly_as_even_as_an_exact_solver_makes_them() -> None:
    """Rule: at most 5 % more replicas above shares than the least with as few moves and as many
    leaders that stay.
    """
    found = least = 0
    for seed in range(40):
        problem = small_cluster(seed)
        target = solve(problem).target
        moved = int(moves_per_partition(problem, target).sum())
        best = exact_topics(
            problem,
            Optimum(unevenness(problem, target), moved),
            int(contains(target, problem.current[:, 0]).sum()),
        )
        assert best is not None
        found += evenness(problem, target, problem.brokers.may_hold).topic_excess
        least += best
    assert least > 30
    assert found <= 1.05 * least


def small_cluster(seed: int) -> PlacementProblem:
    """Return a few topics without sizes, unevenly spread, often with new brokers."""
    draw = np.random.default_rng(seed)
    racks = int(draw.integers(1, 4))
    count = max(racks * int(draw.integers(1, 4)), 3)
    holders = int(draw.integers(2, count)) if draw.random() < 0.7 else count
    skew = draw.uniform(0.3, 2, holders)
    factor = int(draw.integers(1, min(3, holders) + 1))
    lists = [
        (f"t{topic}", number, draw.choice(holders, factor, replace=False, p=skew / skew.sum()) + 1)
        for topic in range(int(draw.integers(2, 8)))
        for number in range(int(draw.integers(1, 7)))
    ]
    rows = [PartitionRow(topic, number, tuple(ids.tolist())) for topic, number, ids in lists]
    brokers = [BrokerRow(each + 1, f"r{each % racks}") for each in range(count)]
    cluster = ClusterInventory("small", tuple(brokers), tuple(rows))
    relaxed = request(racks=Racks.RELAXED)
    return compile_request(cluster_arrays(*rows_as_arrow(cluster)), relaxed).problem


@pytest.mark.parametrize("seed", range(4))
def test_leaders_of_topics_are_spread_at_no_further_change(seed: int) -> None:
    problem = problem_of(seed, request(drain=(1,)))
    lists = solve(problem).target
    leader = even_leaders(problem, lists, np.ones(len(problem), np.bool_))
    before = leader.copy()
    spread_leaders(problem, lists, leader)
    first = problem.current[:, 0]
    assert ((leader != first) == (before != first)).all()
    assert (np.bincount(leader) == np.bincount(before)).all()
    assert contains(lists, leader).all()
    able = problem.brokers.may_hold
    excess = [
        evenness(problem, leads[:, None], able).topic_leader_excess for leads in (before, leader)
    ]
    assert excess[1] < excess[0]


def test_without_new_replicas_nothing_changes() -> None:
    problem = problem_of(1, request())
    placement = Placement(problem)
    (share,) = topic_groups(placement)
    spread_topics(share, placement.count.copy())
    assert (placement.slots == problem.current).all()


def test_brokers_at_their_capacity_get_no_more_bytes() -> None:
    problem = problem_of(2, request())
    placement = Placement(problem)
    (share,) = topic_groups(placement)
    place_directly(share)
    load = placement.load.copy()
    problem.brokers.capacity[:] = load
    spread_topics(share, placement.count.copy())
    assert (placement.load == load).all()
