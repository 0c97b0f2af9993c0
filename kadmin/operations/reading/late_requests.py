"""Requests of finished operations that were never answered, and reassign partitions now: they were applied late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.record.record import OperationKind, OperationState, Sending
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Intent, Listing


@dataclass(frozen=True, slots=True)
class LateRequest:
    """A partition that a request of a finished operation reassigns to `target`."""

    operation_id: str
    step: int
    partition: TopicPartition
    target: Replicas

    def __str__(self) -> str:
        return f"{self.partition} to {list(self.target)} (operation {self.operation_id}, step {self.step})"


def late_requests(context: Context, state: ClusterState | None = None) -> tuple[LateRequest, ...]:
    """Return the late requests that are in flight, in `state` where it is given.

    Where step and request are one write there are none.
    """
    if context.backend.unchanged_means_rejected:
        return ()
    finished = [each for each in reversed(context.operations.listings()) if _finished(each)]
    watched = [
        (listing, step, step.intent)
        for listing in finished
        for step in context.operations.steps(listing.operation_id)
        if step.sending is Sending.UNANSWERED and step.intent is not None
    ]
    if not watched:
        return ()
    if state is None:
        state = context.backend.read({each.topic for _, _, intent in watched for each in intent.targets})
    moving = set(in_flight(state))
    late: dict[TopicPartition, LateRequest] = {}
    for listing, step, intent in watched:
        for partition, target in _arrived(intent, state, moving):
            late.setdefault(partition, LateRequest(listing.operation_id, step.number, partition, target))
    return tuple(late[partition] for partition in sorted(late))


def _finished(listing: Listing) -> bool:
    whole = listing.status.state is not OperationState.DISCARDED
    return whole and listing.status.state.finished and listing.kind is not OperationKind.HEAL


def _arrived(
    intent: Intent, state: ClusterState, moving: set[TopicPartition]
) -> Iterator[tuple[TopicPartition, Replicas]]:
    for partition, target in intent.targets.items():
        if partition in moving and partition.topic in state.topics:
            topic = state.topics[partition.topic]
            same = intent.topic_ids.get(partition.topic) in {topic.topic_id, None}
            if same and target is not None and topic.target(partition.partition) == target:
                yield partition, target
