"""The planner's figures on the family of skewed clusters, at realistic sizes."""

from __future__ import annotations

import json

import pytest
from family import SIZES, cluster, disk_tables, tables
from support.planner.small_clusters import applied, propose, request

from kadmin.plan.model import Racks
from kadmin.planner.cluster_arrays import ClusterTables
from kadmin.planner.cluster_plan import PlanningTask, plan_cluster


@pytest.mark.parametrize(
    ("name", "seed", "failover"), [("S", 1, 1.15), ("S", 2, 1.15), ("M", 1, 1.08)]
)
def test_an_extension_comes_near_every_bound(name: str, seed: int, failover: float) -> None:
    skewed = cluster(SIZES[name], seed)
    proposed = propose(skewed, request())
    figures, after, bound = proposed.figures, proposed.figures["after"], proposed.figures["bound"]
    assert figures["moves"] <= figures["moves_bound"] * 1.007
    assert (after["replicas_min"], after["replicas_max"]) == (
        bound["replicas_min"],
        bound["replicas_max"],
    )
    assert (after["leaders_min"], after["leaders_max"]) == (
        bound["leaders_min"],
        bound["leaders_max"],
    )
    assert after["leaders_max"] - after["leaders_min"] <= 1
    assert after["bytes_cv"] < 0.01
    assert after["leader_bytes_max_over_mean"] < figures["before"]["leader_bytes_max_over_mean"]
    assert after["topic_excess"] < figures["before"]["topic_excess"] * 0.6
    assert after["rack_violations"] == 0
    assert after["failover_share"] < failover
    assert dict(propose(applied(skewed, proposed), request()).entries) == {}


@pytest.mark.parametrize(
    ("size", "disks", "seed"),
    [("S", 2, 2), ("S", 4, 1), ("S", 4, 2), ("M", 2, 2), ("M", 4, 2)],
)
def test_disks_come_within_their_tolerance_near_the_bound(size: str, disks: int, seed: int) -> None:
    """Rule: at 1.05 times the bound, and brokers get what they get without disks.

    Seed 1 has brokers of which three replicas have half of the bytes.
    """
    brokers, partitions = tables(SIZES[size], seed)
    whole = ClusterTables(brokers, partitions, *disk_tables(partitions, SIZES[size], disks))
    none = [table.slice(0, 0) for table in whole[2:]]
    task = PlanningTask(request(), {})
    bare, found = (
        plan_cluster("", task, each).to_pylist()
        for each in (ClusterTables(brokers, partitions, *none), whole)
    )
    for one, other in zip(bare[1:], found[1:], strict=False):
        assert {**other, "log_dirs": None} == one
    told = json.loads(found[0]["report"])["figures"]["disks"]
    assert told["outside"] == 0
    assert told["moves"] <= 1.05 * told["moves_bound"]
    assert told["before"] > 2
    assert all(
        abs(each["after"] - each["part"]) <= 0.05 * each["part"] + 2 for each in told["disks"]
    )


@pytest.mark.parametrize(
    ("kind", "seed", "needed"),
    [("", 32, 4), ("mixed", 20_240_229, 3), ("mixed", 2, 2), ("mixed", 8, 3)],
)
def test_even_bytes_cost_hardly_more_moves_than_they_need(
    kind: str, seed: int, needed: int
) -> None:
    """Rule: a broker whose own replicas cannot bring it within the tolerance costs a move, its
    partners none.

    `needed`: for each broker the replicas that must come beyond its quota's, the largest and
    smallest there are.
    """
    figures = propose(cluster(SIZES["S"], seed, kind), request()).figures
    assert figures["moves"] - figures["moves_bound"] <= needed + 2
    assert figures["after"]["bytes_max_over_mean"] <= 1.02
    assert figures["after"]["bytes_cv"] < 0.01


def test_a_drained_rack_mate_leaves_counts_even_within_racks() -> None:
    skewed = cluster(SIZES["S"], 3)
    proposed = propose(skewed, request(drain=(1,), racks=Racks.RELAXED))
    after, bound = proposed.figures["after"], proposed.figures["bound"]
    assert (
        (after["replicas_min"], after["replicas_max"])
        == (bound["replicas_min"], bound["replicas_max"])
        == (200, 250)
    )
    assert after["bytes_max_over_mean"] <= bound["bytes_max_over_mean"] * 1.02


def test_the_same_seed_gives_the_same_cluster() -> None:
    assert cluster(SIZES["S"], 5) == cluster(SIZES["S"], 5)
    assert cluster(SIZES["S"], 5) != cluster(SIZES["S"], 6)
