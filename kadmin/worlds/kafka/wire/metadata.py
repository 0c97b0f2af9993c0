"""Brokers, topics and partitions in one broker's copy of the metadata (Metadata, DescribeCluster).

The copy may lag behind the controller, by seconds on a busy cluster. Reassignments in flight are in
reassignments.py.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.cluster.services import service_of
from kadmin.errors import UnreachableError
from kadmin.next_step import command
from kadmin.worlds.kafka.wire.errors import NotServedError, raise_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from kadmin.cluster.model import Replicas
    from kadmin.cluster.services import Service
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_UNKNOWN_TOPIC = 3
_NOT_AUTHORIZED = 29
_CREATES_NOTHING = 4
"""The first version of Metadata that can name a topic without creating it (Kafka 0.11)."""
_WITH_FENCED = 2
"""The first version of DescribeCluster that lists fenced brokers (Kafka 4.0)."""


@dataclass(frozen=True, slots=True)
class BrokerMetadata:
    """A broker and its address on the listener that was asked.

    A fenced one is not `alive` (listed from 4.0 on).
    """

    broker_id: int
    rack: str | None
    host: str
    port: int
    alive: bool


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition as Metadata has it.

    It has ordered replicas, leader (or NO_LEADER), ISR, leader epoch (-1 before 2.1), replicas on
    dead disks. While a reassignment is in flight, the replicas hold the added and the removed ones
    too.
    """

    replicas: Replicas
    leader: int
    isr: Replicas
    leader_epoch: int
    offline: Replicas


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """A topic's id (base64, Kafka 2.8 and later) and its partitions by number."""

    topic_id: str | None
    partitions: Mapping[int, PartitionMetadata]


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """A cluster in the metadata of one broker.

    `controller_id` is the controller of a cluster in ZooKeeper mode (-1: none), any broker in KRaft
    mode. `fenced_known`: brokers that are registered and not alive are listed, too.
    """

    cluster_id: str | None
    controller_id: int
    brokers: Mapping[int, BrokerMetadata]
    topics: Mapping[str, TopicMetadata]
    fenced_known: bool

    @property
    def partitions(self) -> Mapping[TopicPartition, PartitionMetadata]:
        """Every partition that was read."""
        return {
            TopicPartition(name, number): partition
            for name, topic in self.topics.items()
            for number, partition in topic.partitions.items()
        }


def read_metadata(
    connection: KafkaConnection,
    topics: Iterable[str] | None = None,
    *,
    broker_id: int | None = None,
) -> ClusterMetadata:
    """Return the brokers, and the topics that are named or all of them.

    Topics that do not exist are left out. `broker_id` names the broker to ask. A reading of all
    leaves out topics that may not be described; a named one raises NotAuthorizedError. Raises as
    `KafkaConnection.ask` does.
    """
    named = (
        None
        if topics is None
        else [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(topics)]
    )
    what = "describe topics"
    answer = connection.ask(
        what, MetadataRequest(topics=named, allow_auto_topic_creation=False), broker_id=broker_id
    )
    found = {}
    for topic in answer.topics:
        if topic.error_code != _UNKNOWN_TOPIC:
            raise_for(
                topic.error_code,
                topic.name,
                connection.servers,
                what,
                Right("Describe", topic.name),
            )
            found[topic.name] = _topic(topic)
    fenced = _fenced(connection, broker_id)
    brokers = (fenced or {}) | {
        each.node_id: BrokerMetadata(each.node_id, each.rack, each.host, each.port, alive=True)
        for each in answer.brokers
    }
    return ClusterMetadata(
        answer.cluster_id,
        answer.controller_id,
        dict(sorted(brokers.items())),
        dict(sorted(found.items())),
        fenced_known=fenced is not None,
    )


def read_service(connection: KafkaConnection) -> Service | None:
    """Return the managed service that the brokers belong to, None for Apache Kafka or unknown.

    Raises as `KafkaConnection.ask` does.
    """
    found = read_metadata(connection, ())
    hosts = (*connection.servers.hosts, *(each.host for each in found.brokers.values()))
    return service_of(hosts, found.cluster_id)


def internal_topics(
    connection: KafkaConnection, topics: Iterable[str]
) -> Mapping[str, bool | None]:
    """Return whether a broker flags topics as internal; None where they may not be described.

    A topic that the broker does not have yet has no flag. Raises as `KafkaConnection.ask` does;
    brokers before 0.11 are not asked, since they may create the topic.
    """
    named = [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(topics)]
    request = MetadataRequest(
        topics=named, allow_auto_topic_creation=False, min_version=_CREATES_NOTHING
    )
    answer = connection.ask("describe topics", request)
    return {
        each.name: None if each.error_code == _NOT_AUTHORIZED else each.is_internal
        for each in answer.topics
    }


def leader_of(connection: KafkaConnection, partition: TopicPartition) -> int:
    """Return the broker that leads a partition; raises UnreachableError where there is none."""
    found = read_metadata(connection, (partition.topic,)).partitions.get(partition)
    if found is None or found.leader < 0:
        raise UnreachableError(
            f"{partition} has no leader.", next_step=command("inspect partitions")
        )
    return found.leader


def _topic(topic: Any) -> TopicMetadata:  # noqa: ANN401 - kafka-python ships no types
    partitions = {
        each.partition_index: PartitionMetadata(
            tuple(each.replica_nodes),
            each.leader_id,
            tuple(each.isr_nodes),
            each.leader_epoch,
            tuple(each.offline_replicas or ()),
        )
        for each in topic.partitions
    }
    return TopicMetadata(_base64(topic.topic_id), dict(sorted(partitions.items())))


def _fenced(connection: KafkaConnection, broker_id: int | None) -> dict[int, BrokerMetadata] | None:
    """Return the brokers that are registered and not alive; None where brokers do not list them."""
    try:
        request = DescribeClusterRequest(include_fenced_brokers=True)
        answer = connection.ask("describe the cluster", request, broker_id=broker_id)
    except NotServedError:  # before 2.8
        return None
    if answer.API_VERSION < _WITH_FENCED:
        return None
    raise_for(answer.error_code, answer.error_message, connection.servers, "describe the cluster")
    return {
        each.broker_id: BrokerMetadata(each.broker_id, each.rack, each.host, each.port, alive=False)
        for each in answer.brokers
        if each.is_fenced
    }


def _base64(topic_id: UUID | None) -> str | None:
    """Encode an id as Kafka prints it.

    None for no id or zero, the answers of brokers without topic ids.
    """
    if topic_id is None or not topic_id.int:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).decode("ascii").rstrip("=")
