"""Leaders elected for partitions without a replica alive and in sync, during or before the run.

A broker of the last ISR that returns leads without a loss, and so does an eligible leader
(KIP-966), which only the reading that an operation is recorded from shows. Every other leader comes
from an unclean election: records may be gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.sources import lacks_source
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kadmin.cluster.model import ClusterState, PartitionState, TopicPartition
    from kadmin.operations.decide.actions import Memory


def watched_leaders(
    memory: Memory, state: ClusterState
) -> tuple[dict[TopicPartition, frozenset[int]], dict[TopicPartition, bool]]:
    """Return a memory's `without_source` and `led_again` after one reading of partitions."""
    without, led = dict(memory.without_source), dict(memory.led_again)
    for partition, found in state.states.items():
        if lacks_source(partition, state):
            before = memory.states.get(partition)
            last = () if before is None else (*before.isr, *before.elr)
            without.setdefault(partition, frozenset((*found.isr, *found.elr, *last)))
        elif found.leader in state.brokers and (in_sync := without.pop(partition, None)):
            # A run that began later does not have the last ISR, and records that were lost stay
            # lost.
            led[partition] = led.get(partition, True) and found.leader in in_sync
    return without, led


def leaders_in_words(
    partitions: Collection[TopicPartition],
    offline_before: Collection[TopicPartition],
    memory: Memory,
    state: ClusterState,
) -> str:
    """Name the partitions whose leader may lack records; empty where there are none.

    `offline_before` had no leader when the operation was recorded.
    """
    led = {
        each: state.states[each]
        for each in sorted(partitions)
        if _is_led(state.states.get(each), state)
    }
    unclean = {each: found for each, found in led.items() if memory.led_again.get(each) is False}
    unseen = {
        each: found
        for each, found in led.items()
        if each in offline_before and each not in memory.led_again
    }
    return "; ".join(_said(unclean, unseen))


def _is_led(found: PartitionState | None, state: ClusterState) -> bool:
    return found is not None and found.leader in state.brokers


def _said(
    unclean: dict[TopicPartition, PartitionState], unseen: dict[TopicPartition, PartitionState]
) -> Iterator[str]:
    if unclean:
        names = name_some(f"{each} by broker {found.leader}" for each, found in unclean.items())
        yield (
            f"led by a broker that was not in the last ISR: {names}: records are lost, unless it "
            "was eligible (ELR)"
        )
    if unseen:
        names = name_some(f"{each} by broker {found.leader}" for each, found in unseen.items())
        yield (
            f"without a leader when the operation began, and led now: {names}: an unclean "
            "election loses records"
        )
