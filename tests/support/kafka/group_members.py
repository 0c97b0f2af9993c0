"""Members of newer kinds of groups, which kafka-python does not have, and groups without members.

Members join, and are known for their session.
"""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING, Any

from kafka import KafkaAdminClient, OffsetAndMetadata
from kafka import TopicPartition as KafkaTopicPartition
from kafka.errors import CoordinatorNotAvailableError, NoError
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import FindCoordinatorRequest
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_MESSAGES = "support.kafka.messages"

_NOT_YET = {14, 15, 16}
"""The coordinator is being elected, or loads its log."""


def _message(name: str) -> Any:  # noqa: ANN401 - kafka-python ships no types
    return type(ApiMessage)(name, (ApiMessage,), {"__module__": __name__}, load_json=_MESSAGES)


ConsumerGroupHeartbeatRequest = _message("ConsumerGroupHeartbeatRequest")
ConsumerGroupHeartbeatResponse = _message("ConsumerGroupHeartbeatResponse")
ShareGroupHeartbeatRequest = _message("ShareGroupHeartbeatRequest")
ShareGroupHeartbeatResponse = _message("ShareGroupHeartbeatResponse")


def join(connection: KafkaConnection, kind: str, group: str, topics: Sequence[str]) -> None:
    """Let a member of a new group (`consumer` or `share`) subscribe to topics; its session is 45 s,
    without more.
    """
    member = {
        "group_id": group,
        "member_id": base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="),
        "member_epoch": 0,
        "subscribed_topic_names": list(topics),
    }
    if kind == "consumer":
        request = ConsumerGroupHeartbeatRequest(
            **member, rebalance_timeout_ms=60_000, topic_partitions=[]
        )
    else:
        request = ShareGroupHeartbeatRequest(**member)
    asked = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])

    def joined() -> bool:
        (found,) = connection.ask("find a coordinator", asked).coordinators
        if found.error_code:
            return False
        answer = connection.change("join a group", request, timeout_s=10, broker_id=found.node_id)
        assert answer.error_code in {0, *_NOT_YET}, answer
        return not answer.error_code

    wait_until(joined)


def commit(servers: Sequence[str], group: str, topic: str, **security: str) -> None:
    """Commit an offset of a group without members; `security` are settings of kafka-python."""
    client = KafkaAdminClient(bootstrap_servers=list(servers), **security)

    def committed() -> bool:
        try:
            done = client.alter_group_offsets(
                group, {KafkaTopicPartition(topic, 0): OffsetAndMetadata(0, "", -1)}
            )
        except CoordinatorNotAvailableError:
            return False
        return set(done.values()) == {NoError}

    wait_until(committed)
    client.close()
