"""Brokers, topics and partitions as one broker's copy of the metadata has them (Metadata, DescribeCluster).

The copy may lag behind the controller, by seconds on a busy cluster. Reassignments in flight are in reassignments.py.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest

from kadmin.cluster.kafka.connection import raise_for
from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.model import Replicas

_UNKNOWN_TOPIC = 3


@dataclass(frozen=True, slots=True)
class BrokerMetadata:
    """A broker and its address on the listener that was asked; `alive` is False for one that is registered and fenced.

    Brokers before 4.0 do not list fenced ones.
    """

    broker_id: int
    rack: str | None
    host: str
    port: int
    alive: bool


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition: its ordered replicas, its leader (NO_LEADER where there is none), its ISR, and its leader epoch.

    While a reassignment is in flight, the replicas hold the added and the removed ones too. `offline` are replicas on
    brokers or disks that are not alive. Brokers before 2.1 do not give leader epochs: -1.
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
    """A cluster as one broker sees it."""

    cluster_id: str | None
    brokers: Mapping[int, BrokerMetadata]
    topics: Mapping[str, TopicMetadata]

    @property
    def partitions(self) -> Mapping[TopicPartition, PartitionMetadata]:
        """Every partition that was read."""
        return {
            TopicPartition(name, number): partition
            for name, topic in self.topics.items()
            for number, partition in topic.partitions.items()
        }


def read_metadata(
    connection: KafkaConnection, topics: Iterable[str] | None = None, *, broker_id: int | None = None
) -> ClusterMetadata:
    """Return the brokers, and the topics that are named or all of them; a topic that does not exist is left out.

    `broker_id` names the broker to ask, any of them otherwise. Topics that the principal may not DESCRIBE are left out
    of a reading of all, without an error. Raises UnreachableError, NotAuthorizedError for a named topic that may not
    be seen, and NotCompletedError.
    """
    named = None if topics is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(topics)]
    what = "describe topics"
    answer = connection.ask(what, MetadataRequest(topics=named, allow_auto_topic_creation=False), broker_id=broker_id)
    found = {}
    for topic in answer.topics:
        if topic.error_code != _UNKNOWN_TOPIC:
            raise_for(topic.error_code, topic.name, connection.bootstrap, what)
            found[topic.name] = _topic(topic)
    brokers = _fenced(connection, broker_id) | {
        each.node_id: BrokerMetadata(each.node_id, each.rack, each.host, each.port, alive=True)
        for each in answer.brokers
    }
    return ClusterMetadata(answer.cluster_id, dict(sorted(brokers.items())), dict(sorted(found.items())))


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


def _fenced(connection: KafkaConnection, broker_id: int | None) -> dict[int, BrokerMetadata]:
    try:
        request = DescribeClusterRequest(include_fenced_brokers=True)
        answer = connection.ask("describe the cluster", request, broker_id=broker_id)
    except NotCompletedError:
        return {}  # before 2.8
    raise_for(answer.error_code, answer.error_message, connection.bootstrap, "describe the cluster")
    return {
        each.broker_id: BrokerMetadata(each.broker_id, each.rack, each.host, each.port, alive=False)
        for each in answer.brokers
        if each.is_fenced
    }


def _base64(topic_id: UUID | None) -> str | None:
    """Print an id as Kafka does; brokers that know no ids give none, or zero."""
    if topic_id is None or not topic_id.int:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).decode("ascii").rstrip("=")
