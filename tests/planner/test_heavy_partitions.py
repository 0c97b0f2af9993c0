"""Where heavy partitions are best, on a small cluster, and the assignment beside scipy's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from support.planner.small_clusters import request

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Racks
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.heavy_partitions import (
    BetterPlace,
    assigned,
    best_places,
    heavy_partitions,
    with_lightest,
)
from kadmin.planner.kernel.hourly_load import rates_on
from kadmin.planner.kernel.load_levels import Columns
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.topic_group import topic_groups

if TYPE_CHECKING:
    from kadmin.planner.kernel.topic_group import TopicGroup

FIRST, SECOND = 10, 30
HEAVY, TINY, LIGHT = 0.8, 0.001, 0.05
BYTES = 7.0


def group_of(first: float) -> tuple[TopicGroup, Columns]:
    """Two brokers, of which the second is to give a third of its replicas to the first.

    The first has the heavy partition and light ones of the level `first`; half of those of the
    second are tiny.
    """
    rows = [
        PartitionRow("a", number, (1 if number < FIRST else 2,), size_bytes=1)
        for number in range(FIRST + SECOND)
    ]
    cluster = ClusterInventory("small", (BrokerRow(1), BrokerRow(2)), tuple(rows))
    problem = compile_request(
        cluster_arrays(*rows_as_arrow(cluster)), request(racks=Racks.IGNORE)
    ).problem
    group = next(iter(topic_groups(Placement(replace(problem, start=solve(problem).target)))))
    level = [HEAVY, *[first] * (FIRST - 1), *[TINY, LIGHT] * (SECOND // 2)]
    rates = np.array([[each, each / 2, BYTES] for each in level], np.float32)
    load = rates_on(rates, group.placement.slots, 2)
    return group, Columns(rates, load, np.ones((2, 3)), np.zeros(3), np.array([0, 1, NONE]))


def test_a_broker_keeps_its_lightest_replicas_beside_the_heavy_ones() -> None:
    group, columns = group_of(LIGHT)
    heavy = heavy_partitions(group, columns)
    assert heavy.tolist() == pytest.approx([HEAVY] + [0.0] * (FIRST + SECOND - 1))

    found = with_lightest(group, columns, heavy)

    kept = SECOND // 2 * TINY + 5 * LIGHT
    assert found.load[:, 0].tolist() == pytest.approx([HEAVY + (FIRST - 1) * LIGHT, kept])
    assert found.load[:, 1].tolist() == pytest.approx((found.load[:, 0] / 2).tolist())
    assert found.load[:, 2].tolist() == columns.load[:, 2].tolist()
    assert found.rates[1:, :2].max() == 0
    assert found.rates[:, 2].tolist() == [BYTES] * (FIRST + SECOND)


@pytest.mark.parametrize(("first", "places"), [(LIGHT, [BetterPlace(0, 0, 1)]), (TINY, [])])
def test_a_heavy_partition_goes_where_most_load_can_leave(
    first: float, places: list[BetterPlace]
) -> None:
    group, columns = group_of(first)
    heavy = heavy_partitions(group, columns)
    assert best_places(group, with_lightest(group, columns, heavy), heavy) == places


def test_where_most_partitions_are_heavy_none_counts_as_heavy() -> None:
    group, columns = group_of(LIGHT)
    assert not heavy_partitions(group, replace(columns, rates=np.ones_like(columns.rates))).any()


def test_a_placement_is_restored_with_its_counters() -> None:
    group, _ = group_of(LIGHT)
    placement = group.placement
    before, counts, load = placement.slots.copy(), placement.count.copy(), placement.load.copy()
    placement.move(0, 0, 1)
    placement.restore(before)
    assert placement.slots.tolist() == before.tolist()
    assert placement.count.tolist() == counts.tolist()
    assert placement.load.tolist() == load.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_assignments_cost_as_little_as_those_of_scipy(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows, columns = sorted(draw.integers(1, 12, 2).tolist())
    costs = draw.integers(0, 1000, (rows, columns))
    found = assigned(costs)
    assert len(set(found.tolist())) == rows
    assert costs[np.arange(rows), found].sum() == costs[linear_sum_assignment(costs)].sum()
