"""The verifier finds each kind of broken rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.planner.small_clusters import request

from kadmin.errors import KadminError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import RackFloor
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.cluster_plan import _require_no_broken_rule
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.verifier import broken_rules

if TYPE_CHECKING:
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.kernel.placement_problem import PlacementProblem

CLUSTER = ClusterInventory(
    "c",
    tuple(
        BrokerRow(broker, rack, capacity_bytes=250)
        for broker, rack in ((1, "a"), (2, "a"), (3, "b"), (4, "b"))
    ),
    (PartitionRow("x", 0, (1, 3), size_bytes=100), PartitionRow("y", 0, (2, 4), size_bytes=100)),
)


def arrays() -> ClusterArrays:
    return cluster_arrays(*rows_as_arrow(CLUSTER))


def problem(**targets: Any) -> PlacementProblem:  # noqa: ANN401 - the request's own fields
    return compile_request(arrays(), request(**targets)).problem


CASES: list[tuple[dict[str, Any], list[list[int]], str]] = [
    ({}, [[0, 0], [1, 3]], "a broker occurs twice in a list"),
    ({}, [[-1, 0], [1, 3]], "a list has a gap"),
    ({}, [[0, -1], [1, 3]], "the replication factor is not the requested one"),
    ({}, [[0, 1], [1, 3]], "a rack holds too many replicas"),
    ({"racks": RackFloor(2)}, [[0, 1], [1, 3]], "too few racks hold a partition"),
    ({"exclude_topics": ("x",)}, [[2, 0], [1, 3]], "a pinned or excluded partition is changed"),
    ({"never_lead": (1,)}, [[0, 2], [1, 3]], "the preferred leader may not lead"),
    ({"no_receive": (2,)}, [[1, 2], [1, 3]], "a new replica is on a broker that may not receive"),
    (
        {"broker_sets": {"x": (1, 3)}},
        [[1, 2], [1, 3]],
        "a new replica is on a broker that may not receive",
    ),
    ({"drain": (1,)}, [[0, 2], [1, 3]], "a replica stays on a broker that may not hold it"),
    ({"leaders_only": True}, [[1, 2], [1, 3]], "data moves though only leaders may change"),
]


@pytest.mark.parametrize(("targets", "target", "rule"), CASES, ids=[case[2] for case in CASES])
def test_each_broken_rule_is_found(
    targets: dict[str, Any], target: list[list[int]], rule: str
) -> None:
    found = broken_rules(problem(**targets), np.array(target, np.int64))
    assert rule in [broken.rule for broken in found]
    assert all(broken.partitions.tolist() == [0] for broken in found)


def test_a_broker_over_its_capacity_is_found() -> None:
    asked = problem()
    small = replace(asked, size=np.array([200, 200], np.int64))
    (broken,) = broken_rules(small, np.array([[0, 2], [0, 3]], np.int64))
    assert (broken.rule, broken.brokers.tolist()) == ("a broker exceeds its capacity", [0])


def test_nothing_broken_gives_nothing() -> None:
    assert broken_rules(problem(), np.array([[0, 2], [1, 3]], np.int64)) == ()


def test_a_broken_rule_is_a_bug_and_no_plan_is_given() -> None:
    with pytest.raises(KadminError, match="breaks its own rules") as caught:
        _require_no_broken_rule(problem(), np.array([[0, 0], [1, 3]], np.int64), arrays())
    assert caught.value.exit_code == 1
    assert "a broker occurs twice in a list: topics x" in str(caught.value.cause)
