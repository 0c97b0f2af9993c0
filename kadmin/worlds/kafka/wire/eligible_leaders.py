"""Eligible leader replicas (KIP-966).

They lead without a loss while the ISR is empty (DescribeTopicPartitions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka.protocol.admin import DescribeTopicPartitionsRequest

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.wire.errors import NotServedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_PAGE = 2_000
"""The most partitions that a broker describes in one answer, by default."""


@dataclass(frozen=True, slots=True)
class EligibleLeaders:
    """Replicas that hold every acknowledged record though they are not in the ISR.

    It also has the last known leader.
    """

    elr: Replicas
    last_known_elr: Replicas


def read_eligible_leaders(
    connection: KafkaConnection, topics: Iterable[str]
) -> dict[TopicPartition, EligibleLeaders]:
    """Return the partitions of topics that have eligible or last known leaders.

    None where brokers serve none. Pages are read one after the other and are no consistent
    snapshot. Raises as `KafkaConnection.ask` does.
    """
    request, found = DescribeTopicPartitionsRequest, dict[TopicPartition, EligibleLeaders]()
    names, cursor = [request.TopicRequest(name=name) for name in sorted(topics)], None
    while names:
        asked = request(topics=names, response_partition_limit=_PAGE, cursor=cursor)
        try:
            answer = connection.ask("describe eligible leaders", asked)
        except NotServedError:
            return {}
        for topic in answer.topics:
            for each in topic.partitions:
                leaders = EligibleLeaders(
                    tuple(each.eligible_leader_replicas or ()), tuple(each.last_known_elr or ())
                )
                if leaders.elr or leaders.last_known_elr:
                    found[TopicPartition(topic.name, each.partition_index)] = leaders
        if answer.next_cursor is None:
            break
        after = answer.next_cursor
        cursor = request.Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
        names = [each for each in names if each.name >= after.topic_name]
    return found
