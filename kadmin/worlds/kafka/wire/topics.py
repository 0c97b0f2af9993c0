"""Creates topics and partitions through brokers (CreateTopics, CreatePartitions)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import CreatePartitionsRequest, CreateTopicsRequest

from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.refusals import (
    CHANGE_S,
    NOT_AUTHORIZED,
    RefusedError,
    refusal,
    require_confirmed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

_EXISTS = 36


def create_topic(
    connection: KafkaConnection,
    name: str,
    replicas: Mapping[int, Replicas],
    configs: Mapping[str, str] | None = None,
    *,
    send_by: float = math.inf,
) -> None:
    """Create a topic with the replicas of each partition; brokers show it only some time later.

    Raises as `KafkaConnection.change` does, and RefusedError when the topic exists or the
    controller refuses it.
    """
    _create(connection, _topic(name, replicas, configs or {}), send_by=send_by)


def create_compacted(
    connection: KafkaConnection,
    name: str,
    replicas: Mapping[int, Replicas],
    configs: Mapping[str, str],
) -> None:
    """Create a compacted topic as `create_topic` does; one that exists already is left as it is."""
    _create(
        connection,
        _topic(name, replicas, {"cleanup.policy": "compact", **configs}),
        pass_over=_EXISTS,
    )


def create_partitions(
    connection: KafkaConnection,
    topic: str,
    total: int,
    new: Sequence[Replicas],
    *,
    send_by: float = math.inf,
) -> Refusal | None:
    """Ask for new partitions with these replicas, so that the topic has `total`.

    Returns the refusal, None where the controller added them: asked again, it refuses a number that
    the topic has. Raises as `KafkaConnection.change` does; what was not answered may still be done.
    """
    wanted = CreatePartitionsRequest.CreatePartitionsTopic
    assignments = [wanted.CreatePartitionsAssignment(broker_ids=list(each)) for each in new]
    request = CreatePartitionsRequest(
        topics=[wanted(name=topic, count=total, assignments=assignments)],
        timeout_ms=int(CHANGE_S * 1000),
        validate_only=False,
    )
    what = f"add partitions to {topic}"
    answer = connection.change(what, request, timeout_s=CHANGE_S, send_by=send_by)
    (result,) = answer.results
    require_confirmed([result.error_code], f"growth of {topic}")
    return refusal(result.error_code, result.error_message, Right("Alter", topic))


def _topic(name: str, replicas: Mapping[int, Replicas], configs: Mapping[str, str]) -> Any:  # noqa: ANN401 - kafka-python ships no types
    topic = CreateTopicsRequest.CreatableTopic
    assignments = [
        topic.CreatableReplicaAssignment(partition_index=number, broker_ids=list(brokers))
        for number, brokers in replicas.items()
    ]
    values = [topic.CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    return topic(
        name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=values
    )


def _create(
    connection: KafkaConnection,
    asked: Any,  # noqa: ANN401 - kafka-python ships no types
    *,
    send_by: float = math.inf,
    pass_over: int = 0,
) -> None:
    what, request = (
        f"create topic {asked.name}",
        CreateTopicsRequest(topics=[asked], timeout_ms=int(CHANGE_S * 1000)),
    )
    (result,) = connection.change(what, request, timeout_s=CHANGE_S, send_by=send_by).topics
    require_confirmed([result.error_code], f"creation of {asked.name}")
    if result.error_code in NOT_AUTHORIZED:
        raise_for(
            result.error_code,
            result.error_message,
            connection.servers,
            what,
            Right("Create", asked.name),
        )
    refused = refusal(result.error_code, result.error_message)
    if refused is not None and refused.code != pass_over:
        raise RefusedError(
            f"The brokers at {connection.servers} did not {what}.", cause=str(refused)
        )
