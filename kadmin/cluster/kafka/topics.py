"""Creates topics through the brokers of a cluster in KRaft mode (CreateTopics)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kafka.protocol.admin import CreateTopicsRequest

from kadmin.cluster.kafka.connection import Right, raise_for
from kadmin.cluster.kafka.refusals import CHANGE_S, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.model import Replicas


def create_topic(
    connection: KafkaConnection,
    name: str,
    replicas: Mapping[int, Replicas],
    configs: Mapping[str, str] | None = None,
    *,
    send_by: float = math.inf,
) -> None:
    """Create a topic with the replicas of each partition; brokers show it only some time later.

    Raises as `KafkaConnection.change` does, and NotCompletedError when the topic exists or is refused.
    """
    what, topic = f"create topic {name}", CreateTopicsRequest.CreatableTopic
    assignments = [
        topic.CreatableReplicaAssignment(partition_index=number, broker_ids=list(brokers))
        for number, brokers in replicas.items()
    ]
    own = [topic.CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()]
    asked = topic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=own)
    answer = connection.change(
        what, CreateTopicsRequest(topics=[asked], timeout_ms=int(CHANGE_S * 1000)), timeout_s=CHANGE_S, send_by=send_by
    )
    (result,) = answer.topics
    require_confirmed([result.error_code], f"creation of {name}")
    raise_for(result.error_code, result.error_message, connection.bootstrap, what, Right("Create", name))
