"""Leader elections through the brokers (ElectLeaders, KIP-460, Kafka 2.4 and later)."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from kafka.protocol.admin import ElectLeadersRequest

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, refusal, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

_PREFERRED, _UNCLEAN = 0, 1
_ELECTION_NOT_NEEDED = 84
_TYPED = 1
"""The version of ElectLeaders that names the type; 0, of Kafka 2.2, elects preferred leaders."""


def serves_elections(connection: KafkaConnection) -> bool:
    """Whether the broker that listed the others serves unclean elections; nothing is sent."""
    return connection.serves(ElectLeadersRequest, _TYPED)


def elect_leaders(
    connection: KafkaConnection,
    partitions: Collection[TopicPartition],
    *,
    unclean: bool = False,
    controller_id: int | None = None,
    send_by: float = math.inf,
) -> dict[TopicPartition, Refusal | None]:
    """Ask the controller to elect the preferred leaders of these partitions.

    With `unclean`, it elects the first living replica of each one without a leader. A request
    without a list would elect all. In ZooKeeper mode the controller is a broker, `controller_id`.
    Returns None for each partition that has such a leader, by the state of the controller, which
    may count a broker that failed a moment ago. Raises as `KafkaConnection.change` does; an
    election may still happen then.
    """
    what, topic = "elect leaders", ElectLeadersRequest.TopicPartitions
    asked = [
        topic(topic=name, partitions=[each.partition for each in group])
        for name, group in groupby(sorted(partitions), key=lambda each: each.topic)
    ]
    request = ElectLeadersRequest(
        election_type=_UNCLEAN if unclean else _PREFERRED,
        topic_partitions=asked,
        timeout_ms=int(CHANGE_S * 1000),
    )
    answer = connection.change(
        what, request, timeout_s=CHANGE_S, broker_id=controller_id, send_by=send_by
    )
    require_confirmed([answer.error_code], "elections")
    raise_for(answer.error_code, None, connection.servers, what, Right("Alter"))
    found = {
        TopicPartition(topic.topic, each.partition_id): refusal(each.error_code, each.error_message)
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }
    require_confirmed([each.code for each in found.values() if each is not None], "elections")
    return {
        partition: None if each is None or each.code == _ELECTION_NOT_NEEDED else each
        for partition, each in found.items()
    }
