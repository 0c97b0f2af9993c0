"""Creates topics through the brokers of a cluster in KRaft mode (CreateTopics)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.protocol.admin import CreateTopicsRequest

from kadmin.cluster.kafka.connection import raise_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.model import Replicas

CREATE_S = 30.0


def create_topic(connection: KafkaConnection, name: str, replicas: Mapping[int, Replicas]) -> None:
    """Create a topic with the replicas of each partition.

    Brokers show the topic, its leaders and its ISRs only some time later. Raises as `KafkaConnection.change` does, and
    NotCompletedError when the topic is there already.
    """
    what, topic = f"create topic {name}", CreateTopicsRequest.CreatableTopic
    assignments = [
        topic.CreatableReplicaAssignment(partition_index=number, broker_ids=list(brokers))
        for number, brokers in replicas.items()
    ]
    asked = topic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=[])
    answer = connection.change(
        what, CreateTopicsRequest(topics=[asked], timeout_ms=int(CREATE_S * 1000)), timeout_s=CREATE_S
    )
    (result,) = answer.topics
    raise_for(result.error_code, result.error_message, connection.bootstrap, what)
