"""Predictions of losses and plans: the controller's rule row by row, and laws that hold for any
cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, tp

from kadmin.cluster.model import NO_LEADER, PartitionState, Requests
from kadmin.insight.predict.losses import Bound, Load, PlacedPartition
from kadmin.insight.predict.plans import planned
from kadmin.insight.predict.whatif import (
    compare,
    placements_of,
    predict_loss,
    single_losses,
    without,
)
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    ElectionPlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
)

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas

ALIVE = frozenset({1, 2, 3, 4})


@pytest.mark.parametrize(
    ("leader", "isr", "lost", "unclean", "expected"),
    [
        (1, (1, 3, 2), {1}, False, (2, (3, 2))),  # by the assignment's order
        (1, (1, 3), {1}, False, (3, (3,))),  # who is out of sync is passed over
        (2, (1, 2, 3), {1}, False, (2, (2, 3))),  # a leader that lives stays
        (2, (1, 2, 3), {2}, False, (1, (1, 3))),
        (1, (1,), {1}, False, (NO_LEADER, (1,))),  # the ISR keeps its last member
        (1, (1,), {1}, True, (2, (2,))),  # the first live one of the assignment
        (1, (1,), {1, 2}, True, (3, (3,))),
        (1, (1, 2, 3), {1, 2, 3}, True, (NO_LEADER, (1, 2, 3))),  # nobody lives
        (NO_LEADER, (1,), {4}, False, (NO_LEADER, (1,))),  # as a failed directory leaves it
        (1, (1, 2, 3), {4}, False, (1, (1, 2, 3))),
    ],
)
def test_who_leads_next(
    *, leader: int, isr: Replicas, lost: set[int], unclean: bool, expected: tuple[int, Replicas]
) -> None:
    placement = PlacedPartition(tp("a-0"), (1, 2, 3), leader, isr, unclean=unclean)
    found = without(placement, ALIVE - lost)
    assert (found.leader, found.isr) == expected


@pytest.mark.parametrize(
    ("isr", "elr", "lost", "expected", "lossy"),
    [
        ((1,), (3, 2), {1}, 2, 0),  # by the assignment's order, not that of the ELR
        ((1,), (3,), {1}, 3, 0),  # one that is not eligible is passed over
        ((1, 3), (2,), {1}, 3, 0),  # while one is in sync, eligible ones wait
        ((1,), (3,), {1, 3}, 2, 1),  # unclean at last
    ],
)
def test_who_leads_next_where_some_are_eligible(
    isr: Replicas, elr: Replicas, lost: set[int], expected: int, lossy: int
) -> None:
    placement = PlacedPartition(tp("a-0"), (1, 2, 3), 1, isr, unclean=True, elr=elr)
    (change,) = predict_loss([placement], ALIVE, lost).changes
    assert (change.new_leader, change.lossy) == (expected, bool(lossy))
    if len(lost) == 1:
        assert single_losses([placement], ALIVE)[1].figures.lossy == Bound(lossy, lossy)


def test_a_loss_with_everything_in_it() -> None:
    state = cluster(
        {"a-0": (1, 2), "a-1": (2, 1), "b-0": (1,), "c-0": (1, 3), "gone-0": (1, 2)},
        states={"c-0": (1, (1,))},
    )
    configs = {"a": {"min.insync.replicas": "2"}, "c": {"unclean.leader.election.enable": "true"}}
    state = replace(state, topic_configs=configs, requests=Requests(deletions=("gone",)))
    sizes = {tp("a-0"): 10, tp("a-1"): 20, tp("b-0"): 30, tp("c-0"): 40}
    found = predict_loss(placements_of(state, sizes), state.brokers, {1})
    assert [(str(c.partition), c.leader, c.new_leader, c.lossy) for c in found.changes] == [
        ("a-0", 1, 2, False),
        ("b-0", 1, NO_LEADER, False),
        ("c-0", 1, 3, True),
    ]
    assert (found.offline, found.already_offline) == ((tp("b-0"),), ())
    assert [str(placement.partition) for placement in found.refusing] == ["a-0", "a-1"]
    assert found.before[1] == Load(4, 3, 100, 80)
    assert found.after == {2: Load(2, 2, 30, 30), 3: Load(1, 1, 40, 40), 4: Load(0, 0, 0, 0)}


def test_what_is_offline_already_is_named_apart() -> None:
    state = cluster(
        {"a-0": (1, 2), "a-1": (1, 2), "a-2": (8, 9)}, states={"a-0": (NO_LEADER, (1,))}
    )
    state.states.pop(tp("a-2"))  # type: ignore[attr-defined]  # of brokers that are not alive, without a state
    found = predict_loss(placements_of(state), state.brokers, {1, 2})
    assert (found.offline, found.already_offline) == ((tp("a-1"),), (tp("a-0"), tp("a-2")))
    assert (found.figures.offline, found.unknown) == (Bound(1, 1), ())


def test_the_brokers_own_minimum_counts_where_zookeeper_has_none() -> None:
    state = cluster({"a-0": (1, 2)})
    assert predict_loss(placements_of(state), state.brokers, {2}).refusing == ()
    assert len(predict_loss(placements_of(state, min_insync=2), state.brokers, {2}).refusing) == 1
    told = replace(state, broker_defaults={"min.insync.replicas": "1"})
    assert predict_loss(placements_of(told, min_insync=2), state.brokers, {2}).refusing == ()


def reassign(targets: dict[str, Replicas], elect: Elect = Elect.NONE) -> ReassignmentPlan:
    return ReassignmentPlan(
        PlanHeader(), tuple(PartitionTarget(tp(n), r) for n, r in targets.items()), elect=elect
    )


@pytest.mark.parametrize(
    ("target", "elect", "leader"),
    [
        ((2, 1), Elect.NONE, 1),  # a leader that stays among the replicas goes on
        ((2, 1), Elect.AT_END, 2),
        ((3, 4), Elect.NONE, 3),  # one that leaves is followed by the first of the target
        ((3, 1), Elect.AFTER_EACH_WAVE, 3),
    ],
)
def test_who_leads_after_a_reassignment(target: Replicas, elect: Elect, leader: int) -> None:
    state = cluster({"a-0": (1, 2), "b-0": (1, 2)})
    before = placements_of(state)
    [first, second] = planned(reassign({"a-0": target}, elect), before, state)
    assert (first.leader, first.replicas, set(first.isr or ())) == (leader, target, set(target))
    assert second == before[1]


def test_what_a_reassignment_cannot_help_stays_as_it_is() -> None:
    state = cluster(
        {"a-0": (9, 1), "b-0": (1, 2)}, states={"a-0": (NO_LEADER, (9,)), "b-0": (1, (1,))}
    )
    found = planned(
        reassign({"a-0": (1, 2), "b-0": (2, 1)}, Elect.AT_END), placements_of(state), state
    )
    assert [(each.leader, each.isr) for each in found] == [(NO_LEADER, (9,)), (1, (1,))]


def test_elections_and_deletions() -> None:
    state = cluster({"a-0": (1, 2), "b-0": (1, 2)}, states={"a-0": (2, (1, 2)), "b-0": (2, (2,))})
    before = placements_of(state)
    elected = planned(ElectionPlan(PlanHeader(), all_partitions=True), before, state)
    assert [each.leader for each in elected] == [1, 2]
    deleted = planned(DeletionPlan(PlanHeader(), ("b",)), before, state)
    after = compare(before, deleted, state.brokers, state.brokers).after
    assert (after[1].replicas, after[2].replicas, after[2].leaders) == (1, 1, 1)


@st.composite
def placements(draw: st.DrawFn) -> list[PlacedPartition]:
    """Clusters of brokers 1 to 4, any of whose partitions may be short of replicas, or offline."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        replicas = tuple(draw(st.permutations(sorted(ALIVE)))[: draw(st.integers(1, 4))])
        isr = draw(st.permutations(replicas))[: draw(st.integers(1, len(replicas)))]
        leader = draw(st.sampled_from(isr))
        minimum, unclean = draw(st.integers(1, 3)), draw(st.booleans())
        found.append(
            PlacedPartition(
                tp(f"a-{number}"), replicas, leader, tuple(isr), minimum, unclean, number
            )
        )
    return found


losses = st.lists(st.sampled_from(sorted(ALIVE)), unique=True)


@given(placements(), losses)
def test_leaders_live_and_are_replicas_and_none_is_without_reason(
    before: list[PlacedPartition], lost: list[int]
) -> None:
    """A partition is offline only where no live replica may lead; every leader is alive, a replica,
    and in the ISR.
    """
    left = ALIVE - set(lost)
    for was in before:
        now = without(was, left)
        if now.leader == NO_LEADER:
            assert not left & set(was.replicas if was.unclean else was.isr or ())
        else:
            assert now.leader in left & set(was.replicas) & set(now.isr or ())
            assert set(now.isr or ()) <= left
        assert was.leader not in left or now.leader == was.leader


@given(placements(), losses)
def test_brokers_lost_one_after_the_other_leave_the_same_leaders(
    before: list[PlacedPartition], lost: list[int]
) -> None:
    """What is said of several brokers at once holds for any order in which they go, but for unclean
    elections.
    """
    for was in (replace(each, unclean=False) for each in before):
        step, left = was, set(ALIVE)
        for broker in lost:
            left.discard(broker)
            step = without(step, left)
        at_once = without(was, left)
        assert at_once.leader == step.leader
        assert set(at_once.isr or ()) == set(step.isr or ()) or at_once.leader == NO_LEADER


def test_a_leader_outside_its_isr_can_be_lost_too() -> None:
    placement = PlacedPartition(tp("a-0"), (1, 2), 1, (2,))
    assert single_losses([placement], ALIVE)[1].figures.leader_changes == Bound(1, 1)


def concealed(
    before: list[PlacedPartition], leaders: list[bool], isrs: list[bool]
) -> list[PlacedPartition]:
    """Return the same partitions, some of them without their leader or their ISR."""
    return [
        replace(each, leader=None if leader else each.leader, isr=None if isr else each.isr, elr=())
        for each, leader, isr in zip(before, leaders, isrs, strict=False)
    ]


flags = st.lists(st.booleans(), min_size=8, max_size=8)


@given(placements(), flags, flags)
def test_single_losses_are_what_each_loss_predicts(
    whole: list[PlacedPartition], leaders: list[bool], isrs: list[bool]
) -> None:
    for before in (whole, concealed(whole, leaders, isrs)):
        for broker, found in single_losses(before, ALIVE).items():
            alone = predict_loss(before, ALIVE, {broker})
            assert found.figures == alone.figures
            led = [load.leaders for load in alone.after.values()]
            certain = not any(each.leader for each in alone.unknown)
            assert found.most_leaders == (max(each or 0 for each in led) if certain else None)
            assert sum(load.size_bytes or 0 for load in alone.before.values()) == sum(
                (each.size_bytes or 0) * len(each.replicas) for each in before
            )


@given(placements(), losses, flags, flags)
def test_what_is_unknown_lies_within_the_bounds_and_what_is_certain_happens(
    whole: list[PlacedPartition], lost: list[int], leaders: list[bool], isrs: list[bool]
) -> None:
    before = concealed(whole, leaders, isrs)
    truth, found = predict_loss(whole, ALIVE, lost), predict_loss(before, ALIVE, lost)
    for name in ("leader_changes", "offline", "refusing", "lossy"):
        real, bound = getattr(truth.figures, name), getattr(found.figures, name)
        assert real.least == real.most
        assert bound.least <= real.least <= bound.most
    assert set(found.offline) <= set(truth.offline)
    assert {each.partition for each in found.refusing} <= {
        each.partition for each in truth.refusing
    }
    named = {each.partition for each in found.unknown if each.affected and each.leader}
    assert set(truth.offline) <= {*found.offline, *named}
    for broker, load in found.after.items():
        assert load.replicas == truth.after[broker].replicas
        assert load.leaders in {None, truth.after[broker].leaders}
        assert load.leader_bytes in {None, truth.after[broker].leader_bytes}


@pytest.mark.parametrize(
    ("replicas", "leader", "isr", "lost", "expected"),
    [
        ((1, 2), None, None, {1, 2}, (Bound(1, 1), Bound(0, 0))),  # no replica is left
        ((1, 2), None, (1, 2), {1}, (Bound(0, 1), Bound(0, 1))),  # it may be offline before
        ((1, 2), None, None, {3}, (Bound(0, 0), Bound(0, 0))),  # nothing of it is lost
        ((1, 2), 1, None, {2}, (Bound(0, 0), Bound(0, 1))),  # the leader stays
        ((1, 2), 1, None, {1}, (Bound(0, 1), Bound(0, 1))),
        ((1, 2), NO_LEADER, None, {1, 2}, (Bound(0, 0), Bound(0, 0))),  # it is offline already
    ],
)
def test_what_replicas_alone_say(
    *,
    replicas: Replicas,
    leader: int | None,
    isr: Replicas | None,
    lost: set[int],
    expected: tuple[Bound, Bound],
) -> None:
    found = predict_loss(
        [PlacedPartition(tp("a-0"), replicas, leader, isr, min_isr=2)], ALIVE, lost
    ).figures
    assert (found.offline, found.refusing) == expected


def test_a_partition_of_which_nothing_lives_has_no_leader_though_nobody_says_so() -> None:
    state = cluster({"a-0": (8, 9), "a-1": (1, 9)})
    state = replace(state, states={})
    assert [each.leader for each in placements_of(state)] == [NO_LEADER, None]


def test_a_plan_leaves_unknown_what_it_cannot_decide() -> None:
    state = cluster({"a-0": (1, 2), "a-1": (1, 2), "a-2": (2, 1)})
    unknown = PartitionState(1, (1,), isr_known=False)
    state = replace(state, states={tp("a-1"): unknown, tp("a-2"): unknown})
    before = placements_of(state)
    moved = planned(
        reassign({"a-0": (3, 4), "a-1": (3, 4), "a-2": (1, 2)}, Elect.AT_END), before, state
    )
    assert [(each.leader, each.isr) for each in moved] == [(None, None), (3, (3, 4)), (1, None)]
    reordered = planned(reassign({"a-1": (2, 1)}, Elect.AT_END), before, state)
    assert [each.leader for each in reordered] == [None, None, 1]
    elected = planned(ElectionPlan(PlanHeader(), all_partitions=True), before, state)
    assert [each.leader for each in elected] == [None, 1, None]
    found = compare(before, elected, state.brokers, state.brokers)
    assert (found.figures.leader_changes, found.figures.offline) == (Bound(0, 1), Bound(0, 0))
    assert [(str(each.partition), each.affected) for each in found.unknown] == [
        ("a-0", False),
        ("a-2", True),
    ]
