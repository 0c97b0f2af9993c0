"""The topic that keeps lock and record: how it is made, and the settings without which it would lose records."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.configs import read_topic_settings
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.topics import create_compacted
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.operations.decide.record_topic import REPLICAS, place, replication_factor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.metadata import TopicMetadata

CONTROL = 0
"""The partition of everything but the bodies; every reader reads it whole."""
BODIES = 1
"""The partition of the records of operations, which are read by offset when they are wanted."""
BATCH_BYTES = 900_000
"""Bytes of keys and values in one batch of records: one that is larger than `max.message.bytes` is refused."""

_MESSAGE_BYTES = 1_048_588
"""`max.message.bytes` of the topic: Kafka's default, whatever the brokers' is."""
_LEAST_MESSAGE_BYTES = 1_000_000
"""A batch with what the format adds to keys and values."""
_PARTITIONS = 2
_CREATED_S = 30.0
_PAUSE_S = 0.1
SETTINGS = {
    "unclean.leader.election.enable": "false",
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(_MESSAGE_BYTES),
    "segment.ms": "3600000",  # the lease is renewed every few seconds, and only closed segments are compacted
    "min.cleanable.dirty.ratio": "0.1",
}


def topic_to_create(connection: KafkaConnection, name: str) -> str:
    """Name the topic as messages do, with the replication factor that it would be created with now."""
    return _named(name, replication_factor(_racks(connection)))


def create_topic(connection: KafkaConnection, name: str, avoid: Collection[int] = ()) -> str:
    """Create the topic and wait until it has leaders; returns its name and replication factor, as messages have them.

    It is placed on none of the brokers to `avoid` where others are enough.
    """
    placed = place(_racks(connection), avoid, _PARTITIONS)
    copies = len(placed[CONTROL])
    settings = {**SETTINGS, "min.insync.replicas": str(_least_in_sync(copies))}
    create_compacted(connection, name, placed, settings)
    deadline = time.monotonic() + _CREATED_S
    while True:
        found = read_metadata(connection, (name,)).topics.get(name)
        if found is not None and len(found.partitions) >= _PARTITIONS and _led(found):
            return _named(name, copies)
        if time.monotonic() >= deadline:
            raise UnreachableError(f"Topic {name} was created, and has no leaders.", next_command="repeat the command")
        time.sleep(_PAUSE_S)


def check_topic(connection: KafkaConnection, name: str, found: TopicMetadata) -> None:
    """Raise NotCompletedError, with the command that mends it, where the topic could lose records."""
    needed = {"cleanup.policy", "max.message.bytes", "min.insync.replicas", "unclean.leader.election.enable"}
    problem = _problem(found, read_topic_settings(connection, name, sorted(needed)))
    if problem is not None:
        said, mend = problem
        raise NotCompletedError(
            f"Topic {name} keeps kadmin's lock and record, and {said}.",
            next_command=mend.format(name=name, options=connection.servers.options),
        )


def _problem(found: TopicMetadata, settings: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong and the command that mends it."""
    copies = min((len(each.replicas) for each in found.partitions.values()), default=0)
    least = _least_in_sync(copies)
    if len(found.partitions) < _PARTITIONS:
        return f"has fewer than {_PARTITIONS} partitions", (
            f"kafka-topics.sh {{options}} --alter --topic {{name}} --partitions {_PARTITIONS}"
        )
    if settings.get("cleanup.policy") != "compact":
        return f"its cleanup.policy is {settings.get('cleanup.policy')}", _config("cleanup.policy=compact")
    if int(settings.get("min.insync.replicas", "1")) < least:
        return f"its min.insync.replicas is below {least}", _config(f"min.insync.replicas={least}")
    if settings.get("unclean.leader.election.enable") != "false":
        return "it allows unclean leader elections", _config("unclean.leader.election.enable=false")
    if int(settings.get("max.message.bytes", _MESSAGE_BYTES)) < _LEAST_MESSAGE_BYTES:
        return f"its max.message.bytes is below {_LEAST_MESSAGE_BYTES}", _config(f"max.message.bytes={_MESSAGE_BYTES}")
    return None


def _racks(connection: KafkaConnection) -> dict[int, str | None]:
    """Return the live brokers with their racks."""
    brokers = read_metadata(connection, ()).brokers.values()
    return {each.broker_id: each.rack for each in brokers if each.alive}


def _named(name: str, copies: int) -> str:
    return f"topic {name} with replication factor {copies}"


def _config(setting: str) -> str:
    return f"kafka-configs.sh {{options}} --alter --entity-type topics --entity-name {{name}} --add-config {setting}"


def _least_in_sync(copies: int) -> int:
    return 2 if copies >= REPLICAS else 1


def _led(found: TopicMetadata) -> bool:
    return all(each.leader >= 0 for each in found.partitions.values())
