"""Deletions of topics through the brokers (DeleteTopics by id, KIP-516, Kafka 2.8 and later)."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING
from uuid import UUID

from kafka.protocol.admin import DeleteTopicsRequest

from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, refusal, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

_BY_ID = 6


def delete_topics(
    connection: KafkaConnection, topic_ids: Mapping[str, str], *, send_by: float = math.inf
) -> dict[str, Refusal | None]:
    """Ask the controller to delete the topics with these ids, by name.

    Topics made again under the names are kept. Returns None for each topic that was deleted.
    Replicas on brokers that are not alive stay there as stray folders. Raises as
    `KafkaConnection.change` does; what was not answered may still be deleted.
    """
    state = DeleteTopicsRequest.DeleteTopicState
    names = {_decode(topic_id): name for name, topic_id in topic_ids.items()}
    request = DeleteTopicsRequest(
        topics=[state(name=None, topic_id=topic_id) for topic_id in names],
        timeout_ms=int(CHANGE_S * 1000),
        min_version=_BY_ID,
    )
    answer = connection.change("delete topics", request, timeout_s=CHANGE_S, send_by=send_by)
    require_confirmed([each.error_code for each in answer.responses], "deletions")
    return {
        (name := names[each.topic_id]): refusal(
            each.error_code, each.error_message, Right("Delete", name)
        )
        for each in answer.responses
    }


def _decode(topic_id: str) -> UUID:
    return UUID(bytes=base64.urlsafe_b64decode(f"{topic_id}=="))
