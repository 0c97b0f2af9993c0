"""Old consumers, `/consumers/<group>`: ids and owners (ephemeral) and offsets (persistent).

Owner and offset nodes are named by partition; very old ones by `<broker>-<partition>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kadmin.cluster.groups import ConsumerRegistration
from kadmin.cluster.znode_names import require_element, require_topic_name
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

CONSUMERS = "/consumers"
_GENERATED = re.compile(r"(.+)-([0-9]{13})-([0-9a-f]{1,8})")


@dataclass(frozen=True, slots=True)
class ConsumerOrigin:
    """The parts of a generated consumer id: host, start (ms since 1970), and the rest of a UUID."""

    host: str
    started_ms: int
    unique: str


def group_path(
    group: str, kind: Literal["ids", "owners", "offsets"], topic: str | None = None
) -> str:
    """Return the parent of a group's live consumers, or of its owners or offsets.

    They are by topic and then by partition.
    """
    parent = f"{CONSUMERS}/{require_element(group)}/{kind}"
    return parent if topic is None else f"{parent}/{require_topic_name(topic)}"


def origin_of(group: str, consumer_id: str) -> ConsumerOrigin | None:
    """Parse a consumer id, `<group>_<host>-<ms>-<8 hex digits>`.

    None for one that was configured (consumer.id).

    Kafka: ZookeeperConsumerConnector.
    """
    found = _GENERATED.fullmatch(consumer_id.removeprefix(f"{group}_"))
    return ConsumerOrigin(found[1], int(found[2]), found[3]) if found else None


def decode_registration(consumer_id: str, node: Znode) -> ConsumerRegistration:
    """Decode a consumer's own node."""
    value = decode_object(node.path, node.data)
    subscription = mapping(node.path, value.get("subscription"), "subscription")
    timestamp = value.get("timestamp")
    return ConsumerRegistration(
        consumer_id,
        {
            topic: integer(node.path, threads, "threads")
            for topic, threads in sorted(subscription.items())
        },
        text(node.path, value.get("pattern", "static"), "pattern"),
        None
        if timestamp is None
        else decimal(node.path, text(node.path, timestamp, "timestamp").encode()),
    )


def decode_owner(node: Znode) -> str:
    """Decode the consumer thread that owns a partition: `<consumer id>-<thread>`."""
    try:
        return (node.data or b"").decode()
    except UnicodeDecodeError as error:
        raise MalformedZnodeError(node.path, "not UTF-8") from error


def decode_offset(node: Znode) -> int:
    """Decode a committed offset."""
    return decimal(node.path, node.data)


def partition_of(name: str) -> int:
    """Return the partition that an owner or offset node names, in either layout."""
    number = name.rpartition("-")[2]
    if not (number.isascii() and number.isdigit()):
        raise MalformedZnodeError(name, "names no partition")
    return int(number)
