"""The quorum of controllers (DescribeQuorum, KRaft mode only)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka.protocol.admin import DescribeQuorumRequest

from kadmin.cluster.kafka.connection import raise_for

if TYPE_CHECKING:
    from kadmin.cluster.kafka.connection import KafkaConnection

_METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class Quorum:
    """The active controller, its epoch, and every voter."""

    leader_id: int
    leader_epoch: int
    voters: tuple[int, ...]


def describe_quorum(connection: KafkaConnection) -> Quorum:
    """Return the quorum; raises as `KafkaConnection.ask` does, NotCompletedError on a cluster in ZooKeeper mode."""
    what = "describe the quorum of controllers"
    topic = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    answer = connection.ask(
        what, DescribeQuorumRequest(topics=[topic(topic_name=_METADATA_TOPIC, partitions=[partition])])
    )
    raise_for(answer.error_code, answer.error_message, connection.bootstrap, what)
    found = answer.topics[0].partitions[0]
    raise_for(found.error_code, found.error_message, connection.bootstrap, what)
    return Quorum(found.leader_id, found.leader_epoch, tuple(sorted(each.replica_id for each in found.current_voters)))
