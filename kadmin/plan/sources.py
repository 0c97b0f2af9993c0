"""Finds the source of a partition's copies: a replica that is alive and in sync.

Goals: whether a reassignment can make progress at all, before it is published and while it is in
flight; and which broker sends its copies.
Constraints: without a source a controller accepts a reassignment and waits for a broker without
end. The size on disk of a replica that is not in sync says nothing of the bytes to copy. A
partition whose state was not read does not count as one without a source.
Example: the ISR is [3], and broker 3 is dead: nothing is copied until it returns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.plan.model import PartitionTarget


def lacks_source(partition: TopicPartition, state: ClusterState) -> bool:
    """Whether no replica of a partition is alive and in sync."""
    found = state.states.get(partition)
    return found is not None and not (set(found.isr) & set(state.brokers)) - set(
        found.offline_replicas
    )


def awaited(partition: TopicPartition, state: ClusterState) -> tuple[int, ...]:
    """Return the brokers of which one must return before a partition without a source is copied."""
    found = state.states[partition]
    able = {*found.isr, *found.elr} or set(state.replicas(partition) or ())
    return tuple(sorted(able - set(state.brokers)) or sorted(able))


def sender_of(partition: TopicPartition, replicas: Replicas, state: ClusterState) -> int | None:
    """Return the broker that sends copies: the leader, or the live replica that would lead.

    None where there is none. Of a partition whose state was not read any live replica may be in
    sync.
    """
    found = state.states.get(partition)
    if found is None:
        return next((broker for broker in replicas if broker in state.brokers), None)
    if found.leader in state.brokers:
        return found.leader
    if lacks_source(partition, state):
        return None
    return next(
        (
            broker
            for broker in (*replicas, *found.isr)
            if broker in found.isr and broker in state.brokers
        ),
        None,
    )


def with_size(target: PartitionTarget, sizes: Mapping[TopicPartition, int]) -> PartitionTarget:
    """Return the target with its size, in bytes, from `sizes` where it has none."""
    return (
        target
        if target.size_bytes is not None
        else replace(target, size_bytes=sizes.get(target.partition))
    )


def with_source_size(
    target: PartitionTarget, state: ClusterState, sizes: Mapping[TopicPartition, int]
) -> PartitionTarget:
    """Return the target with its size, in bytes, from `sizes` where it has none.

    Without a source it is unknown.
    """
    return target if lacks_source(target.partition, state) else with_size(target, sizes)
