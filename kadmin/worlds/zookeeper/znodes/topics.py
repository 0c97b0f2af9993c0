"""Topics: `/brokers/topics/<topic>` (versions 1 to 3) and `.../partitions/<n>/state`.

Version 1 (to 2.3) holds `partitions`; 2 (2.4) adds `adding_replicas` and `removing_replicas`; 3
(2.8) adds `topic_id`.
Kafka: TopicZNode, TopicPartitionStateZNode. Controllers rewrite these; kadmin writes them for new
topics and new partitions, as Kafka's tools do (AdminZkClient.addPartitions), and where the same
write moves the controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import Topic
from kadmin.cluster.payloads import encode, require_replicas
from kadmin.cluster.znode_names import require_topic_name
from kadmin.worlds.zookeeper.model import StateNode
from kadmin.worlds.zookeeper.znodes.values import (
    MalformedZnodeError,
    decode_object,
    integer,
    integers,
    mapping,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.worlds.zookeeper.model import Znode

TOPICS = "/brokers/topics"


def topic_path(topic: str) -> str:
    """Return the path of a topic's assignment.

    Raises InvalidInputError for an invalid topic name.
    """
    return f"{TOPICS}/{require_topic_name(topic)}"


def partitions_path(topic: str) -> str:
    """Return the parent of a topic's partition nodes."""
    return f"{topic_path(topic)}/partitions"


def state_path(partition: TopicPartition) -> str:
    """Return the znode that holds leader and ISR."""
    return f"{partitions_path(partition.topic)}/{partition.partition}/state"


def decode_topic(name: str, node: Znode) -> Topic:
    """Decode any version; unknown keys are ignored."""
    value = decode_object(node.path, node.data)
    topic_id = value.get("topic_id")
    return Topic(
        name=name,
        replicas=_by_partition(node.path, value.get("partitions"), "partitions"),
        adding_replicas=_moving(node.path, value, "adding_replicas"),
        removing_replicas=_moving(node.path, value, "removing_replicas"),
        topic_id=None if topic_id is None else text(node.path, topic_id, "topic_id"),
        format_version=integer(node.path, value.get("version", 1), "version"),
        fingerprint=node.version,
    )


def encode_topic(replicas: Mapping[int, Replicas]) -> bytes:
    """Encode a new topic in version 1, as the old admin tools do.

    2.8+ controllers rewrite it to 3 at once. Raises ValueError unless the partitions count from 0
    without a gap, each with different, non-negative brokers.
    """
    if not replicas or sorted(replicas) != list(range(len(replicas))):
        raise ValueError(
            f"the partitions of a new topic count from 0 without a gap, not {sorted(replicas)}"
        )
    listed = {
        str(number): require_replicas(f"partition {number}", replicas[number])
        for number in sorted(replicas)
    }
    return encode({"version": 1, "partitions": listed})


def change_replicas(node: Znode, replicas: Mapping[int, Replicas]) -> bytes:
    """Return a topic's data with other ordered replicas of these partitions.

    Other keys, their order and the other partitions are unchanged. Raises MalformedZnodeError.
    """
    value = decode_object(node.path, node.data)
    partitions = mapping(node.path, value.get("partitions"), "partitions")
    for number, ids in replicas.items():
        partitions[str(number)] = require_replicas(f"partition {number}", ids)
    return encode(value)


def with_partitions(node: Znode, replicas: Mapping[int, Replicas]) -> bytes:
    """Return a topic's data with further partitions; everything else stays as it is.

    Raises ValueError unless they continue the count of the topic's partitions, each with different,
    non-negative brokers, and MalformedZnodeError for data that is not a topic's.
    """
    value = decode_object(node.path, node.data)
    partitions = mapping(node.path, value.get("partitions"), "partitions")
    numbers = {str(number) for number in range(len(partitions) + len(replicas))}
    if not replicas or partitions.keys() | set(map(str, replicas)) != numbers:
        raise ValueError(
            f"{node.path} has {len(partitions)} partitions, the new ones are {replicas}"
        )
    return change_replicas(node, dict(sorted(replicas.items())))


def decode_state(node: Znode) -> StateNode:
    """Decode leader (-1: none), ISR and epochs.

    `leader_recovery_state` (3.2+) is not needed here.
    """
    value = decode_object(node.path, node.data)
    return StateNode(
        leader=integer(node.path, value.get("leader"), "leader"),
        isr=integers(node.path, value.get("isr"), "isr"),
        leader_epoch=integer(node.path, value.get("leader_epoch"), "leader_epoch"),
        controller_epoch=integer(node.path, value.get("controller_epoch"), "controller_epoch"),
        fingerprint=node.version,
        written_ms=node.modified_ms,
    )


def _moving(path: str, value: Mapping[str, object], key: str) -> dict[int, Replicas]:
    found = _by_partition(path, value.get(key) or {}, key)
    return {number: ids for number, ids in found.items() if ids}


def _by_partition(path: str, value: object, what: str) -> dict[int, Replicas]:
    found: dict[int, Replicas] = {}
    for number, ids in mapping(path, value, what).items():
        if not (number.isascii() and number.isdigit()):
            raise MalformedZnodeError(
                path, f"{what} has a key that is no partition number: {number!r}"
            )
        found[int(number)] = integers(path, ids, f"{what} of {number}")
    return dict(sorted(found.items()))
