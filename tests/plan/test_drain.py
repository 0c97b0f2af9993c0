"""Drains: one copy for each replica that leaves, racks kept, brokers and leaders even."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, moving, tp

from kadmin.plan.drain import drain, propose_decommission
from kadmin.plan.model import Elect, PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas

RACKS = {1: "r1", 2: "r2", 3: "r1", 4: "r2", 5: "r3"}
FOUR = dict.fromkeys(range(1, 5))


def targets(state: ClusterState, *brokers: int) -> dict[str, Replicas]:
    found = drain(state, brokers)
    assert all(each.current == state.assignment[each.partition] for each in found.targets)
    return {str(each.partition): each.replicas for each in found.targets}


def test_a_replica_goes_to_the_broker_that_holds_least_and_the_others_stay() -> None:
    state = cluster({"a-0": (1, 4), "a-1": (2, 4), "b-0": (1, 2)}, brokers=FOUR)
    assert targets(state, 4) == {"a-0": (1, 3), "a-1": (2, 3)}


def test_a_copy_is_in_the_rack_that_would_be_lost() -> None:
    state = cluster({"a-0": (1, 2), "a-1": (4, 1)}, brokers=RACKS)
    assert targets(state, 2) == {"a-0": (1, 4)} or targets(state, 2) == {"a-0": (1, 5)}
    assert set(targets(state, 1)["a-0"]) & {3, 5}


def test_a_broker_that_was_first_is_followed_by_the_one_that_is_preferred_for_least() -> None:
    state = cluster(
        {"a-0": (3, 1), "b-0": (1, 2), "b-1": (1, 2)}, brokers=dict.fromkeys(range(1, 4))
    )
    assert targets(state, 3) == {"a-0": (2, 1)}


def test_several_brokers_leave_at_once() -> None:
    state = cluster({"a-0": (3, 4)}, brokers=FOUR)
    assert set(targets(state, 3, 4)["a-0"]) == {1, 2}


def test_what_cannot_move_is_named_with_the_reason() -> None:
    state = cluster(
        {"a-0": (1, 2, 3), "b-0": (3,), "c-0": (3, 1)},
        brokers={1: None, 2: None},
        states={"b-0": (-1, (3,))},
    )
    found = drain(moving(state, "c-0", adding=(2,), removing=(1,)), [3])
    assert found.targets == ()
    assert found.impossible == {
        tp("a-0"): "every other live broker is a replica already",
        tp("b-0"): "no replica is alive and in sync",
        tp("c-0"): "it is being reassigned",
    }


@st.composite
def small_clusters(draw: st.DrawFn) -> ClusterState:
    lists = draw(
        st.lists(st.permutations([1, 2, 3, 4, 5]).map(lambda ids: tuple(ids[:2])), max_size=5)
    )
    return cluster({f"a-{number}": each for number, each in enumerate(lists)}, brokers=RACKS)


@given(small_clusters(), st.sampled_from([1, 2, 3, 4, 5]))
def test_no_drain_with_as_few_copies_and_the_same_racks_is_more_even(
    state: ClusterState, broker: int
) -> None:
    found = drain(state, [broker])
    assert {each.partition for each in found.targets} == {
        each for each, replicas in state.assignment.items() if broker in replicas
    }
    kept = Counter(
        each for replicas in state.assignment.values() for each in replicas if each != broker
    )
    choices = []
    for target in found.targets:
        assert len(target.added) == 1
        assert set(target.removed) == {broker}
        stays = set(target.replicas) - set(target.added)
        able = set(RACKS) - {*stays, broker}
        apart = {each for each in able if RACKS[each] not in {RACKS[other] for other in stays}}
        assert set(target.added) <= (apart or able)
        choices.append(apart or able)

    def unevenness(takers: tuple[int, ...]) -> int:
        counts = kept + Counter(takers)
        return sum(counts[each] ** 2 for each in RACKS if each != broker)

    chosen = tuple(target.added[0] for target in found.targets)
    assert unevenness(chosen) == min(map(unevenness, product(*choices)))


def test_a_decommission_takes_the_reassignment_that_is_given() -> None:
    state = cluster({"a-0": (1, 3)}, brokers=FOUR)
    given_ = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("a-0"), (1, 4), (1, 3)),))
    proposal = propose_decommission(state, [3], None, given_)
    assert proposal.plan.reassignments == given_.reassignments
    assert (proposal.plan.brokers, proposal.plan.elect) == ((3,), Elect.AT_END)
    assert proposal.replicas == {1: (1, 1), 2: (0, 0), 3: (1, 0), 4: (0, 1)}
