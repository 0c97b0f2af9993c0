"""Reassignments of other tools: which they are, the replicas that they return to, and the rules of
ending them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_S,
    STALLED_S,
    Finish,
    Memory,
    Observed,
    TakeBack,
    Wait,
)
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.foreign import back_to_original, foreign_moves
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import CancelStep
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.plan.model import PartitionTarget

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

OURS = PartitionTarget(tp("a-0"), (3, 4), (1, 2))
THEIRS = PartitionTarget(tp("x-0"), (1, 2), (3, 4, 1, 2))
WORK = CancellationWork((THEIRS,))
ASKED = CancelStep(1, "now", (tp("x-0"),))
HERE = cluster({"a-0": (3, 4, 1, 2), "x-0": (3, 4, 1, 2)}, states={"x-0": (1, (1, 2))})
IN_FLIGHT = moving(
    moving(HERE, "a-0", adding=(3, 4), removing=(1, 2)), "x-0", adding=(3, 4), removing=(1, 2)
)


def act(state: ClusterState, *steps: Step, now: float = 0.0) -> Action:
    return WORK.decide(Observed(state, steps, NODES), Memory(), now)


def error_of(action: Action) -> Exception:
    assert isinstance(action, Finish)
    assert action.state is OperationState.FAILED
    assert action.error is not None
    return action.error


def test_foreign_is_what_leads_to_no_list_of_ours() -> None:
    assert foreign_moves(IN_FLIGHT, [OURS]) == (tp("x-0"),)
    assert foreign_moves(IN_FLIGHT, []) == (tp("a-0"), tp("x-0"))
    retargeted = replace(OURS, replicas=(3, 2))
    assert tp("a-0") in foreign_moves(IN_FLIGHT, [retargeted]), "ours, on its way to another list"
    listed = with_node(HERE, {"a-0": (1, 2), "gone-0": (1,), "x-0": (3, 4)})
    assert foreign_moves(listed, [OURS]) == (tp("x-0"),), (
        "ours goes back; a deleted topic has nothing to return to"
    )


def test_the_original_replicas_are_those_without_the_added_ones() -> None:
    assert back_to_original([tp("x-0")], IN_FLIGHT, {}) == (THEIRS,)
    given = {tp("x-0"): (2, 1)}
    assert back_to_original([tp("x-0")], IN_FLIGHT, given) == (THEIRS,), (
        "the brokers' API returns to its own list"
    )
    named = with_node(IN_FLIGHT, {"x-0": (3, 4)})
    assert back_to_original([tp("x-0")], named, given)[0].replicas == (2, 1), (
        "a file knows the exact order"
    )


def test_up_to_2_3_they_are_known_only_where_nothing_has_begun() -> None:
    not_begun = with_node(cluster({"x-0": (1, 2)}), {"x-0": (3, 4)})
    assert back_to_original([tp("x-0")], not_begun, {})[0].replicas == (1, 2)
    union = with_node(HERE, {"x-0": (3, 4)})
    with pytest.raises(InvalidInputError, match=r"x-0 are not known") as unknown:
        back_to_original([tp("x-0")], union, {})
    assert "--origin FILE" in str(unknown.value.next_command)
    assert back_to_original([tp("x-0")], union, {tp("x-0"): (2, 1)})[0].replicas == (2, 1)
    with pytest.raises(InvalidInputError, match=r"x-0 has \[3, 4, 1, 2\], not \[2, 9\]"):
        back_to_original([tp("x-0")], union, {tp("x-0"): (2, 9)})


def test_a_request_is_superseded_and_then_waited_for() -> None:
    listed = with_node(IN_FLIGHT, {"x-0": (3, 4)}, version=1)
    assert act(listed) == TakeBack({tp("x-0"): (1, 2)})
    assert act(listed, ASKED) == TakeBack({tp("x-0"): (1, 2)}), (
        "the old controller wrote its own list over it"
    )
    back = with_node(IN_FLIGHT, {"x-0": (1, 2)})
    assert act(back, ASKED) == Wait("going back to the original replicas")
    dead = replace(back, brokers={broker: back.brokers[broker] for broker in (1, 3, 4)})
    waiting = act(dead, ASKED)
    assert isinstance(waiting, Wait)
    assert waiting.warning == "the controller waits for original brokers that are not alive: 2"


@pytest.mark.parametrize("stop", [Stop.PAUSE, Stop.CANCEL])
def test_a_request_to_stop_waits_for_what_is_asked_and_never_for_a_dead_broker(stop: Stop) -> None:
    request = StopRequest(stop, "ann@h1", "then")
    overdue = PICKUP_DEADLINE_S + 1
    for state, now in ((with_node(IN_FLIGHT, {"x-0": (1, 2)}), 0.0), (IN_FLIGHT, 0.0)):
        assert isinstance(
            decide(WORK, Observed(state, (ASKED,), NODES, request), Memory(), now), Wait
        )
    for state, now in (
        (with_node(IN_FLIGHT, {"x-0": (3, 4)}, version=1), 0.0),
        (IN_FLIGHT, overdue),
    ):
        assert isinstance(
            decide(WORK, Observed(state, (ASKED,), NODES, request), Memory(), now), TakeBack
        ), "in flight"
    often = tuple(replace(ASKED, number=number) for number in (1, 2, 3))
    refused = decide(WORK, Observed(IN_FLIGHT, often, NODES, request), Memory(last_step=3), overdue)
    assert isinstance(refused, Wait), "a controller that refuses is not asked for ever"
    assert "x-0" in str(
        error_of(
            decide(WORK, Observed(IN_FLIGHT, often, NODES, request), Memory(last_step=3), STALLED_S)
        )
    )
    back = with_node(IN_FLIGHT, {"x-0": (1, 2)})
    dead = replace(back, brokers={broker: back.brokers[broker] for broker in (1, 3, 4)})
    error = error_of(decide(WORK, Observed(dead, (ASKED,), NODES, request), Memory(), 0.0))
    assert "x-0" in str(error)
    before = decide(WORK, Observed(IN_FLIGHT, (), NODES, request), Memory(), 0.0)
    assert isinstance(before, Finish), "nothing was asked for yet"
    assert isinstance(before.error, StoppedByRequestError)


def test_an_entry_that_names_the_original_replicas_is_superseded_unless_we_wrote_it() -> None:
    """A deaf controller never removes the entry of another tool."""
    target = PartitionTarget(tp("x-0"), (1, 2), (1, 2))
    listed = with_node(cluster({"x-0": (1, 2)}), {"x-0": (1, 2)})
    work, memory = CancellationWork((target,)), Memory()
    assert work.decide(Observed(listed, (), NODES), memory, 0.0) == TakeBack({tp("x-0"): (1, 2)})
    assert work.decide(Observed(listed, (ASKED,), NODES), memory, 0.0) == Wait(
        "going back to the original replicas"
    )


def test_without_a_request_the_brokers_are_asked_once_in_a_while() -> None:
    asked = TakeBack({tp("x-0"): (1, 2)}, by_api=True)
    assert act(IN_FLIGHT) == asked
    assert isinstance(act(IN_FLIGHT, ASKED), Wait)
    assert act(IN_FLIGHT, ASKED, now=PICKUP_DEADLINE_S + 1) == asked


def test_it_ends_well_only_where_the_cluster_shows_the_original_replicas() -> None:
    back = cluster({"x-0": (1, 2)})
    assert act(back, ASKED) == Finish(
        OperationState.COMPLETED,
        "1 reassignment of other tools ended, back at the original replicas",
    )
    assert "deleted meanwhile: x-0" in str(act(cluster({"a-0": (1, 2)}), ASKED))
    assert isinstance(error_of(act(cluster({"x-0": (3, 4)}), ASKED)), NotCompletedError), (
        "it was completed before"
    )


def test_nothing_is_ended_that_would_lose_data_or_start_other_entries() -> None:
    lost = replace(
        IN_FLIGHT,
        states={**IN_FLIGHT.states, tp("x-0"): replace(IN_FLIGHT.states[tp("x-0")], isr=(3,))},
    )
    assert "x-0: none of its original replicas is alive and in sync" in str(error_of(act(lost)))
    other = PartitionTarget(tp("a-0"), (1, 2), (3, 4, 1, 2))
    both = CancellationWork((THEIRS, other))
    assert both.decide(Observed(lost, (), NODES), Memory(), 0.0) == TakeBack(
        {tp("a-0"): (1, 2)}, by_api=True
    )
    listed = with_node(cluster({"a-0": (1, 2), "x-0": (1, 2)}), {"x-0": (3, 4), "a-0": (3, 4)})
    error = error_of(act(listed))
    assert isinstance(error, BusyError)
    assert "a-0" in error.message


def test_a_request_that_cannot_be_read_is_healed_first() -> None:
    action = act(with_node(IN_FLIGHT, None))
    assert isinstance(action, Finish)
    assert action.state is OperationState.RUNNING
    assert isinstance(act(replace(IN_FLIGHT, controller=None)), Wait)
