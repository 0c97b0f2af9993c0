"""Which groups notice a plan: those that read what changes, and those whose coordinator does."""

from __future__ import annotations

import pytest
from support.cluster.states import cluster, tp

from kadmin.insight.predict.consumers import OFFSETS, coordinating_partition
from kadmin.insight.predict.disturbance import DisturbanceRow, Group, OffsetsIn, changed, disturbed
from kadmin.insight.predict.plans import planned
from kadmin.insight.predict.whatif import placements_of
from kadmin.insight.tables.table import columns_of
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    ElectionPlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
)

NUMBER = coordinating_partition("readers", 3)
OTHER = (NUMBER + 1) % 3
STATE = cluster(
    {
        "orders-0": (1, 2),
        "orders-1": (2, 1),
        "clicks-0": (3, 1),
        **{f"{OFFSETS}-{number}": (1, 2) for number in range(3)},
    },
    states={"orders-1": (1, (1, 2))},
)
GROUPS = [
    Group("readers", OffsetsIn.KAFKA, {"orders"}),
    Group("readers", OffsetsIn.ZOOKEEPER, {"orders"}),
    Group("clickers", OffsetsIn.ZOOKEEPER, {"clicks"}),
]


def reassigned(name: str, *target: int, elect: Elect = Elect.NONE) -> ReassignmentPlan:
    partition = tp(name)
    return ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, target),), elect=elect)


@pytest.mark.parametrize(
    ("plan", "noticed"),
    [
        (reassigned("orders-0", 3, 2), (0, True, 1, 3)),
        (reassigned("orders-0", 1, 3), (0, True, 1, 1)),
        (reassigned("orders-0", 2, 1), None),  # another order alone, and nobody elects
        (reassigned("orders-0", 2, 1, elect=Elect.AT_END), (0, False, 1, 2)),
        (ElectionPlan(PlanHeader(), all_partitions=True), (1, False, 1, 2)),
    ],
)
def test_readers_of_either_kind_notice_moves_and_new_leaders(
    plan: ReassignmentPlan | ElectionPlan, noticed: tuple[object, ...] | None
) -> None:
    before = placements_of(STATE)
    found = disturbed(changed(before, planned(plan, before, STATE)), GROUPS, 3)
    assert found.columns == columns_of(DisturbanceRow)
    kinds = ("kafka", "zookeeper") if noticed else ()
    assert list(found.rows) == [
        ("readers", kind, "reads", "orders", *(noticed or ())) for kind in kinds
    ]


@pytest.mark.parametrize(
    ("number", "rows"),
    [(NUMBER, [("readers", "kafka", "coordinator", OFFSETS, NUMBER, True, 1, 3)]), (OTHER, [])],
)
def test_a_coordinator_is_noticed_by_its_own_groups_in_kafka(
    number: int, rows: list[tuple[object, ...]]
) -> None:
    before = placements_of(STATE)
    after = planned(reassigned(f"{OFFSETS}-{number}", 3, 2), before, STATE)
    assert list(disturbed(changed(before, after), GROUPS, 3).rows) == rows


def test_a_deletion_leaves_nobody_to_read_from() -> None:
    before = placements_of(STATE)
    gone = planned(DeletionPlan(PlanHeader(), ("clicks",)), before, STATE)
    found = disturbed(changed(before, gone), GROUPS, 3)
    assert found.rows == (("clickers", "zookeeper", "reads", "clicks", 0, False, 3, None),)


def test_before_the_first_commit_nobody_has_a_coordinator() -> None:
    state = cluster({"orders-0": (1, 2)})
    before = placements_of(state)
    found = disturbed(changed(before, planned(reassigned("orders-0", 3), before, state)), GROUPS, 0)
    assert {row[2] for row in found.rows} == {"reads"}
