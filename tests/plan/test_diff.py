from __future__ import annotations

from support.cluster.states import cluster, tp

from kadmin.plan.diff import diff
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan


def test_a_dead_broker_that_is_drained_is_shown_before_and_after() -> None:
    """Nobody holds anything on it afterwards, and it is not alive: still a row."""
    state = cluster({"foo-0": (9, 1)}, states={"foo-0": (1, (1,))})
    found = diff(ReassignmentPlan(PlanHeader(name="drain"), (PartitionTarget(tp("foo-0"), replicas=(2, 1)),)), state)
    assert list(found.before) == list(found.after) == [1, 2, 3, 4, 9]
    assert (found.before[9].replicas, found.after[9].replicas) == (1, 0)
