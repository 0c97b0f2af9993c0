"""Asks the leaders of tiered partitions which of their records are on disk."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import why
from kadmin.cluster.offsets import LogEnd
from kadmin.errors import KadminError
from kadmin.plan.tiers import TierOffsets, estimated_sizes, is_tiered
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.facts import ClusterFacts

TIMEOUT_S = 5.0


def with_tiers(
    given: ClusterFacts, state: ClusterState, brokers: LiveBrokers, topics: Iterable[str]
) -> ClusterFacts:
    """Complete given facts by the bytes that tiered ones of topics have with remote storage.

    `state` was read with its configs. Estimates that were given take precedence. Partitions without
    one are counted in `disks_unavailable`; nothing is raised. Brokers are asked only where a topic
    is tiered.
    """
    tiered = [
        partition
        for topic in topics
        if topic in state.topics and is_tiered(topic, state)
        for partition in state.topics[topic].partitions()
        if partition not in given.tiered_sizes
    ]
    if not tiered:
        return given
    found: Mapping[TopicPartition, int] = {}
    reason = ""
    try:
        with closing(brokers):
            found = _estimates(brokers, _by_leader(tiered, state))
    except KadminError as error:
        reason = f": {why(error)}"
    unknown = len(tiered) - len(found)
    said = f"bytes with remote storage of {count(unknown, 'partition')} are not known{reason}"
    return replace(
        given,
        tiered_sizes={**found, **given.tiered_sizes},
        disks_unavailable=(*given.disks_unavailable, *((said,) if unknown else ())),
    )


def _by_leader(
    partitions: Iterable[TopicPartition], state: ClusterState
) -> dict[int, list[TopicPartition]]:
    led: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        found = state.states.get(partition)
        if found is not None and found.leader in state.brokers:
            led.setdefault(found.leader, []).append(partition)
    return led


def _estimates(
    brokers: LiveBrokers, led: Mapping[int, list[TopicPartition]]
) -> dict[TopicPartition, int]:
    def offsets(at: LogEnd) -> dict[TopicPartition, int]:
        answers = brokers.log_offsets(led, at, TIMEOUT_S).given.values()
        return {each: offset for found in answers for each, offset in found.offsets.items()}

    on_disk = offsets(LogEnd.FIRST_ON_DISK)
    held = brokers.replica_sizes(led, TIMEOUT_S).sizes
    then = offsets(LogEnd.FIRST_ON_DISK)
    local_sizes = {
        each: held[leader][each]
        for leader in led.keys() & held.keys()
        for each in led[leader]
        if each in held[leader]
    }
    return estimated_sizes(
        local_sizes, TierOffsets(offsets(LogEnd.FIRST), on_disk, then, offsets(LogEnd.LAST))
    )
