"""Leaders that another tool elected while nothing was in sync."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.operations.decide import recall, remember
from kadmin.operations.decide.actions import Memory, Observed
from kadmin.operations.decide.leaders import leaders_in_words

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState

A = tp("a-0")
LAST, GONE = (5, (5,)), (NO_LEADER, ())


def seen(leader: int, isr: tuple[int, ...], *alive: int) -> ClusterState:
    """The partition, read at a time of its own."""
    state = cluster({"a-0": (5, 2, 1)}, states={"a-0": (leader, isr)}, brokers=dict.fromkeys(alive))
    return replace(state, states={A: replace(state.states[A], fingerprint=hash((leader, isr)))})


def after(*states: ClusterState) -> Memory:
    memory = Memory()
    for number, state in enumerate(states):
        memory = remember(memory, Observed(state, (), NODES), float(number))
    return memory


@pytest.mark.parametrize(
    "gone", [GONE, (NO_LEADER, (5,))], ids=["with eligible leaders", "without"]
)
def test_a_leader_that_was_not_in_the_last_isr_is_named(gone: tuple[int, tuple[int, ...]]) -> None:
    unclean = seen(1, (1,), 1, 2)
    memory = after(seen(*LAST, 1, 2, 5), seen(*gone, 1, 2), unclean)
    said = leaders_in_words([A], (), memory, unclean)
    assert said.startswith(
        "led by a broker that was not in the last ISR: a-0 by broker 1: records are lost"
    )
    later = seen(2, (1, 2), 1, 2)
    memory = remember(memory, Observed(later, (), NODES), 9.0)
    assert "a-0 by broker 2" in leaders_in_words([A], (), memory, later), "what was lost stays lost"


def test_a_broker_of_the_last_isr_that_returns_loses_nothing() -> None:
    back = seen(5, (5,), 1, 2, 5)
    memory = after(seen(*LAST, 1, 2, 5), seen(*GONE, 1, 2), back)
    assert leaders_in_words([A], [A], memory, back) == ""


def test_a_run_that_never_saw_the_isr_says_nothing_of_it() -> None:
    back = seen(5, (5,), 1, 2, 5)
    assert leaders_in_words([A], (), after(seen(*GONE, 1, 2), back), back) == ""


@pytest.mark.parametrize(
    ("leader", "clean"), [(5, True), (2, True), (1, False)], ids=["last ISR", "ELR", "neither"]
)
def test_the_reading_that_an_operation_was_recorded_from_names_the_eligible_leaders(
    leader: int,
    clean: bool,  # noqa: FBT001 - a row of the table
) -> None:
    """The partition had no leader then: later readings show no ISR, and no eligible leaders."""
    first = seen(*GONE, 1, 2)
    first = replace(first, states={A: replace(first.states[A], elr=(5, 2))})
    led = seen(leader, (leader,), 1, 2, 5)
    memory = recall((), first)
    for number, state in enumerate([seen(*GONE, 1, 2), led]):
        memory = remember(memory, Observed(state, (), NODES), float(number))
    said = leaders_in_words([A], [A], memory, led)
    assert said.startswith(
        "" if clean else "led by a broker that was not in the last ISR: a-0 by broker 1"
    )
    assert bool(said) is not clean


def test_a_partition_that_was_offline_before_and_is_led_now_is_named_by_every_run() -> None:
    """The run that saw it without a leader may be another one: the record knows that there was
    none.
    """
    led = seen(1, (1,), 1, 2)
    memory = after(led)
    said = leaders_in_words([A], [A], memory, led)
    assert said.startswith(
        "without a leader when the operation began, and led now: a-0 by broker 1"
    )
    assert leaders_in_words([A], (), memory, led) == ""
    assert leaders_in_words([A], [A], Memory(), seen(*GONE, 1, 2)) == ""
