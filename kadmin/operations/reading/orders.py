"""The order of replicas before a reassignment of another tool, which brokers do not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.record.record import OperationKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context


def orders_on_record(
    context: Context, partitions: Iterable[TopicPartition], state: ClusterState
) -> dict[TopicPartition, Replicas]:
    """Return the original replicas of partitions that are reassigned now, in their last order on record.

    Partitions whose original brokers no operation asked for, or found, are left out.
    """
    wanted = {each: _original(each, state) for each in partitions}
    found: dict[TopicPartition, Replicas] = {}
    for listing in reversed(context.operations.listings() if wanted else ()):
        if found.keys() == wanted.keys():
            break
        if listing.kind is OperationKind.HEAL or not listing.status.state.has_record:
            continue
        steps = context.operations.steps(listing.operation_id)
        asked = [step.intent.targets for step in reversed(steps) if step.intent is not None]
        for replicas in (*asked, context.operations.record(listing.operation_id).origin):
            for partition, brokers in wanted.items():
                if set(order := replicas.get(partition) or ()) == brokers:
                    found.setdefault(partition, order)
    return found


def _original(partition: TopicPartition, state: ClusterState) -> set[int]:
    topic, number = state.topics[partition.topic], partition.partition
    return set(topic.replicas[number]) - set(topic.adding_replicas.get(number, ()))
