"""Partitions without a leader, with known records on each of their copies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.eras import offline
from support.live.waiting import wait_until
from support.network.frame_proxy import Action

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.offsets import LogEnd
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from support.live.errands import Brokers
    from support.live.write_points import Point

    from kadmin.cluster.model import Replicas, TopicPartition

DEAD = 1
"""The broker that has every record, and dies last."""


def lose_leaders(
    brokers: Brokers, partitions: Sequence[TopicPartition], counts: Mapping[int, int]
) -> None:
    """Write so many records while the brokers so far are away, in this order; then DEAD dies.

    `counts` {2: 200, 3: 350, 1: 500}: broker 2 misses what comes after the first 200 records,
    broker 3 what comes after 350. Their copies stay as they are, for they start when DEAD is dead.
    """
    lists = brokers.state().assignment
    written = {each: lists[each] for each in partitions}
    offline.lose_leaders(brokers.sandbox, brokers.connection, written, ends=counts, crashing=DEAD)
    alive = brokers.sandbox.broker_ports.keys() - {DEAD}
    wait_until(lambda: brokers.state().brokers.keys() == alive)
    wait_until(lambda: leaderless(brokers) >= set(partitions))


def stop(
    brokers: Brokers, broker: int, partitions: Collection[TopicPartition], *, kill: bool = False
) -> None:
    """Stop a broker, and wait until it is out of the ISRs that have another member."""
    brokers.sandbox.stop_broker(broker, kill=kill)

    def seen() -> bool:
        state = brokers.state()
        return broker not in state.brokers and all(
            broker not in {state.states[each].leader, *state.states[each].isr}
            or state.states[each].isr == (broker,)
            for each in partitions
        )

    wait_until(seen)


def leaderless(brokers: Brokers) -> set[TopicPartition]:
    """Return the partitions without a leader."""
    state = brokers.state()
    return {each for each in state.states if not state.has_leader(each)}


def ends(brokers: Brokers, partition: TopicPartition) -> dict[int, int]:
    """Return the end of the log of each living copy, as its broker tells it."""
    state = brokers.state()
    alive = [each for each in state.assignment[partition] if each in state.brokers]
    asked = {broker: [partition] for broker in alive}
    found = offline.log_ends(brokers.connection, asked, LogEnd.WRITTEN)
    return {broker: answer.offsets[partition] for broker, answer in found.items()}


def propose(brokers: Brokers, plan: Path, *more: str) -> dict[str, Any]:
    """Write a plan, and return the answer of the proposal."""
    found = brokers.kadmin("propose", "recovery", "--out", str(plan), *more, "-o", "json")
    assert found.status == 0, found.err
    value: dict[str, Any] = json.loads(found.out)
    assert validate_value(value, "answers/propose-recovery") == []
    return value


def waive(plan: Path, *guards: str) -> None:
    """Waive guards in a plan that waives none."""
    allow = ", ".join(f"{each}: true" for each in guards)
    plan.write_text(plan.read_text().replace("spec:\n", f"spec:\n  allow: {{{allow}}}\n", 1))


def lists(brokers: Brokers) -> dict[TopicPartition, Replicas]:
    """Return the replicas of the partitions of the test."""
    assignment = brokers.state().assignment
    return {each: assignment[each] for each in assignment if each.topic in brokers.topics}


def leader(brokers: Brokers, partition: TopicPartition) -> int:
    """Return the leader of a partition, -1 without one that is alive."""
    state = brokers.state()
    return state.states[partition].leader if state.has_leader(partition) else NO_LEADER


def split(brokers: Brokers, folder: Path) -> dict[str, Path]:
    """Return a plan for each topic of the test, impatient."""
    whole = folder / "recovery.json"
    propose(brokers, whole)
    plan, found = json.loads(whole.read_text()), {}
    for topic in brokers.topics:
        entries = [each for each in plan["spec"]["partitions"] if each["topic"] == topic]
        spec = {**plan["spec"], "allow": {"impatient": True}, "partitions": entries}
        found[topic] = folder / f"{topic}.json"
        found[topic].write_text(json.dumps({**plan, "spec": spec}))
    return found


def kill(brokers: Brokers, arguments: Sequence[str], point: Point) -> None:
    """Run a command in a process that is killed at a point, and wait until its lock expired."""
    with brokers.proxy() as proxy:
        runner = brokers.run(*arguments, through=proxy)
        proxy.faults.append(point.fault(Action.CUT_BEFORE, runner.kill))
        runner.answer()
    wait_until(lambda: brokers.kadmin("lock", "show").out.strip() == "the lock is free")


def apply_once_the_leader_is_back(brokers: Brokers, counts: Mapping[int, int], plan: Path) -> None:
    """Start the broker that has every record between proposal and apply: nothing is elected."""
    (lost,) = brokers.topic({0: (1, 2, 3)})
    lose_leaders(brokers, [lost], counts)
    propose(brokers, plan)
    waive(plan, "impatient")
    brokers.sandbox.start_broker(DEAD)
    wait_until(lambda: leader(brokers, lost) == DEAD)
    applied = brokers.kadmin("apply", str(plan), "--yes")
    assert applied.status == 0, applied.err
    assert "nothing to do" in applied.out
    brokers.start()
    assert ends(brokers, lost) == dict.fromkeys((1, 2, 3), counts[DEAD])
