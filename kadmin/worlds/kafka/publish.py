"""Publishes reassignments through the brokers' API: a request is on record before it is sent.

The API has no compare-and-set, and a request is not atomic over its partitions. So, once the step
is on record (see sending.py), the topics are read once more: the same ids and assignment, brokers
alive. Each partition's answer is kept. The same targets can be sent again without harm.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kadmin.cluster.capabilities import PUBLISH_LIMITS, MetadataMode
from kadmin.operations.record.steps import CancelStep, Intent, Sending, intents
from kadmin.plan.progress import in_flight
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.sending import send_on_record
from kadmin.worlds.kafka.wire.reassignments import NO_REASSIGNMENT_IN_PROGRESS, alter_reassignments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.decide.actions import PublishWave, TakeBack
    from kadmin.operations.port import PublishOutcome
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step, WaveStep
    from kadmin.operations.store import OperationStore
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

    Targets = Mapping[TopicPartition, Replicas | None]

MAX_PARTITIONS = PUBLISH_LIMITS[MetadataMode.KRAFT].max_partitions


class ReassignmentPublisher:
    """Publishes reassignments of the operation that holds the lock."""

    def __init__(self, connection: KafkaConnection, operations: OperationStore) -> None:
        self._connection = connection
        self._operations = operations

    def wave(
        self, step: WaveStep, action: PublishWave, seen: ClusterState, lease: Lease
    ) -> PublishOutcome:
        """Send the reassignments of a wave; target brokers that were seen alive must be alive.

        Where the wave changes no replication factor, the controller is asked to refuse such
        changes: another client may have changed one since the last reading.
        """
        targets: Targets = {target.partition: target.replicas for target in action.targets}
        brokers = {broker for each in action.targets for broker in each.replicas}
        keeps_factors = all(
            len(each.replicas) == len(seen.replicas(each.partition) or ())
            for each in action.targets
        )
        alter = partial(alter_reassignments, allow_replication_factor_change=not keeps_factors)
        return self._publish(step, targets, seen, lease, alter, brokers)

    def take_back(
        self, step: CancelStep, action: TakeBack, seen: ClusterState, lease: Lease
    ) -> PublishOutcome:
        """Request the original lists, or the end of reassignments that have theirs already.

        From Kafka 4.3 on, the original list alone never ends a reassignment; ending it without that
        list would lose the order of the replicas. So both are sent in turn, each when the one
        before has shown its effect. Of very many partitions the first are taken; the next action
        names the rest.
        """
        tried = _tried(self._operations.steps(lease.operation_id))
        moving, partitions = (set(in_flight(seen)), tuple(sorted(action.origin))[:MAX_PARTITIONS])

        def target(partition: TopicPartition) -> Replicas | None:
            original = action.origin[partition]
            return (
                None
                if not original or (partition in moving and tried.get(partition) == original)
                else original
            )

        step = replace(step, partitions=partitions)
        targets = {partition: target(partition) for partition in partitions}
        return self._publish(step, targets, seen, lease, alter_reassignments)

    def _publish(
        self,
        step: WaveStep | CancelStep,
        targets: Targets,
        seen: ClusterState,
        lease: Lease,
        alter: Callable[..., Mapping[TopicPartition, Refusal | None]],
        brokers: Iterable[int] = (),
    ) -> PublishOutcome:
        def send(send_by: float) -> Mapping[str, Any] | None:
            now = read_cluster(self._connection, {partition.topic for partition in targets})
            died = (set(brokers) & seen.brokers.keys()) - now.brokers.keys()
            if died or _looks(now, targets) != _looks(seen, targets):
                return None
            answers = alter(self._connection, targets, send_by=send_by)
            refused = {
                partition: str(answer)
                for partition, answer in answers.items()
                if answer is not None and answer.code != NO_REASSIGNMENT_IN_PROGRESS
            }
            return {"refused": refused}

        return send_on_record(
            self._operations, replace(step, intent=_intent(targets, seen)), lease, send
        )


def _intent(targets: Targets, seen: ClusterState) -> Intent:
    ids = {topic: seen.topics[topic].topic_id for topic in sorted({each.topic for each in targets})}
    return Intent(
        targets,
        ids,
        {each: seen.states[each].leader_epoch for each in targets if each in seen.states},
    )


def _looks(
    state: ClusterState, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, object]:
    """Return the facts that a request depends on.

    They are the topic's id, the replicas, and whether they are reassigned.
    """
    moving = set(in_flight(state))
    return {
        each: (state.topics[each.topic].topic_id, state.replicas(each), each in moving)
        for each in partitions
        if each.topic in state.topics
    }


def _tried(steps: Iterable[Step]) -> dict[TopicPartition, Replicas | None]:
    """Return the replicas by partition that the last cancelling step requested.

    None: the end of the reassignment.
    """
    tried: dict[TopicPartition, Replicas | None] = {}
    for step, intent in intents(steps):
        if isinstance(step, CancelStep) and step.sending is not Sending.NOT_APPLIED:
            tried |= intent.targets
    return tried
