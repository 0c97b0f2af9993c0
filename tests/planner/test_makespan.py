"""The makespan of a proposal at size L, simulated: equal rates, and a barrier between waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from family import SIZES, cluster
from support.cluster.states import cluster as cluster_state
from support.plan.wave_cases import busiest, makespan
from support.planner.small_clusters import propose, request

from kadmin.cluster.model import TopicPartition
from kadmin.plan.makespan import schedule_shortest
from kadmin.plan.model import PartitionTarget, WaveLimits
from kadmin.plan.waves import schedule

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 2
"""48,758 moves in 65 waves; the largest partition alone takes four times as long as an average wave."""


def test_waves_of_a_large_proposal_come_near_the_bound(record_property: Callable[[str, object], None]) -> None:
    skewed = cluster(SIZES["L"], SEED)
    proposed = propose(skewed, request())
    rows = {(row.topic, row.partition): row for row in skewed.partitions}
    plan = [
        PartitionTarget(TopicPartition(*name), tuple(replicas), rows[name].replicas, rows[name].size_bytes)
        for name, replicas in proposed.entries.items()
    ]
    assert proposed.figures["moves"] == 48_758
    bound = busiest(plan)
    in_order = schedule(plan, WaveLimits())
    waves = schedule_shortest(plan, cluster_state({}), WaveLimits())
    record_property("seed", SEED)
    record_property("makespan / bound", {"shortest": makespan(waves) / bound, "priority": makespan(in_order) / bound})
    assert len(waves) == len(in_order)
    assert makespan(waves) <= 1.08 * bound
    assert makespan(in_order) > 1.4 * bound
