"""Leader swaps even out the bytes led, and no higher objective gets worse."""

from __future__ import annotations

import numpy as np
import pytest
from family import SIZES, tables
from support.planner.small_clusters import request

from kadmin.planner.cluster_arrays import cluster_arrays
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.leader_bytes import balance_leader_bytes
from kadmin.planner.kernel.placement_problem import any_per_row


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("changed", [0, 100, 1_000])
def test_bytes_led_come_nearer_and_nothing_else_changes(seed: int, changed: int) -> None:
    """Rule: leader counts stay, every leader is a replica, and at most one change is added per
    twenty.
    """
    problem = compile_request(cluster_arrays(*tables(SIZES["S"], seed)), request()).problem
    draw = np.random.default_rng(seed)
    leader = problem.current[:, 0].copy()
    some = draw.choice(len(leader), changed, replace=False)
    leader[some] = problem.current[some, draw.integers(0, 3, changed)]
    before = leader.copy()
    balance_leader_bytes(problem, problem.current, leader)
    assert (np.bincount(leader, minlength=15) == np.bincount(before, minlength=15)).all()
    assert any_per_row(problem.current == leader[:, None]).all()
    changes = [int((each != problem.current[:, 0]).sum()) for each in (before, leader)]
    assert changes[1] <= changes[0] * 21 // 20
    spread = [
        np.bincount(each, weights=problem.size, minlength=15)[:12].std()
        for each in (before, leader)
    ]
    assert spread[1] < spread[0] if changed else (leader == before).all()


def test_a_partition_that_may_not_change_keeps_its_leader() -> None:
    problem = compile_request(
        cluster_arrays(*tables(SIZES["S"], 1)), request(exclude_topics=("topic-000[0-4]*",))
    ).problem
    assert 0 < problem.movable.sum() < len(problem)
    leader = np.where(problem.movable, problem.current[:, 1], problem.current[:, 0])
    balance_leader_bytes(problem, problem.current, leader)
    assert (leader[~problem.movable] == problem.current[~problem.movable, 0]).all()
    assert (leader != problem.current[:, 1])[problem.movable].any()
