"""Rules on the log directories that plans name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster, tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import UNTHROTTLED, PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.plan.rules import ClusterView, check

A, B = "/data/a", "/data/b"
DISKS = {broker: (Disk(broker, A), Disk(broker, B)) for broker in (1, 2, 3)}
REPLICAS = {
    broker: (DiskReplica(tp("t-0"), broker, A, 10),) if broker < 3 else () for broker in (1, 2, 3)
}
FACTS = ClusterFacts(disks=DISKS, replicas=REPLICAS)
STATE = cluster({"t-0": (1, 2)})
OURS = {
    codes.LOG_DIRS_LENGTH,
    codes.NO_SUCH_LOG_DIR,
    codes.LOG_DIR_CLOSED,
    codes.FAILED_DISK,
    codes.LOG_DIRS_UNKNOWN,
    codes.NO_OP,
}


def found(
    replicas: tuple[int, ...],
    *log_dirs: str,
    facts: ClusterFacts | None = FACTS,
    allow: bool = False,
) -> list[tuple[str, str]]:
    target = PartitionTarget(tp("t-0"), replicas, (1, 2), 10, log_dirs or None)
    plan = ReassignmentPlan(PlanHeader(), (target,), UNTHROTTLED, allow_failed_disks=allow)
    world = None if facts is None else ClusterView(STATE, facts, live=True)
    return [(each.code, each.severity) for each in check(plan, world) if each.code in OURS]


def with_state(broker: int, path: str, state: DiskState) -> ClusterFacts:
    disks = tuple(
        replace(disk, state=state) if disk.path == path else disk for disk in DISKS[broker]
    )
    return replace(FACTS, disks={**DISKS, broker: disks})


def test_named_directories_that_exist_are_no_problem() -> None:
    assert found((1, 2), B, "any") == []
    assert found((1, 3), "any", B) == []
    assert found((1, 2), "any", "any") == [(codes.NO_OP, "warning")]


@pytest.mark.parametrize("facts", [None, FACTS])
def test_one_entry_for_each_replica(facts: ClusterFacts | None) -> None:
    assert (codes.LOG_DIRS_LENGTH, "error") in found((1, 2), B, facts=facts)


def test_a_path_is_compared_byte_by_byte() -> None:
    assert found((1, 2), f"{A}/", "any") == [(codes.NO_SUCH_LOG_DIR, "error")]


def test_a_cordoned_directory_takes_nothing_and_keeps_what_it_has() -> None:
    cordoned = with_state(2, B, DiskState.CORDONED)
    assert found((1, 2), "any", B, facts=cordoned) == [(codes.LOG_DIR_CLOSED, "error")]
    assert found((1, 2), "any", A, facts=with_state(2, A, DiskState.CORDONED)) == []
    coming = DiskReplica(tp("t-0"), 2, B, 3, is_future=True)
    moving = replace(cordoned, replicas={**REPLICAS, 2: (*REPLICAS[2], coming)})
    assert found((1, 2), "any", B, facts=moving) == [], "what moves goes on"


def test_a_broker_with_a_failed_directory_moves_nothing_inside_and_gets_nothing_unwaived() -> None:
    assert found((1, 2), "any", B, facts=with_state(2, B, DiskState.FAILED)) == [
        (codes.LOG_DIR_CLOSED, "error")
    ]
    third = replace(FACTS, disks={**DISKS, 2: (*DISKS[2], Disk(2, "/c", state=DiskState.FAILED))})
    assert found((1, 2), "any", B, facts=third) == [(codes.LOG_DIR_CLOSED, "error")]
    assert found((1, 2), "any", A, facts=third) == [], "it is there already"
    failed = with_state(3, B, DiskState.FAILED)
    assert found((1, 3), facts=failed) == [(codes.FAILED_DISK, "error")]
    assert found((1, 3), facts=failed, allow=True) == []
    assert found((1, 3), "any", A, facts=failed, allow=True) == []


def test_unknown_directories_are_an_error_where_a_broker_did_not_answer() -> None:
    assert found((1, 2), B, "any", facts=ClusterFacts()) == [(codes.LOG_DIRS_UNKNOWN, "warning")]
    by_hand = replace(FACTS, replicas={})
    assert found((1, 2), B, "any", facts=by_hand) == [(codes.LOG_DIRS_UNKNOWN, "warning")]
    why = ("broker 1 did not answer",)
    silent = ClusterFacts(disks={2: DISKS[2]}, replicas={2: REPLICAS[2]}, disks_unavailable=why)
    assert found((1, 2), B, "any", facts=silent) == [(codes.LOG_DIRS_UNKNOWN, "error")]
    assert found((1, 2), "any", B, facts=silent) == []
