"""Waves of proposals: their makespan at size L, simulated with equal rates and a barrier between
waves; their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from family import SIZES, cluster
from support.cluster.capabilities import NODES
from support.cluster.states import cluster as cluster_state
from support.plan.wave_cases import busiest, makespan
from support.planner.small_clusters import propose, request

from kadmin.cluster.model import TopicPartition
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    write_inventory,
)
from kadmin.plan.makespan import repack
from kadmin.plan.model import PartitionTarget, Pin, WaveLimits
from kadmin.plan.waves import schedule
from kadmin.planner import local
from kadmin.planner.proposal import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEED = 2
"""48,758 moves in 65 waves; the largest partition alone takes four times as long as an average
wave."""


@pytest.mark.matrix
def test_waves_of_a_large_proposal_come_near_the_bound(
    record_property: Callable[[str, object], None],
) -> None:
    skewed = cluster(SIZES["L"], SEED)
    proposed = propose(skewed, request())
    rows = {(row.topic, row.partition): row for row in skewed.partitions}
    plan = [
        PartitionTarget(
            TopicPartition(*name), tuple(replicas), rows[name].replicas, rows[name].size_bytes
        )
        for name, replicas in proposed.entries.items()
    ]
    assert proposed.figures["moves"] == 48_758
    bound = busiest(plan)
    in_order = schedule(plan, WaveLimits(), NODES.publish)
    waves = repack(in_order, plan, cluster_state({}), WaveLimits(), NODES.publish)
    record_property("seed", SEED)
    record_property(
        "makespan / bound",
        {"shortest": makespan(waves) / bound, "priority": makespan(in_order) / bound},
    )
    assert len(waves) == len(in_order)
    assert makespan(waves) <= 1.08 * bound
    assert makespan(in_order) > 1.4 * bound


@pytest.mark.parametrize(
    ("capacity", "order"), [(None, "shortest"), (199, "priority"), (200, "shortest")]
)
def test_the_order_of_a_plan_counts_where_a_full_broker_gives_before_it_gets(
    tmp_path: Path, capacity: int | None, order: str
) -> None:
    swap = ClusterInventory(
        "c",
        (
            BrokerRow(1, capacity_bytes=capacity),
            BrokerRow(2, capacity_bytes=capacity),
            BrokerRow(3),
        ),
        (PartitionRow("a", 0, (1,), size_bytes=100), PartitionRow("b", 0, (2,), size_bytes=100)),
    )
    write_inventory(Inventory("2026-01-01T00:00:00Z", {SINGLE_CLUSTER: swap}), tmp_path, "csv")
    pins = (Pin(TopicPartition("a", 0), (2,)), Pin(TopicPartition("b", 0), (3,)))
    assert (
        local.propose(request(pins=pins), tmp_path, Options())[SINGLE_CLUSTER].plan.order == order
    )
