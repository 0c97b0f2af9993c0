"""Targets that the steps of operations on record sent to the controller.

Targets of a plan alone do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import CancelStep, ReassigningStep, WaveStep, published_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.record.record import Listing, OperationRecord
    from kadmin.operations.record.steps import Step

    Lists = Mapping[TopicPartition, frozenset[Replicas]]

_REASSIGNS = {
    OperationKind.REASSIGNMENT,
    OperationKind.CANCELLATION,
    OperationKind.DECOMMISSION,
}


def sent_lists(record: OperationRecord, steps: Iterable[Step], state: ClusterState) -> Lists:
    """Return the replicas that an operation requested, by partition.

    They are the targets of waves, and originals to return to. Leaves out requests that were
    refused, not sent, or for an earlier topic of the same name.
    """
    found: dict[TopicPartition, frozenset[Replicas]] = {}
    every = tuple(steps)
    for step in published_by(every):
        if not isinstance(step, ReassigningStep):
            continue
        ids = {} if step.intent is None else step.intent.topic_ids
        for partition, replicas in _asked(record, step, every).items():
            topic = state.topics.get(partition.topic)
            same = topic is None or ids.get(topic.name) in {topic.topic_id, None}
            if same and partition not in step.refused:
                found[partition] = found.get(partition, frozenset()) | {replicas}
    return found


def askers(
    moves: Mapping[TopicPartition, Replicas],
    listings: Iterable[Listing],
    lists_of: Callable[[Listing], Lists],
) -> dict[TopicPartition, Listing]:
    """Return the latest operation that requested each move in flight.

    Moves that none requested are left out. `moves` are targets by partition, `listings` come oldest
    first, `lists_of` is `sent_lists` of one of them.
    """
    found: dict[TopicPartition, Listing] = {}
    for listing in reversed(tuple(listings)):
        if found.keys() == moves.keys():
            break
        if listing.kind in _REASSIGNS and listing.status.state.has_record:
            lists = lists_of(listing)
            for partition, target in moves.items():
                if target in lists.get(partition, ()):
                    found.setdefault(partition, listing)
    return found


def _asked(
    record: OperationRecord, step: ReassigningStep, steps: tuple[Step, ...]
) -> Mapping[TopicPartition, Replicas]:
    if step.intent is not None:
        # To end a reassignment is to ask for the original replicas.
        targets = {
            each: target or record.origin.get(each) for each, target in step.intent.targets.items()
        }
        return {each: target for each, target in targets.items() if target}
    if isinstance(step, WaveStep) and isinstance(work := spec_of(record, steps), ReassignmentWork):
        return {target.partition: target.replicas for target in work.waves[step.wave]}
    if isinstance(step, CancelStep):
        return {
            partition: record.origin[partition]
            for partition in step.partitions
            if partition in record.origin
        }
    return {}
