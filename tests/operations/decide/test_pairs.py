"""Rules of a wave whose partitions are copied a few at a time from one broker to another."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import API
from support.cluster.states import cluster, moving, tp

from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.actions import (
    Advance,
    AskHealth,
    Finish,
    HealthSeen,
    Memory,
    Observed,
    PublishWave,
    Wait,
)
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Channel, Intent, Sending, WaveStep
from kadmin.plan.model import Elect, PartitionTarget
from kadmin.plan.pairs import AtOnce

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.operations.decide.actions import Action

NAMES = [f"a-{number}" for number in range(9)]
TARGETS = tuple(
    PartitionTarget(tp(name), (1, 3) if number % 3 else (1, 4), (1, 2))
    for number, name in enumerate(NAMES)
)
WORK = ReassignmentWork((TARGETS,), TARGETS, Elect.NONE)
TWO = AtOnce(2)
"""Six partitions from broker 1 to 3, three to 4."""


class Brokers:
    """A cluster in KRaft mode that executes what is published, and the steps on record."""

    def __init__(self) -> None:
        self.lists: dict[TopicPartition, Replicas] = {tp(name): (1, 2) for name in NAMES}
        self.running: dict[str, PartitionTarget] = {}
        self.steps: tuple[WaveStep, ...] = ()
        self.dead: set[int] = set()

    def observed(self) -> Observed:
        brokers = {broker: None for broker in (1, 2, 3, 4) if broker not in self.dead}
        state = cluster(
            {str(each): replicas for each, replicas in self.lists.items()}, brokers=brokers
        )
        for name, target in self.running.items():
            state = moving(state, name, adding=target.added, removing=target.removed)
        return Observed(state, self.steps, API)

    def publish(self, action: PublishWave) -> None:
        intent = Intent({target.partition: target.replicas for target in action.targets})
        number = len(self.steps) + 1
        step = WaveStep(number, "now", action.wave, sending=Sending.ANSWERED, intent=intent)
        self.steps = (*self.steps, step)
        for target in action.targets:
            self.lists[target.partition] = (*target.replicas, *target.removed)
            self.running[str(target.partition)] = target

    def end(self, name: str) -> None:
        target = self.running.pop(name)
        self.lists[target.partition] = target.replicas


def next_action(brokers: Brokers, memory: Memory, now: float) -> tuple[Action, Memory]:
    """Return the action, and the memory with a healthy answer where health was asked for."""
    observed = brokers.observed()
    memory = remember(replace(memory, listening=frozenset(Channel)), observed, now)
    memory = replace(memory, listening=frozenset(Channel))
    action = decide(WORK, observed, memory, now)
    if isinstance(action, AskHealth):
        memory = replace(memory, health=HealthSeen(memory.wave, now, ()))
        action = decide(WORK, observed, memory, now)
    return action, memory


@pytest.mark.parametrize("seed", range(5))
def test_the_next_copy_of_a_pair_begins_when_one_is_done(seed: int) -> None:
    chooser = random.Random(seed)  # noqa: S311 - a reproducible order, not a secret
    brokers, memory, now = Brokers(), Memory(at_once=TWO), 0.0
    while True:
        action, memory = next_action(brokers, memory, now)
        now += 1.0
        if isinstance(action, PublishWave):
            brokers.publish(action)
            to = Counter(target.added[0] for target in brokers.running.values())
            assert max(to.values()) <= 2
            left = Counter(t.added[0] for t in TARGETS if brokers.lists[t.partition] == (1, 2))
            assert all(to[broker] == 2 for broker in left), "nobody waits who could begin"
        elif isinstance(action, Wait):
            assert action == Wait("copying")
            brokers.end(chooser.choice(sorted(brokers.running)))
        elif isinstance(action, Advance):
            memory = replace(memory, wave=action.wave)
        else:
            break
    assert isinstance(action, Finish)
    assert action.state is OperationState.COMPLETED
    assert len(brokers.steps) > 3


def test_health_is_asked_for_before_each_publish_but_the_first() -> None:
    brokers = Brokers()
    memory = Memory(epoch=1, listening=frozenset(Channel), at_once=TWO)
    first = decide(WORK, brokers.observed(), memory, 0.0)
    assert isinstance(first, PublishWave)
    brokers.publish(first)
    brokers.end("a-0")
    memory = remember(memory, brokers.observed(), 1.0)
    assert isinstance(decide(WORK, brokers.observed(), memory, 1.0), AskHealth)
    sick = replace(memory, health=HealthSeen(0, 1.0, ("disk",)))
    assert decide(WORK, brokers.observed(), sick, 1.0) == Wait("health gate: disk")
    well = replace(memory, health=HealthSeen(0, 1.0, ()))
    second = decide(WORK, brokers.observed(), well, 1.0)
    assert isinstance(second, PublishWave)
    assert [str(target.partition) for target in second.targets] == ["a-6"]
    brokers.publish(second)
    brokers.end("a-1")
    again = remember(well, brokers.observed(), 2.0)
    assert isinstance(decide(WORK, brokers.observed(), again, 2.0), AskHealth)


def test_copies_for_a_dead_broker_do_not_begin_and_hold_up_no_others() -> None:
    brokers, memory = Brokers(), Memory(at_once=TWO)
    action, memory = next_action(brokers, memory, 0.0)
    assert isinstance(action, PublishWave)
    brokers.publish(action)
    brokers.end("a-0")
    brokers.dead = {4}
    for now in range(1, 20):
        action, memory = next_action(brokers, memory, now)
        if isinstance(action, Finish):
            break
        if isinstance(action, PublishWave):
            assert all(target.added == (3,) for target in action.targets)
            brokers.publish(action)
        else:
            brokers.end(next((each for each in brokers.running if each != "a-3"), "a-3"))
    assert isinstance(action, Finish)
    assert action.state is OperationState.FAILED
    assert "4" in action.message
    left = [str(each) for each, replicas in brokers.lists.items() if replicas == (1, 2)]
    assert left == ["a-6"]
