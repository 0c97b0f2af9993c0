"""Requests by the brokers' API: elections, deletions by id, creations, growths, registrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.errors import NotCompletedError, StalePlanError, UnknownOutcomeError
from kadmin.next_step import command
from kadmin.worlds.kafka.sending import RequestsOfStep, send_on_record
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.elections import elect_leaders
from kadmin.worlds.kafka.wire.log_dirs import (
    REPLICA_NOT_AVAILABLE,
    UNKNOWN_TOPIC_OR_PARTITION,
    alter_log_dirs,
)
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.refusals import RefusedError
from kadmin.worlds.kafka.wire.registrations import NOT_REGISTERED, unregister_broker
from kadmin.worlds.kafka.wire.topics import create_partitions, create_topic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Clock
    from kadmin.operations.decide.actions import (
        PublishDeletion,
        PublishElection,
        PublishGrowth,
        PublishLogDirs,
        PublishTopic,
    )
    from kadmin.operations.port import PublishOutcome
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step
    from kadmin.operations.store import OperationStore
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


_REMEMBERED = frozenset({REPLICA_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION})
SHOWN_S = 30.0
"""Seconds for brokers to show what the controller has done."""


class TopicPublisher:
    """Publishes elections, and changes of topics, of the operation that holds the lock."""

    def __init__(self, connection: KafkaConnection, operations: OperationStore) -> None:
        self._connection = connection
        self._operations = operations

    def election(self, step: Step, action: PublishElection, lease: Lease) -> PublishOutcome:
        """Ask for an election; it changes nothing where the leader is the one asked for."""

        def send(send_by: float) -> Mapping[str, Any]:
            answers = elect_leaders(
                self._connection, action.partitions, unclean=action.unclean, send_by=send_by
            )
            return {
                "refused": {
                    partition: str(answer)
                    for partition, answer in answers.items()
                    if answer is not None
                }
            }

        return send_on_record(self._operations, step, lease, send)

    def deletion(
        self, step: Step, action: PublishDeletion, seen: ClusterState, lease: Lease
    ) -> PublishOutcome:
        """Ask to delete the topics that were seen, by their ids.

        Topics of the same names created since are kept.
        """
        ids = {topic: seen.topics[topic].topic_id for topic in action.topics}
        topic_ids = {topic: topic_id for topic, topic_id in ids.items() if topic_id is not None}

        def send(send_by: float) -> Mapping[str, Any]:
            answers = delete_topics(self._connection, topic_ids, send_by=send_by)
            return {
                "refused_topics": {
                    topic: str(answer) for topic, answer in answers.items() if answer is not None
                }
            }

        return send_on_record(self._operations, step, lease, send)

    def creation(self, step: Step, action: PublishTopic, lease: Lease) -> PublishOutcome:
        """Ask to create a topic; the controller refuses a name that exists."""
        recipe = action.recipe

        def send(send_by: float) -> Mapping[str, Any]:
            try:
                create_topic(
                    self._connection, recipe.topic, recipe.replicas, recipe.configs, send_by=send_by
                )
            except RefusedError as refused:
                return {"refused_topics": {recipe.topic: refused.cause}}
            return {}

        return send_on_record(self._operations, step, lease, send)

    def growth(
        self, step: Step, action: PublishGrowth, seen: ClusterState, lease: Lease
    ) -> PublishOutcome:
        """Ask for new partitions of the topic that was seen; asked again, nothing more is added.

        A topic of the same name that was created since is left alone.
        """
        growth = action.growth
        total = growth.current + len(growth.new_partitions)

        def send(send_by: float) -> Mapping[str, Any] | None:
            now = read_metadata(self._connection, [growth.topic]).topics.get(growth.topic)
            if now is None or now.topic_id != seen.topics[growth.topic].topic_id:
                return None
            refused = create_partitions(
                self._connection, growth.topic, total, growth.new_partitions, send_by=send_by
            )
            return {"refused_topics": {} if refused is None else {growth.topic: str(refused)}}

        return send_on_record(self._operations, step, lease, send)


def move_replicas(
    connection: KafkaConnection,
    operations: OperationStore,
    step: Step,
    action: PublishLogDirs,
    lease: Lease,
) -> PublishOutcome:
    """Ask a broker to have replicas in log directories, in either world.

    The same request can be sent again without harm. A broker without the replica, or without its
    topic yet, remembers the directory until it is restarted.
    """
    wanted: dict[str, list[TopicPartition]] = {}
    for partition, path in action.log_dirs.items():
        wanted.setdefault(path, []).append(partition)

    def send(send_by: float) -> Mapping[str, Any]:
        answers = alter_log_dirs(connection, action.broker_id, wanted, send_by=send_by)
        return {
            "refused": {
                partition: str(answer)
                for partition, answer in answers.items()
                if answer is not None and answer.code not in _REMEMBERED
            }
        }

    return send_on_record(operations, step, lease, send)


def unregister(
    connection: KafkaConnection,
    operations: OperationStore,
    clock: Clock,
    broker_id: int,
    lease: Lease,
) -> None:
    """Ask the controller to unregister a broker, and wait until it is seen to be unregistered.

    Brokers list registrations from Kafka 4.0 on; before, the controller says so when asked again.
    Raises as `Backend.unregister` does.
    """
    with RequestsOfStep(operations, lease, None) as requests:
        refused = unregister_broker(connection, broker_id, send_by=requests.prove())
        if refused is not None and refused.code == NOT_REGISTERED:
            raise StalePlanError(
                f"No broker {broker_id} is registered.", next_step=command("inspect brokers")
            )
        if refused is not None:
            raise NotCompletedError(
                f"Broker {broker_id} was not unregistered.",
                cause=str(refused),
                next_step=command("inspect brokers"),
            )
        for _ in clock.poll(SHOWN_S):
            found = read_metadata(connection, ())
            if found.fenced_known and broker_id not in found.brokers:
                return
            if not found.fenced_known:
                again = unregister_broker(connection, broker_id, send_by=requests.prove())
                if again is not None and again.code == NOT_REGISTERED:
                    return
    raise UnknownOutcomeError(
        f"The controller unregistered broker {broker_id}, and brokers still list it.",
        next_step=command("inspect brokers"),
    )
