"""Reassignments of other tools: those in flight or requested that no operation on record asked for.

From Kafka 2.4 on a topic lists the replicas that a reassignment adds and removes. Its replicas are
then the target followed by those to be removed: without the added ones they are the original
replicas, the kept ones in the order of the target. Kafka's own cancel returns to this list. Up to
2.3 the original replicas of a move in flight are not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.plan.model import PartitionTarget
from kadmin.plan.progress import in_flight
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition


def foreign_moves(
    state: ClusterState, ours: Iterable[PartitionTarget]
) -> tuple[TopicPartition, ...]:
    """Return the partitions that are reassigned to lists that no target of ours has.

    Neither the goal nor the origin of a target is such a list.
    """
    own_lists: dict[TopicPartition, set[Replicas | None]] = {}
    for target in ours:
        own_lists.setdefault(target.partition, set()).update({target.replicas, target.current})
    return tuple(
        partition
        for partition in in_flight(state)
        if state.replicas(partition) is not None
        and _wanted(partition, state) not in own_lists.get(partition, ())
    )


def back_to_original(
    partitions: Iterable[TopicPartition],
    state: ClusterState,
    given: Mapping[TopicPartition, Replicas],
    orders: Mapping[TopicPartition, Replicas] | None = None,
) -> tuple[PartitionTarget, ...]:
    """Return the targets that end these reassignments.

    `current` are the replicas now, `replicas` the original ones. `given` lists take precedence over
    those in the cluster. A move through the brokers' API returns to the replicas in the cluster, in
    the order that `orders` has on record. Raises InvalidInputError for partitions whose original
    replicas are not known, and for given ones that are not among the replicas now.
    """
    targets, unknown, strange = [], [], []
    for partition in partitions:
        now = state.replicas(partition) or ()
        found = _original(partition, state)
        original = (
            given.get(partition, found) if partition in requested(state) or found is None else found
        )
        if original is not None and sorted(ordered := (orders or {}).get(partition, ())) == sorted(
            original
        ):
            original = ordered
        if original is None:
            unknown.append(partition)
        elif not set(original) <= set(now):
            strange.append(f"{partition} has {list(now)}, not {list(original)}")
        elif set(given.get(partition, original)) != set(original):
            strange.append(f"{partition} had {list(original)}, not {list(given[partition])}")
        else:
            targets.append(PartitionTarget(partition, original, now))
    if unknown:
        raise InvalidInputError(
            f"The original replicas of {name_some(unknown)} are not known: this Kafka does not "
            "keep them.",
            next_step=command("cancel", "--foreign", "--origin", "FILE")
            + ", with the replicas to return to",
        )
    if strange:
        raise InvalidInputError(
            f"The original replicas that were given do not fit: {name_some(strange)}.",
            next_step="correct the file of --origin",
        )
    return tuple(targets)


def by_api(target: PartitionTarget, state: ClusterState) -> bool:
    """Whether a reassignment is in flight without a pending request.

    It was started through the brokers' API.
    """
    topic, number = state.topics.get(target.partition.topic), target.partition.partition
    moving = topic is not None and topic.is_moving(number)
    return moving and target.partition not in requested(state)


def requested(state: ClusterState) -> Mapping[TopicPartition, Replicas]:
    """Return the entries of the pending request.

    Empty where there is none, or it cannot be read.
    """
    pending = state.requests.reassignment
    return {} if pending is None or pending.entries is None else pending.entries


def _wanted(partition: TopicPartition, state: ClusterState) -> Replicas:
    if partition in requested(state):
        return requested(state)[partition]
    return state.topics[partition.topic].target(partition.partition)


def _original(partition: TopicPartition, state: ClusterState) -> Replicas | None:
    topic, number = state.topics[partition.topic], partition.partition
    now, adding = topic.replicas[number], topic.adding_replicas.get(number, ())
    if adding or number in topic.removing_replicas:
        return tuple(broker for broker in now if broker not in adding)
    pending = state.requests.reassignment
    not_begun = pending is not None and partition in pending.not_begun
    return now if not_begun or requested(state).get(partition) == now else None
