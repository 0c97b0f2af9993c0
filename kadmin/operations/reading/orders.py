"""Reads the replicas' order before a reassignment of another tool from operations on record; brokers keep none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import intents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context


def orders_on_record(
    context: Context, partitions: Iterable[TopicPartition], state: ClusterState
) -> dict[TopicPartition, Replicas]:
    """Return the original replicas of partitions that are reassigned now, in their last order on record.

    Partitions are left out if no operation requested or recorded their original replicas.
    """
    wanted = {each: _original(each, state) for each in partitions}
    found: dict[TopicPartition, Replicas] = {}
    for listing in reversed(context.operations.listings() if wanted else ()):
        if found.keys() == wanted.keys():
            break
        if listing.kind is OperationKind.HEAL or not listing.status.state.has_record:
            continue
        asked = context.read_each((listing,), lambda each: _asked(context, each.operation_id))
        for replicas in asked.get(listing.operation_id, ()):
            for partition, brokers in wanted.items():
                if set(order := replicas.get(partition) or ()) == brokers:
                    found.setdefault(partition, order)
    return found


def _asked(context: Context, operation_id: str) -> list[Mapping[TopicPartition, Replicas | None]]:
    """Return the replicas that an operation asked for, the last request first, and those that it found."""
    sent = [intent.targets for _, intent in intents(context.operations.steps(operation_id))]
    return [*reversed(sent), context.operations.record(operation_id).origin]


def _original(partition: TopicPartition, state: ClusterState) -> set[int]:
    topic, number = state.topics[partition.topic], partition.partition
    return set(topic.replicas[number]) - set(topic.adding_replicas.get(number, ()))
