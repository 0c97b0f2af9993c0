"""What `verify` says of log directories."""

from __future__ import annotations

from support.cluster.states import cluster, tp

from kadmin.cluster.disks import Disk, DiskReplica
from kadmin.operations.decide.spec import PlanHistory
from kadmin.operations.decide.verdicts import reassignment_verdicts
from kadmin.plan.directories import Directories
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.plan.progress import Progress

A, B = "/data/a", "/data/b"
TARGET = PartitionTarget(tp("t-0"), (1, 2), (1, 2), log_dirs=(B, "any"))
PLAN = ReassignmentPlan(PlanHeader(), (TARGET,))
STATE = cluster({"t-0": (1, 2)})


def verdict(*copies: DiskReplica, cancelled: bool = False) -> tuple[Progress, str]:
    found = Directories.of({1: (Disk(1, A), Disk(1, B))}, {1: copies}, [tp("t-0")])
    history = PlanHistory(cancelled=cancelled, directories=found)
    (each,) = reassignment_verdicts(PLAN, STATE, history)
    return each.progress, each.detail


def test_a_partition_is_done_when_its_replicas_are_in_their_directories_alone() -> None:
    in_a, in_b = (DiskReplica(tp("t-0"), 1, path, 10) for path in (A, B))
    coming = DiskReplica(tp("t-0"), 1, B, 4, is_future=True)
    away = f"broker 1 has it in {A}, wanted {B}"
    assert verdict(in_b) == (Progress.DONE, "")
    assert verdict(in_a) == (Progress.WAITING, away)
    assert verdict(in_a, cancelled=True) == (Progress.CANCELLED, away)
    assert verdict(in_a, coming) == (Progress.RUNNING, away)
    assert verdict() == (
        Progress.WAITING,
        f"broker 1 has it in an unknown log directory, wanted {B}",
    )


def test_directories_that_are_not_known_are_not_taken_for_reached() -> None:
    (each,) = reassignment_verdicts(PLAN, STATE, PlanHistory())
    assert each.progress is Progress.WAITING
