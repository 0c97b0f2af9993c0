"""Reassignments through the brokers, from Kafka 2.4 on.

The requests are AlterPartitionReassignments and ListPartitionReassignments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, refusal, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

NO_REASSIGNMENT_IN_PROGRESS = 85


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment in flight.

    `replicas` holds the target first, then the replicas that will be removed.
    """

    replicas: Replicas
    adding_replicas: Replicas
    removing_replicas: Replicas


def list_reassignments(connection: KafkaConnection) -> dict[TopicPartition, Reassignment]:
    """Return the reassignments in flight; raises as `KafkaConnection.ask` does."""
    what, request = "list reassignments", ListPartitionReassignmentsRequest
    answer = connection.ask_controller(what, request(timeout_ms=int(REQUEST_S * 1000), topics=None))
    raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Describe"))
    return {
        TopicPartition(topic.name, each.partition_index): Reassignment(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def alter_reassignments(
    connection: KafkaConnection,
    targets: Mapping[TopicPartition, Replicas | None],
    controller_id: int | None = None,
    *,
    send_by: float = math.inf,
    allow_replication_factor_change: bool = True,
) -> dict[TopicPartition, Refusal | None]:
    """Send a target for each partition, None to end its reassignment, in one request.

    A cluster in ZooKeeper mode takes it at its controller only; in KRaft mode every broker forwards
    it. Where `allow_replication_factor_change` is False, controllers of Kafka 4.1 and later refuse
    a target with more or fewer replicas than the partition has, or gets by the reassignment in
    flight; earlier ones ignore it.
    Returns None for each partition that was accepted. The request is not atomic: the other
    partitions run when one is refused. Raises as `KafkaConnection.change` does; what was not
    answered may still be applied.
    """
    what, topic = "alter reassignments", AlterPartitionReassignmentsRequest.ReassignableTopic
    asked = []
    for name, group in groupby(sorted(targets), key=lambda each: each.topic):
        wanted = [(each.partition, targets[each]) for each in group]
        partitions = [
            topic.ReassignablePartition(
                partition_index=number, replicas=None if replicas is None else list(replicas)
            )
            for number, replicas in wanted
        ]
        asked.append(topic(name=name, partitions=partitions))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=int(CHANGE_S * 1000),
        allow_replication_factor_change=allow_replication_factor_change,
        topics=asked,
    )
    answer = connection.change(
        what, request, timeout_s=CHANGE_S, broker_id=controller_id, send_by=send_by
    )
    codes = [each.error_code for topic in answer.responses for each in topic.partitions]
    require_confirmed([answer.error_code, *codes], "reassignments")
    raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Alter"))
    return {
        TopicPartition(topic.name, each.partition_index): refusal(
            each.error_code, each.error_message
        )
        for topic in answer.responses
        for each in topic.partitions
    }
