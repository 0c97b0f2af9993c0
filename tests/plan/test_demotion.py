"""Demotions of brokers: only their leaders change, and the others lead as evenly as they can."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, moving, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.demotion import propose_demotion
from kadmin.plan.election import electable
from kadmin.plan.model import Elect

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition

RACKS = {1: "r1", 2: "r2", 3: "r1", 4: "r2", 5: "r3"}


def targets(state: ClusterState, *brokers: int) -> dict[str, Replicas]:
    plan = propose_demotion(state, brokers).plan
    assert plan.elect is Elect.AT_END
    assert all(each.current == state.assignment[each.partition] for each in plan.reassignments)
    return {str(each.partition): each.replicas for each in plan.reassignments}


def test_the_broker_is_last_and_the_others_keep_their_order() -> None:
    state = cluster({"a-0": (1, 2, 3), "a-1": (2, 1, 3), "b-0": (3, 2)})
    assert targets(state, 1) == {"a-0": (2, 3, 1)}


def test_leaders_go_to_those_that_lead_least() -> None:
    state = cluster({"a-0": (1, 2, 3), "a-1": (2, 1, 3), "a-2": (2, 3)})
    assert targets(state, 1) == {"a-0": (3, 2, 1)}


def test_a_leader_is_passed_on_where_that_is_more_even() -> None:
    """Broker 5 leads three already, so a-2 needs broker 2, a-1 then 3, and a-0 then 4."""
    led_by_5 = {f"c-{number}": (5,) for number in range(3)}
    state = cluster(
        {"a-0": (1, 3, 4), "a-1": (1, 2, 3), "a-2": (1, 2, 5), **led_by_5}, brokers=RACKS
    )
    leaders = {broker: after for broker, (_, after) in propose_demotion(state, [1]).leaders.items()}
    assert leaders == {1: 0, 2: 1, 3: 1, 4: 1, 5: 3}


def test_a_leader_that_is_another_broker_stays() -> None:
    """It would lose the leadership to the preferred replica at the next election."""
    state = cluster({"a-0": (1, 2, 3)}, states={"a-0": (3, (1, 2, 3))})
    assert targets(state, 1) == {"a-0": (3, 2, 1)}
    assert propose_demotion(state, [1]).leader_changes == 0


def test_a_broker_that_leads_without_being_preferred_is_demoted_by_the_election() -> None:
    state = cluster({"a-0": (2, 1)}, states={"a-0": (1, (1, 2))})
    found = propose_demotion(state, [1])
    assert targets(state, 1) == {"a-0": (2, 1)}
    assert found.leader_changes == 1
    assert electable([tp("a-0")], state) == (tp("a-0"),)


def test_of_several_brokers_none_leads() -> None:
    state = cluster({"a-0": (1, 2, 3), "a-1": (2, 4, 1)})
    assert targets(state, 1, 2) == {"a-0": (3, 1, 2), "a-1": (4, 2, 1)}


def test_the_rack_of_a_leader_is_kept_where_one_can() -> None:
    state = cluster({"a-0": (1, 2, 3), "a-1": (1, 2, 5)}, brokers=RACKS)
    kept = propose_demotion(state, [1], keep_racks=True)
    assert [each.new_leader for each in kept.demoted] == [3, 2]
    assert [each.new_leader for each in propose_demotion(state, [1]).demoted] == [2, 5]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        pytest.param(
            cluster({"a-0": (1,)}), "its replicas are on broker 1 only", id="no other replica"
        ),
        pytest.param(
            cluster({"a-0": (1, 2)}, states={"a-0": (1, (1,))}),
            "no other replica is alive and in the ISR [1]",
            id="none in sync",
        ),
        pytest.param(
            cluster({"a-0": (1, 9)}, states={"a-0": (1, (1, 9))}),
            "no other replica is alive and in the ISR [1, 9]",
            id="none alive",
        ),
        pytest.param(
            cluster({"a-0": (1, 2, 9)}, states={"a-0": (1, (1, 2))}),
            "a reassignment would wait for broker 9: not alive",
            id="another replica is not alive",
        ),
        pytest.param(
            cluster({"a-0": (1, 2)}, states={"a-0": (NO_LEADER, (1,))}),
            "no other replica is alive and in the ISR [1]",
            id="no leader",
        ),
        pytest.param(
            moving(cluster({"a-0": (1, 2, 3)}), "a-0", adding=(3,)),
            "it is being reassigned",
            id="in flight",
        ),
        pytest.param(
            replace(cluster({"a-0": (1, 2)}), states={}),
            "it is unknown whether broker 2 can lead",
            id="no state",
        ),
    ],
)
def test_a_partition_that_stays_is_named_with_its_reason(state: ClusterState, reason: str) -> None:
    found = propose_demotion(state, [1])
    assert found.impossible == ((tp("a-0"), reason),)
    assert found.plan.reassignments == ()


@st.composite
def clusters(draw: st.DrawFn) -> ClusterState:
    numbers = st.integers(1, 5)
    lists = draw(st.lists(st.lists(numbers, min_size=1, max_size=4, unique=True), max_size=7))
    states = {}
    for number, replicas in enumerate(lists):
        isr = draw(st.lists(st.sampled_from(replicas), min_size=1, unique=True))
        states[f"t-{number}"] = (draw(st.sampled_from(isr)), tuple(isr))
    return cluster(
        {f"t-{number}": tuple(replicas) for number, replicas in enumerate(lists)},
        brokers=RACKS,
        states=states,
    )


@given(
    state=clusters(),
    brokers=st.sets(st.integers(1, 5), min_size=1, max_size=2),
    keep_racks=st.booleans(),
)
def test_only_leaders_of_these_brokers_change_each_once_and_as_evenly_as_the_lists_allow(
    state: ClusterState,
    brokers: set[int],
    *,
    keep_racks: bool,
) -> None:
    """Rule: sets stay; a leader changes where one of the brokers leads and another replica can; the
    most leaders on one broker are the fewest that any choice gives.
    """
    found = propose_demotion(state, brokers, keep_racks=keep_racks)
    stuck = {partition for partition, _ in found.impossible}
    choices: dict[TopicPartition, list[int]] = {}
    for partition, replicas in state.assignment.items():
        leader, isr = state.states[partition].leader, state.states[partition].isr
        if leader not in brokers and replicas[0] not in brokers:
            continue
        able = [leader] if leader not in brokers else sorted(set(isr) - brokers)
        same_rack = [each for each in able if RACKS[each] == RACKS[leader]]
        if able:
            choices[partition] = same_rack if keep_racks and same_rack else able
        else:
            assert partition in stuck
    assert {each.partition for each in found.demoted} == choices.keys()
    for target in found.plan.reassignments:
        listed = [broker in brokers for broker in target.replicas]
        assert sorted(target.replicas) == sorted(state.assignment[target.partition])
        assert listed == sorted(listed), "the brokers are last"
        assert target.replicas[0] in choices[target.partition]
    assert found.leader_changes == sum(state.states[each].leader in brokers for each in choices)
    fixed = Counter(
        each.leader for partition, each in state.states.items() if partition not in choices
    )
    others = RACKS.keys() - brokers

    def most(chosen: Counter[int]) -> list[int]:
        return sorted(((fixed + chosen)[broker] for broker in others), reverse=True)

    best = min(
        (most(Counter(each)) for each in product(*choices.values())), default=most(Counter())
    )
    after = {broker: count for broker, (_, count) in found.leaders.items()}
    assert sorted((after[broker] for broker in others), reverse=True) == best
    assert found == propose_demotion(state, sorted(brokers, reverse=True), keep_racks=keep_racks)
