"""Notifications to the controller, and the producer id block.

`/isr_change_notification/isr_change_<n>` (leaders; unused from IBP 2.7-IV2),
`/log_dir_event_notification/ log_dir_event_<n>` (failed directories, 1.0+),
`/latest_producer_id_block` (0.11+; numbers are kept as strings).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.zookeeper.znodes.values import (
    MalformedZnodeError,
    decimal,
    decode_object,
    integer,
    mapping,
    text,
)

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Znode

ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """The last block of producer ids: its broker, first and last id."""

    broker_id: int
    first: int
    last: int


def decode_isr_change(node: Znode) -> tuple[TopicPartition, ...]:
    """Decode the partitions whose ISR changed."""
    listed = decode_object(node.path, node.data).get("partitions")
    if not isinstance(listed, list):
        raise MalformedZnodeError(node.path, f"partitions is not a list: {listed!r}")
    entries = [mapping(node.path, each, "entry") for each in listed]
    return tuple(
        TopicPartition(
            text(node.path, entry.get("topic"), "topic"),
            integer(node.path, entry.get("partition"), "partition"),
        )
        for entry in entries
    )


def decode_log_dir_event(node: Znode) -> int:
    """Decode the broker that lost a directory."""
    return integer(node.path, decode_object(node.path, node.data).get("broker"), "broker")


def decode_producer_id_block(node: Znode) -> ProducerIdBlock:
    """Decode the block; its bounds are decimal strings."""
    value = decode_object(node.path, node.data)

    def bound(key: str) -> int:
        return decimal(node.path, text(node.path, value.get(key), key).encode())

    return ProducerIdBlock(
        integer(node.path, value.get("broker"), "broker"), bound("block_start"), bound("block_end")
    )
