"""New replicas are exchanged so that topics are more even, and no higher objective gets worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from family import SIZES, tables
from support.planner.small_clusters import request

from kadmin.planner.cluster_arrays import cluster_arrays
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.augmenting_paths import augment
from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.direct_moves import place_directly
from kadmin.planner.kernel.figures import evenness
from kadmin.planner.kernel.mandatory_removals import remove_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import breaks_rack_rule, contains
from kadmin.planner.kernel.topic_group import topic_groups
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
