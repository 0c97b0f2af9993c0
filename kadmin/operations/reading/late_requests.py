"""Requests of finished operations that were never answered, and were applied late."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.operations import LateRequest
from kadmin.operations.reading.open_operations import askers_on_record
from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import Sending, intents
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Listing
    from kadmin.operations.record.steps import Intent, Step


def late_requests(context: Context, state: ClusterState | None = None) -> tuple[LateRequest, ...]:
    """Return the late requests that are in flight or at their target, in `state` if it is given.

    A target counts as reached late where a later request on record asked for other replicas. A move
    in flight belongs to the latest operation that requested it.
    """
    if not context.backend.capabilities.late_requests:
        return ()
    listings = context.operations.listings()
    steps = context.read_each(listings, lambda each: context.operations.steps(each.operation_id))
    decoded = [each for each in listings if each.operation_id in steps]
    return late_among(context, decoded, steps, state, partial(askers_on_record, context))


def late_among(
    context: Context,
    listings: Sequence[Listing],
    steps: Mapping[str, Sequence[Step]],
    state: ClusterState | None,
    askers_in: Callable[[ClusterState], Mapping[TopicPartition, Listing]],
) -> tuple[LateRequest, ...]:
    """Do as `late_requests` with the `steps` of each of the `listings`, which come oldest first.

    `askers_in` returns the latest operation that asked for each move in flight; it is called where
    that matters.
    """
    whole = [each for each in reversed(listings) if _whole(each)]
    watched = [
        (listing, step, intent)
        for listing in whole
        if listing.status.state.finished
        for step, intent in intents(steps[listing.operation_id])
        if step.sending is Sending.UNANSWERED
    ]
    if not watched:
        return ()
    if state is None:
        state = context.backend.read(
            {each.topic for _, _, intent in watched for each in intent.targets}
        )
    moving, last = set(in_flight(state)), _last_asked(steps[each.operation_id] for each in whole)
    asked = askers_in(state)
    late: dict[TopicPartition, LateRequest] = {}
    for listing, step, intent in watched:
        for partition, target in _arrived(intent, state):
            found = LateRequest(listing.operation_id, step.number, partition, target)
            if partition in moving:
                if partition in asked and asked[partition].operation_id == listing.operation_id:
                    late.setdefault(partition, found)
            elif (wanted := last[partition]) != target:
                origin = context.operations.record(listing.operation_id).origin
                late.setdefault(
                    partition,
                    found.reached(wanted, before_operation=origin.get(partition) == wanted),
                )
    return tuple(late[partition] for partition in sorted(late))


def _whole(listing: Listing) -> bool:
    return listing.status.state.has_record and listing.kind is not OperationKind.HEAL


def _last_asked(steps: Iterable[Iterable[Step]]) -> Mapping[TopicPartition, Replicas]:
    """Return the replicas that were asked for last, by partition.

    `steps` of the latest operation come first.
    """
    last: dict[TopicPartition, Replicas] = {}
    for each in steps:
        asked: dict[TopicPartition, Replicas] = {}
        for step, intent in intents(each):
            if step.sending is not Sending.NOT_APPLIED:
                targets = intent.targets.items()
                asked |= {
                    partition: target
                    for partition, target in targets
                    if target and partition not in step.refused
                }
        last = asked | last
    return last


def _arrived(intent: Intent, state: ClusterState) -> Iterator[tuple[TopicPartition, Replicas]]:
    for partition, target in intent.targets.items():
        topic = state.topics.get(partition.topic)
        if (
            topic is None
            or target is None
            or intent.topic_ids.get(topic.name) not in {topic.topic_id, None}
        ):
            continue
        if partition.partition in topic.replicas and topic.target(partition.partition) == target:
            yield partition, target
