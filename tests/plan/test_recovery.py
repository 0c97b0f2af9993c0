"""Recoveries: the longest living copy leads, who is to be started comes first, unknown is no 0."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, moving, tp

from kadmin.plan.model import ForcedLeader, Losing
from kadmin.plan.recovery import (
    KnownEnd,
    LogEvidence,
    losing,
    propose_recovery,
    starts_of,
    way_out,
)

AT = "2026-01-01T00:00:00Z"
ALIVE = {2: None, 3: None, 4: None}
LISTS = {"y-0": (1, 2, 3), "z-0": (1,), "ok-0": (2, 3)}
DEAD_1 = {"y-0": (-1, (1,)), "z-0": (-1, (1,))}
STATE = cluster(LISTS, brokers=ALIVE, states=DEAD_1)
Y = LogEvidence({2: 200, 3: 350}, known=(KnownEnd(500, "committed by group g"),))


def test_the_longest_living_copy_leads_and_what_it_lacks_is_known_from_below() -> None:
    found = propose_recovery(STATE, {tp("y-0"): Y}, AT)
    (entry,) = found.plan.partitions
    assert entry == ForcedLeader(
        tp("y-0"),
        3,
        (1, 2, 3),
        losing=Losing(150),
        because="what would lead without a loss is dead: broker 1",
    )
    assert entry.ordered.replicas == (3, 1, 2)
    assert found.plan.looked_at == AT
    assert [(each.partition, each.impossible) for each in found.offline] == [
        (tp("y-0"), ""),
        (tp("z-0"), "no replica is alive"),
    ]


def test_an_end_that_no_broker_told_comes_last_and_the_loss_is_then_unknown() -> None:
    (entry,) = propose_recovery(STATE, {tp("y-0"): LogEvidence({3: 10})}, AT).plan.partitions
    assert (entry.leader, entry.losing) == (3, None)
    (entry,) = propose_recovery(STATE, {}, AT).plan.partitions
    assert (entry.leader, entry.losing) == (2, None)


def test_the_last_sample_bounds_the_loss_from_above_where_it_is_not_older_than_the_copy() -> None:
    sampled = replace(Y, sampled=KnownEnd(600, "sampled"))
    assert losing(sampled, 3) == Losing(250, 250)
    assert losing(replace(Y, sampled=KnownEnd(400, "sampled")), 3) == Losing(150, 150)
    assert losing(replace(Y, sampled=KnownEnd(300, "sampled")), 3) == Losing(150)
    assert losing(LogEvidence({3: 350}, sampled=KnownEnd(350, "sampled")), 3) == Losing(None, 0)
    assert losing(LogEvidence({3: 350}), 3) is None


def test_who_gives_most_partitions_a_leader_back_is_named_first() -> None:
    state = cluster(
        {"a-0": (1, 2), "a-1": (1, 2), "b-0": (4, 2), "c-0": (1, 4)},
        brokers={2: None},
        states={
            each: (-1, isr)
            for each, isr in {"a-0": (1,), "a-1": (1,), "b-0": (4,), "c-0": (4,)}.items()
        },
    )
    assert propose_recovery(state, {}, AT).starts == {1: 2, 4: 2}
    assert starts_of([tp("a-0"), tp("b-0"), tp("c-0")], state) == {4: 2, 1: 1}


def test_eligible_and_last_leaders_are_ways_out_where_the_isr_is_empty() -> None:
    found = replace(STATE.states[tp("y-0")], isr=(), elr=(1,))
    eligible = replace(STATE, states={**STATE.states, tp("y-0"): found})
    assert way_out(tp("y-0"), eligible) == "start broker 1, or propose recovery"
    last = replace(found, elr=(), last_known_elr=(1,))
    state = replace(STATE, states={**STATE.states, tp("y-0"): last})
    (entry,) = propose_recovery(state, {}, AT).plan.partitions
    assert entry.because == "the last leader is dead: broker 1"
    unknown = replace(last, last_known_elr=())
    state = replace(STATE, states={**STATE.states, tp("y-0"): unknown})
    assert way_out(tp("y-0"), state) == "propose recovery"
    assert way_out(tp("z-0"), STATE) == "start broker 1, or propose recovery"


def test_a_clean_way_and_a_move_in_flight_keep_a_partition_out_of_the_plan() -> None:
    clean = cluster(LISTS, brokers=ALIVE, states=DEAD_1 | {"y-0": (-1, (1, 2))})
    assert propose_recovery(clean, {}, AT).plan.partitions == ()
    assert "broker 2 is alive and in sync" in way_out(tp("y-0"), clean)
    failed = replace(clean.states[tp("y-0")], offline_replicas=(1, 2))
    state = replace(clean, states={**clean.states, tp("y-0"): failed})
    (entry,) = propose_recovery(state, {}, AT).plan.partitions
    assert entry.leader == 3
    state = moving(STATE, "y-0", adding=(4,), removing=(2,))
    assert propose_recovery(state, {}, AT).offline[0].impossible == "it is being reassigned"


def test_partitions_whose_replicas_are_all_dead_come_back_empty_where_that_is_asked_for() -> None:
    found = propose_recovery(STATE, {}, AT, empty=True)
    entry = found.plan.partitions[-1]
    assert (entry.partition, entry.current, entry.losing) == (tp("z-0"), (1,), None)
    assert entry.replicas == (4,)  # the broker that holds least
    assert entry.ordered.replicas == (4,)
    assert found.plan.empty


@given(
    st.dictionaries(st.sampled_from([2, 3, 4]), st.integers(0, 100), min_size=1),
    st.lists(st.integers(0, 150), max_size=3),
    st.integers(0, 150),
    st.integers(0, 150) | st.none(),
)
def test_the_bounds_hold_the_true_loss(
    ends: dict[int, int], known: list[int], beyond: int, sampled: int | None
) -> None:
    """The dead leader's log reaches at least as far as anything that was ever seen of it."""
    truth = max([*ends.values(), *known, *([] if sampled is None else [sampled])]) + beyond
    evidence = LogEvidence(
        ends,
        known=tuple(KnownEnd(each, "seen") for each in known),
        sampled=None if sampled is None else KnownEnd(sampled, "sampled"),
    )
    (entry,) = (
        each
        for each in propose_recovery(
            cluster({"y-0": (1, 2, 3, 4)}, brokers=ALIVE, states={"y-0": (-1, (1,))}),
            {tp("y-0"): evidence},
            AT,
        ).plan.partitions
    )
    lost = truth - ends[entry.leader]
    assert ends[entry.leader] == max(ends.values())
    found = entry.losing or Losing()
    assert found.records is None or found.records <= lost
    # From above only if nothing was written after the sample.
    if found.at_most is not None and truth == max([sampled or 0, *known, *ends.values()]):
        assert lost <= found.at_most
