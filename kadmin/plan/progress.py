"""Judges the progress of one partition of a reassignment plan from the cluster alone.

The admin node alone proves nothing: controllers drop entries without an error, and the topic znode
reaches the target before the node disappears. So the assignment, the partition state and the node
are read together. The order of the tests is part of the meaning: the first that fits, counts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.plan.model import PartitionTarget


class Progress(StrEnum):
    """The progress of a partition from its current to its target replicas."""

    RUNNING = "running"
    """The controller is at work on our target, or has our target in its node."""
    DONE = "done"
    """Exactly the target, nothing adding or removing, every target in the ISR, the leader among
    them."""
    SETTLED = "settled"
    """Exactly the target, but the ISR is short or the leader outside it: nothing to publish,
    something to wait for."""
    WAITING = "waiting"
    """Exactly the replicas that the plan was made on."""
    CANCELLED = "cancelled"
    """Like `WAITING`, and the operation that was to reassign it was cancelled."""
    STALE = "stale"
    """Anything else, a missing partition included."""


def judge(target: PartitionTarget, state: ClusterState, *, published: bool) -> Progress:
    """Return the progress of one partition.

    `published`: a recorded step of this operation names it. `published` matters where no request
    names a target and the replicas are the union of both lists: in the topic znode of a move up to
    Kafka 2.3, and in outdated metadata of a broker. Without `published`, that looks like a finished
    increase of the replication factor.
    """
    topic = state.topics.get(target.partition.topic)
    replicas = state.replicas(target.partition)
    if topic is None or replicas is None:
        return Progress.STALE
    moving = topic.is_moving(target.partition.partition)
    if (moving and topic.target(target.partition.partition) == target.replicas) or named_in_node(
        target, state
    ):
        return Progress.RUNNING
    if replicas == target.replicas and not moving:
        return Progress.DONE if _in_sync(target, state) else Progress.SETTLED
    if published and not moving and is_union(target, replicas):
        return Progress.RUNNING
    return Progress.WAITING if replicas == target.current and not moving else Progress.STALE


def named_in_node(target: PartitionTarget, state: ClusterState) -> bool:
    """Whether the admin node names this partition with our target."""
    node = state.requests.reassignment
    return (
        node is not None
        and node.entries is not None
        and node.entries.get(target.partition) == target.replicas
    )


def is_union(target: PartitionTarget, replicas: Replicas) -> bool:
    """Whether `replicas` holds exactly the brokers of current and target together.

    That is a move in flight up to 2.3.
    """
    return (
        target.current is not None
        and replicas != target.current
        and set(replicas) == {*target.current, *target.replicas}
    )


def still_copied(target: PartitionTarget, state: ClusterState) -> bool:
    """Whether new replicas still copy though neither admin znode nor API lists the partition.

    Cases: a union left behind (up to 2.3), and a target that was reached while an added, live
    broker is not in sync.
    """
    replicas, found = state.replicas(target.partition), state.states.get(target.partition)
    if replicas is None or found is None:
        return False
    if replicas != target.replicas:
        return is_union(target, replicas)
    return any(broker in state.brokers and broker not in found.isr for broker in target.added)


def still_moving(
    targets: Iterable[PartitionTarget], state: ClusterState
) -> tuple[TopicPartition, ...]:
    """Return the partitions of targets that are being reassigned or whose new replicas copy."""
    moving = {partition for partition in in_flight(state) if state.replicas(partition) is not None}
    return tuple(
        target.partition
        for target in targets
        if target.partition in moving or still_copied(target, state)
    )


def in_flight(state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return every partition that is being reassigned right now.

    Partitions are listed by the admin node or by the API (2.4 and later).
    """
    node = state.requests.reassignment
    named = set(node.entries or ()) if node is not None else set()
    for topic in state.topics.values():
        moving = {*topic.adding_replicas, *topic.removing_replicas}
        named.update(partition for partition in topic.partitions() if partition.partition in moving)
    return tuple(sorted(named))


def moves_in_flight(state: ClusterState) -> dict[TopicPartition, Replicas]:
    """Return the target of each reassignment in flight."""
    return {
        partition: topic.target(partition.partition)
        for topic in state.topics.values()
        for partition in topic.partitions()
        if topic.is_moving(partition.partition)
    }


def _in_sync(target: PartitionTarget, state: ClusterState) -> bool:
    found = state.states.get(target.partition)
    return (
        found is not None
        and set(target.replicas) <= set(found.isr)
        and found.leader in target.replicas
    )
