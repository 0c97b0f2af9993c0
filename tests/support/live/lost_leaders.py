"""Partitions without a leader, with known records on each of their copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.live.waiting import wait_until

from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.offsets import ask_log_offsets
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from support.live.errands import Brokers

    from kadmin.cluster.model import TopicPartition

DEAD = 1
"""The broker that has every record, and dies last."""
ANSWER_S = 10.0


def lose_leaders(
    brokers: Brokers, partitions: Sequence[TopicPartition], counts: Mapping[int, int]
) -> None:
    """Write so many records while the brokers so far are away, in this order; then DEAD dies.

    `counts` {2: 200, 3: 350, 1: 500}: broker 2 misses what comes after the first 200 records,
    broker 3 what comes after 350. Their copies stay as they are, for they start when DEAD is dead.
    """
    written = 0
    for broker, end in counts.items():
        value = [b"%d" % number for number in range(written, end)]
        produce(Servers(brokers.sandbox.bootstrap), dict.fromkeys(partitions, value))
        written = end
        stop(brokers, broker, partitions, kill=broker == DEAD)
    for broker in counts:
        if broker != DEAD:
            brokers.sandbox.start_broker(broker)
    wait_until(
        lambda: brokers.state().brokers.keys() == brokers.sandbox.broker_ports.keys() - {DEAD}
    )
    wait_until(lambda: leaderless(brokers) >= set(partitions))


def stop(
    brokers: Brokers, broker: int, partitions: Collection[TopicPartition], *, kill: bool = False
) -> None:
    """Stop a broker, and wait until it is out of the ISRs that have another member."""
    brokers.sandbox.stop_broker(broker, kill=kill)

    def seen() -> bool:
        state = brokers.state()
        return broker not in state.brokers and all(
            state.states[each].leader != broker
            and (broker not in state.states[each].isr or len(state.states[each].isr) == 1)
            for each in partitions
        )

    wait_until(seen)


def leaderless(brokers: Brokers) -> set[TopicPartition]:
    """Return the partitions without a leader."""
    return {each for each, found in brokers.state().states.items() if found.leader < 0}


def ends(brokers: Brokers, partition: TopicPartition) -> dict[int, int]:
    """Return the end of the log of each living copy, as its broker tells it."""
    alive = [
        each for each in brokers.state().assignment[partition] if each in brokers.state().brokers
    ]
    asked = {broker: [partition] for broker in alive}
    found = ask_log_offsets(brokers.connection, asked, LogEnd.WRITTEN, ANSWER_S)()
    return {broker: answer.offsets[partition] for broker, answer in found.given.items()}


def impatient(plan: Path) -> None:
    """Waive that the dead brokers must have been dead for ten minutes."""
    plan.write_text(plan.read_text().replace("spec:\n", "spec:\n  allow: {impatient: true}\n", 1))
