"""Rules on elections by the config of a topic, which elects every partition of the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cluster.states import CLUSTER_ID, cluster, tp

from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ForcedLeader, PlanHeader, RecoveryPlan
from kadmin.plan.rules import ClusterView, check

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas

PLAN = RecoveryPlan(PlanHeader(cluster_id=CLUSTER_ID), (ForcedLeader(tp("y-0"), 3, (1, 2, 3)),))


@pytest.mark.parametrize(
    ("replicas", "state", "refused"),
    [
        ((1, 2), (-1, (1,)), True),
        ((1, 5), (-1, (1,)), True),  # no copy is alive, and one that lacks records may return first
        ((1, 2), (1, (1,)), True),  # its leader is dead
        ((1,), (-1, (1,)), False),  # its only copy has every record
        ((1, 2), (-1, (2,)), False),  # a clean election is under way
        ((1, 2), (2, (2,)), False),
    ],
)
def test_a_partition_that_would_be_elected_too_is_to_be_listed(
    replicas: Replicas, state: tuple[int, Replicas], *, refused: bool
) -> None:
    found = cluster(
        {"y-0": (1, 2, 3), "y-1": replicas, "x-0": (1, 2)},
        brokers={2: None, 3: None},
        states={"y-0": (-1, (1,)), "y-1": state, "x-0": (-1, (1,))},
    )
    view = ClusterView(found, ClusterFacts(elects_by_config=True))
    assert (codes.ELECTED_TOO in {each.code for each in check(PLAN, view)}) is refused
    assert codes.ELECTED_TOO not in {each.code for each in check(PLAN, ClusterView(found))}
