"""No state of an operation is without a command that leaves it: a search over partitions, dead brokers and answers.

The cluster of the search has one partition, with original replicas 1 and 2 and the target 2 and 3. It answers as
controllers do (docs/kraft.md, tests/support/eras), or does nothing for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.cluster.model import NO_LEADER
from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.actions import Finish, Memory, Observed, TakeBack
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import Intent, Sending, Step, StepKind
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import Elect, PartitionTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.operations.decide.actions import Action

A = tp("a-0")
ORIGINAL: Replicas = (1, 2)
TARGET: Replicas = (2, 3)
BROKERS = (1, 2, 3)
PLACES = ("original", "in flight", "halted", "target", "elsewhere", "deleted")
API_ANSWERS = ("ends", "halts", "refuses")
NODE_ANSWERS = ("ends", "begins", "nothing")
REQUEST = StopRequest(Stop.CANCEL, "somebody", "now")
WAVE = Step(1, StepKind.WAVE, "now", wave=0)
WORK = ReassignmentWork(((target := PartitionTarget(A, TARGET, ORIGINAL),),), (target,), Elect.NONE)
TICK_S, MOST_TICKS = 1.0, 200
MOST_REQUESTS = 6
"""One every ten seconds, for a minute, where the cluster shows nothing of them."""


@dataclass(frozen=True)
class Case:
    """Where the partition is, who is in sync and alive, whether through the API, and the answers to each request."""

    place: str
    isr: Replicas
    dead: frozenset[int]
    api: bool
    answers: tuple[str, str]


def subsets(ids: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(ids, size) for size in range(len(ids) + 1))


CASES = [
    Case(place, isr, frozenset(dead), api, (first, then))
    for place, isr, dead, api in product(PLACES, subsets(BROKERS), subsets(BROKERS), (True, False))
    for first, then in product(API_ANSWERS if api else NODE_ANSWERS, repeat=2)
]


class Controller:
    """The cluster of one case, and the steps on record."""

    def __init__(self, case: Case, *, published: bool) -> None:
        self.case, self.place, self.node = case, case.place, None if case.api else TARGET
        self.steps: tuple[Step, ...] = (WAVE,) if published else ()
        self.asked = 0

    def state(self) -> ClusterState:
        if self.place == "deleted":
            return cluster({}, brokers=self._alive())
        replicas = {"original": ORIGINAL, "target": TARGET, "elsewhere": (3,)}.get(self.place, (2, 3, 1))
        leader = next((each for each in self.case.isr if each not in self.case.dead), NO_LEADER)
        state = cluster({"a-0": replicas}, states={"a-0": (leader, self.case.isr)}, brokers=self._alive())
        if self.place == "in flight":
            state = moving(state, "a-0", adding=(3,), removing=(1,))
        if self.place == "halted":
            state = moving(cluster_at(state, (1, 2, 3)), "a-0", adding=(3,), removing=(3,))
        return state if self.node is None or self.place != "in flight" else with_node(state, {"a-0": self.node})

    def take_back(self, action: TakeBack) -> None:
        """Answer as the case says; what was answered last is answered ever after."""
        answer = self.case.answers[min(self.asked, 1)]
        self.asked += 1
        ends = any(step.intent is not None and step.intent.targets[A] == action.origin[A] for step in self.steps)
        step = Step(len(self.steps) + 1, StepKind.CANCEL, "now", partitions=(A,))
        if self.case.api:
            step = replace(step, sending=Sending.ANSWERED, intent=Intent({A: None if ends else action.origin[A]}))
            if answer == "refuses":
                step = replace(step, refused={A: "INVALID_REPLICA_ASSIGNMENT"})
            else:
                # To end a reassignment ends it at once; the original list does or does not.
                self.place = "halted" if answer == "halts" and not ends else "original"
        elif action.through_brokers:
            self.place = "original" if answer == "ends" else self.place
        else:
            self.node = action.origin[A]
            self.place = "original" if answer == "ends" else self.place
        self.steps = (*self.steps, step)

    def _alive(self) -> dict[int, str | None]:
        return {broker: None for broker in BROKERS if broker not in self.case.dead}


def cluster_at(state: ClusterState, replicas: Replicas) -> ClusterState:
    return replace(state, topics={"a": replace(state.topics["a"], replicas={0: replicas})})


def cancelled_now(observed: Observed, memory: Memory, now: float) -> Action:
    return decide_cancel(WORK, observed, memory, now, allow_foreign=False)


def others_ended(observed: Observed, memory: Memory, now: float) -> Action:
    """`cancel` of an operation that ends reassignments of other tools, once it has sent something."""
    work = CancellationWork((PartitionTarget(A, ORIGINAL, (2, 3, 1)),))
    return decide(work, replace(observed, request=REQUEST if observed.steps else None), memory, now)


def end_of(case: Case, command: str) -> tuple[Finish | None, int]:
    """Follow a command to its end; None where it has none. Also how many requests it sent."""
    controller, memory = Controller(case, published=command == "cancel --now"), Memory()
    follow = cancelled_now if command == "cancel --now" else others_ended
    for tick in range(MOST_TICKS):
        observed = Observed(controller.state(), controller.steps, unchanged_means_rejected=not case.api)
        memory = remember(memory, observed, tick * TICK_S)
        action = follow(observed, memory, tick * TICK_S)
        if isinstance(action, Finish):
            return action, controller.asked
        if isinstance(action, TakeBack):
            controller.take_back(action)
    return None, controller.asked


@pytest.mark.parametrize("command", ["cancel --now", "cancel"])
def test_every_state_has_a_command_that_ends_the_operation(command: str) -> None:
    """It ends, with its lock free, after a few requests at most; what is left has a next command."""
    for case in CASES:
        end, asked = end_of(case, command)
        assert end is not None, f"{command} never ends: {case}"
        assert end.state.finished, f"{command} leaves the operation unfinished: {case}"
        assert asked <= MOST_REQUESTS, f"{command} asks again and again: {case}"
        assert end.error is None or end.error.next_command, f"{command} names no way out: {case}"


def test_what_only_new_replicas_hold_is_never_given_up() -> None:
    for case in CASES:
        if case.place == "in flight" and case.isr == (3,):
            end, asked = end_of(case, "cancel --now")
            assert asked == 0, case
            assert end is not None
            assert "would lose data" in end.message
