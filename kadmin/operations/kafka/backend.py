"""`Backend` on the brokers' API, for clusters in KRaft mode: reads them and publishes waves of reassignments.

A publish is not atomic there. The step is on record before the request leaves, and the answer of each partition is
added to it afterwards. After a lost answer the cluster says what happened: sending the same targets again is harmless.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.quorum import describe_quorum
from kadmin.cluster.kafka.reassignments import alter_reassignments, list_reassignments
from kadmin.cluster.model import (
    Broker,
    ClusterState,
    Controller,
    Endpoint,
    Listening,
    PartitionState,
    Topic,
    TopicPartition,
)
from kadmin.errors import NotCompletedError
from kadmin.operations.backend import PublishOutcome
from kadmin.operations.decide.actions import PublishWave
from kadmin.plan.waves import PublishLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.cluster.kafka.metadata import BrokerMetadata, ClusterMetadata
    from kadmin.cluster.kafka.reassignments import Reassignment
    from kadmin.errors import KadminError
    from kadmin.operations.backend import EditConfigs
    from kadmin.operations.decide.actions import Publish, TakeBack
    from kadmin.operations.kafka.folder import FolderOperations
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import Channel, Step
    from kadmin.plan.throttle import ConfigValues


class KafkaBackend:
    """A cluster in KRaft mode, reached through its brokers."""

    limits = PublishLimits(max_bytes=900_000, bytes_per_topic=0, max_partitions=1_000)
    """The controller takes 10,000 partitions in one request; smaller ones keep its answers quick."""
    unchanged_means_rejected = False

    def __init__(self, bootstrap: Sequence[str], operations: FolderOperations) -> None:
        self._bootstrap = bootstrap
        self._operations = operations

    def check(self) -> None:
        """Raise NotCompletedError unless the cluster has a quorum of controllers: writes are for KRaft mode only."""
        with KafkaConnection(self._bootstrap) as connection:
            describe_quorum(connection)

    def read(
        self, topics: Iterable[str] | None = None, *, with_configs: bool = False, settle: bool = False
    ) -> ClusterState:
        """Read all topics, or those named, without configs.

        Reassignments in flight are what the controller knows, the rest is one broker's copy.
        """
        del with_configs, settle
        with KafkaConnection(self._bootstrap) as connection:
            quorum = describe_quorum(connection)
            moving = list_reassignments(connection)
            found = read_metadata(connection, topics)
        return ClusterState(
            cluster_id=found.cluster_id,
            controller=Controller(quorum.leader_id),
            controller_epoch=quorum.leader_epoch,
            brokers={each.broker_id: _broker(each) for each in found.brokers.values() if each.alive},
            topics=_topics(found, moving),
            states={
                partition: PartitionState(
                    each.leader, each.isr, each.leader_epoch, hash((each.leader, each.isr, each.leader_epoch))
                )
                for partition, each in found.partitions.items()
            },
        )

    def place(self, channel: Channel) -> str:
        """Name the channel as messages do."""
        return f"the controller's {channel}"

    def listening(self, channel: Channel, state: ClusterState) -> Listening:
        """Return LISTENING: the controller answers each request."""
        del channel, state
        return Listening.LISTENING

    def publish(self, step: Step, action: Publish, seen: ClusterState, lease: Lease) -> PublishOutcome:
        """Put the step on record, look at the topics once more, send, and add the answer of each partition."""
        if not isinstance(action, PublishWave):
            raise _not_available(step.kind)
        self._operations.write_step(step, lease)
        targets = {target.partition: target.replicas for target in action.targets}
        now = self.read({partition.topic for partition in targets})
        if any(_identity(now, each) != _identity(seen, each) for each in targets):
            return PublishOutcome.CHANGED
        with KafkaConnection(self._bootstrap) as connection:
            answers = alter_reassignments(connection, targets)
        refused = {
            partition: f"{answer.name}: {answer.message or 'no message'}"
            for partition, answer in answers.items()
            if answer is not None
        }
        self._operations.write_step(replace(step, refused=refused), lease)
        return PublishOutcome.PUBLISHED

    def take_back(self, step: Step, action: TakeBack, seen: ClusterState, lease: Lease) -> PublishOutcome | str:
        """Raise NotCompletedError: moves are not taken back through the brokers' API yet."""
        del action, seen, lease
        raise _not_available(step.kind)

    def config_backlog(self) -> KadminError | None:
        """Return None: config changes reach brokers with the metadata."""
        return None

    def read_configs(self, entities: Iterable[str]) -> ConfigValues:
        """Raise NotCompletedError for any entity: throttles are not available through the brokers' API yet."""
        if list(entities):
            raise _not_available("throttle")
        return {}

    def configured_entities(self) -> Mapping[str, bool]:
        """Raise NotCompletedError: throttles are not available through the brokers' API yet."""
        raise _not_available("throttle")

    def change_configs(self, entities: Iterable[str], edit: EditConfigs, lease: Lease) -> bool:
        """Raise NotCompletedError: throttles are not available through the brokers' API yet."""
        del entities, edit, lease
        raise _not_available("throttle")

    def metadata_groups(self, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return no groups: every group keeps its offsets in Kafka."""
        return dict.fromkeys(topics, ())


def _broker(found: BrokerMetadata) -> Broker:
    return Broker(found.broker_id, found.rack, (Endpoint("PLAINTEXT", found.host, found.port, "PLAINTEXT"),))


def _topics(found: ClusterMetadata, moving: Mapping[TopicPartition, Reassignment]) -> dict[str, Topic]:
    topics = {}
    for name, topic in found.topics.items():
        here = {number: moving.get(TopicPartition(name, number)) for number in topic.partitions}
        in_flight = {number: each for number, each in here.items() if each is not None}
        replicas = {number: each.replicas for number, each in topic.partitions.items()}
        replicas |= {number: each.replicas for number, each in in_flight.items()}
        adding = {number: each.adding_replicas for number, each in in_flight.items() if each.adding_replicas}
        removing = {number: each.removing_replicas for number, each in in_flight.items() if each.removing_replicas}
        fingerprint = hash(tuple(tuple(sorted(each.items())) for each in (replicas, adding, removing)))
        topics[name] = Topic(name, replicas, adding, removing, topic.topic_id, fingerprint)
    return topics


def _identity(state: ClusterState, partition: TopicPartition) -> tuple[object, object]:
    topic = state.topics.get(partition.topic)
    return None if topic is None else topic.topic_id, state.replicas(partition)


def _not_available(what: str) -> NotCompletedError:
    return NotCompletedError(
        f"A {what} is not available through the brokers' API yet.", next_command="use the command with -z ZK"
    )
