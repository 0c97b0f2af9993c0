"""Partitions that a growth adds: in loads, in losses and for the groups that read the topic."""

from __future__ import annotations

from support.cluster.states import cluster, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.disturbance import changed
from kadmin.insight.predict.forecast import forecast
from kadmin.insight.predict.plans import planned
from kadmin.insight.predict.whatif import compare, placements_of
from kadmin.plan.model import GrowthPlan, PlanHeader, TopicGrowth

STATE = cluster({"a-0": (1, 2), "b-0": (2, 1)}, brokers=dict.fromkeys((1, 2, 3)))
PLAN = GrowthPlan(PlanHeader(), (TopicGrowth("a", 1, ((3, 1), (3, 2))),))


def test_new_partitions_count_for_loads_and_change_no_leader() -> None:
    before = placements_of(STATE, {})
    found = compare(before, planned(PLAN, before, STATE), STATE.brokers, STATE.brokers)
    assert found.changes == ()
    assert [found.before[3].replicas, found.after[3].replicas, found.after[3].leaders] == [0, 2, 2]


def test_a_forecast_has_them_with_no_bytes() -> None:
    sizes = {tp("a-0"): 10, tp("b-0"): 10}
    third = forecast(PLAN, STATE, sizes, {}).brokers[2]
    assert (third.before.replicas, third.after.replicas, third.after.size_bytes) == (0, 2, 0)


def test_groups_get_them_from_nobody() -> None:
    before = placements_of(STATE, {})
    new = changed(before, planned(PLAN, before, STATE))
    assert [(was.partition, was.leader, now.leader) for was, now in new] == [
        (tp("a-1"), NO_LEADER, 3),
        (tp("a-2"), NO_LEADER, 3),
    ]
    grown = cluster({"a-0": (1, 2), "a-1": (3, 1), "a-2": (3, 2)}, brokers=dict.fromkeys((1, 2, 3)))
    held = placements_of(grown, {})
    assert changed(held, planned(PLAN, held, grown)) == []
