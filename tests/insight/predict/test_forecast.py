"""Loads and losses at two times: what is counted, and what is known."""

from __future__ import annotations

from support.cluster.states import cluster, tp

from kadmin.insight.predict.forecast import forecast, retrospect
from kadmin.insight.predict.losses import Bound, Load
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    ElectionPlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
)

STATE = cluster({"orders-0": (1, 2), "orders-1": (2, 4)}, states={"orders-1": (4, (4, 2))})
SIZES = {tp("orders-0"): 100, tp("orders-1"): 20}


def plan(target: tuple[int, ...], *, elect: Elect = Elect.NONE) -> ReassignmentPlan:
    return ReassignmentPlan(
        PlanHeader(), (PartitionTarget(tp("orders-0"), target, (1, 2)),), elect=elect
    )


def test_loads_count_preferred_leaders_whoever_leads_now() -> None:
    found = {
        each.broker_id: each for each in forecast(plan((2, 1)), STATE, SIZES, {2: 500}).brokers
    }
    assert found[2].before == Load(2, 1, 120, 20)
    assert found[2].after == Load(2, 2, 120, 120)
    assert (found[1].after, found[2].capacity_bytes, found[3].after) == (
        Load(1, 0, 100, 0),
        500,
        Load(0, 0, 0, 0),
    )


def test_an_election_is_judged_by_who_leads() -> None:
    found = forecast(ElectionPlan(PlanHeader(), all_partitions=True), STATE, SIZES, {})
    second = next(each for each in found.brokers if each.broker_id == 2)
    assert found.by_election
    assert (second.before.leaders, second.after.leaders) == (0, 1)


def test_racks_and_brokers_lost_before_and_after() -> None:
    found = forecast(plan((1, 4), elect=Elect.AT_END), STATE, SIZES, {})
    first = next(each for each in found.racks if each.rack == "r1")
    assert (first.brokers, first.offline_before, first.offline_after) == (
        (1, 4),
        Bound(0, 0),
        Bound(1, 1),
    )
    assert first.before == Load(2, 1, 120, 100)
    losses = found.losses_before[1].figures, found.losses_after[2].figures
    assert [each.leader_changes for each in losses] == [Bound(1, 1), Bound(0, 0)]


def test_a_deleted_topic_leaves_nothing_and_a_size_that_is_not_known_is_no_zero() -> None:
    gone = forecast(DeletionPlan(PlanHeader(), ("orders",)), STATE, {}, {})
    assert [each.before.size_bytes for each in gone.brokers] == [None, None, 0, None]
    assert {each.after for each in gone.brokers} == {Load(0, 0, 0, 0)}
    assert next(each.before.size_bytes for each in gone.racks if each.rack == "r1") is None


def test_brokers_that_are_not_alive_are_there_and_partitions_without_a_state_are_counted() -> None:
    state = cluster({"a-0": (1, 9), "a-1": (1, 2)}, states={})
    state.states.pop(tp("a-1"))  # type: ignore[attr-defined]  # the state znode is missing
    found = forecast(ReassignmentPlan(PlanHeader(), ()), state, {}, {})
    ninth = next(each for each in found.brokers if each.broker_id == 9)
    assert (ninth.alive, ninth.rack, ninth.before.replicas, found.unknown) == (False, None, 1, 1)
    assert found.racks[-1].rack is None
    assert found.racks[-1].offline_after is None
    assert [each.offline_after for each in found.racks[:2]] == [Bound(1, 2), Bound(0, 1)]


def test_what_an_operation_changed_is_put_back_for_what_was_before() -> None:
    found = retrospect({tp("orders-0"): (3, 4), tp("gone-0"): (1,)}, STATE, SIZES, {})
    loads = {each.broker_id: (each.before.replicas, each.after.replicas) for each in found.brokers}
    assert loads == {1: (0, 1), 2: (1, 2), 3: (1, 0), 4: (2, 1)}
    assert (found.losses_before, sorted(found.losses_after)) == ({}, [1, 2, 3, 4])
