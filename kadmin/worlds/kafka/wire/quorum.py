"""The quorum of controllers (DescribeQuorum, KRaft mode only)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeQuorumRequest

from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.model import Quorum, QuorumReplica

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_METADATA_TOPIC = "__cluster_metadata"


def has_quorum(connection: KafkaConnection) -> bool:
    """Whether the cluster has a quorum of controllers, as in KRaft mode; no controller is asked."""
    return connection.serves(DescribeQuorumRequest)


def describe_quorum(connection: KafkaConnection) -> Quorum:
    """Return the quorum.

    Raises as `KafkaConnection.ask` does, NotServedError on a cluster in ZooKeeper mode. A
    controller that was elected a moment ago has no high watermark yet: UnreachableError.
    """
    found = _ask(connection).topics[0].partitions[0]
    if found.high_watermark < 0:
        raise UnreachableError(
            f"Controller {found.leader_id} was only just elected.", next_step="try again"
        )
    return Quorum(
        found.leader_id,
        found.leader_epoch,
        found.high_watermark,
        _replicas(found.current_voters),
        _replicas(found.observers),
    )


def reach_controller(connection: KafkaConnection) -> int:
    """Return the id of the active controller.

    To its own listener `connection` can send requests from now on. Raises as `describe_quorum`
    does, and NotCompletedError where brokers do not give its address (before Kafka 3.9).
    """
    answer = _ask(connection)
    leader: int = answer.topics[0].partitions[0].leader_id
    for node in answer.nodes or ():
        if node.node_id == leader and node.listeners:
            connection.add_node(leader, node.listeners[0].host, node.listeners[0].port)
            return leader
    raise NotCompletedError(
        f"The brokers do not report the address of controller {leader}.",
        cause="Kafka 3.9 and later report it",
    )


def _ask(connection: KafkaConnection) -> Any:  # noqa: ANN401 - kafka-python ships no types
    what = "describe the quorum of controllers"
    topic = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    answer = connection.ask(
        what,
        DescribeQuorumRequest(topics=[topic(topic_name=_METADATA_TOPIC, partitions=[partition])]),
    )
    raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Describe"))
    found = answer.topics[0].partitions[0]
    raise_for(found.error_code, found.error_message, connection.servers, what)
    return answer


def _replicas(states: Any) -> tuple[QuorumReplica, ...]:  # noqa: ANN401 - kafka-python ships no types
    found = (
        QuorumReplica(
            each.replica_id,
            each.log_end_offset,
            each.last_fetch_timestamp,
            each.last_caught_up_timestamp,
        )
        for each in states
    )
    return tuple(sorted(found, key=lambda each: each.replica_id))
