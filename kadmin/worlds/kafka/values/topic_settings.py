"""Creates the topic of lock and record, and checks the settings that protect its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.operations.decide.record_topic import REPLICAS, choose_brokers, replication_factor
from kadmin.waiting import poll
from kadmin.worlds.kafka.wire.configs import read_topic_settings
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.topics import create_compacted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import TopicMetadata

CONTROL = 0
"""The partition of everything but the bodies; every reader reads it whole."""
BODIES = 1
"""The partition of the records of operations, which are read by offset when they are wanted."""
BATCH_BYTES = 900_000
"""Bytes of keys and values in one batch of records; one larger than `max.message.bytes` is
refused."""

_MESSAGE_BYTES = 1_048_588
"""`max.message.bytes` of the topic: Kafka's default, whatever the brokers' is."""
_LEAST_MESSAGE_BYTES = 1_000_000
"""Bytes of a batch, with the overhead of its format."""
_PARTITIONS = 2
_CREATED_S = 30.0
_PAUSE_S = 0.1
SETTINGS = {
    "unclean.leader.election.enable": "false",
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(_MESSAGE_BYTES),
    # The lease is renewed every few seconds, and only closed segments are compacted.
    "segment.ms": "3600000",
    "min.cleanable.dirty.ratio": "0.1",
}


def topic_to_create(connection: KafkaConnection, name: str) -> str:
    """Return the topic's name for messages, with the replication factor it would get now."""
    return _named(name, replication_factor(_racks(connection)))


def create_topic(connection: KafkaConnection, name: str, avoid: Collection[int] = ()) -> str:
    """Create the topic and wait until it has leaders.

    Returns its name and replication factor, as messages have them. It is placed on none of the
    brokers to `avoid` where others are enough.
    """
    placed = choose_brokers(_racks(connection), avoid, _PARTITIONS)
    copies = len(placed[CONTROL])
    settings = {**SETTINGS, "min.insync.replicas": str(_least_in_sync(copies))}
    create_compacted(connection, name, placed, settings)
    for _ in poll(_CREATED_S, _PAUSE_S):
        found = read_metadata(connection, (name,)).topics.get(name)
        if found is not None and len(found.partitions) >= _PARTITIONS and _led(found):
            return _named(name, copies)
    raise UnreachableError(
        f"Topic {name} was created, and has no leaders.", next_step="repeat the command"
    )


def check_topic(connection: KafkaConnection, name: str, found: TopicMetadata) -> None:
    """Raise NotCompletedError where the topic could lose records or takes none.

    The error has the commands that mend it.
    """
    needed = {
        "cleanup.policy",
        "max.message.bytes",
        "min.insync.replicas",
        "unclean.leader.election.enable",
    }
    settings = _wrong_settings(found, read_topic_settings(connection, name, sorted(needed)))
    few = len(found.partitions) < _PARTITIONS
    wrong = [*([f"it has fewer than {_PARTITIONS} partitions"] if few else []), *settings.values()]
    if not wrong:
        return
    options, commands = connection.servers.options, []
    if few:
        commands.append(
            f"kafka-topics.sh {options} --alter --topic {name} --partitions {_PARTITIONS}"
        )
    if settings:
        entity = f"--entity-type topics --entity-name {name}"
        commands.append(
            f"kafka-configs.sh {options} --alter {entity} --add-config {','.join(settings)}"
        )
    raise NotCompletedError(
        f"Topic {name} keeps kadmin's lock and record, and {'; '.join(wrong)}.",
        next_step="; then ".join(commands),
    )


def _wrong_settings(found: TopicMetadata, settings: Mapping[str, str]) -> dict[str, str]:
    """Return each setting to make, as `key=value`, and the problem without it."""
    copies = min((len(each.replicas) for each in found.partitions.values()), default=0)
    least, in_sync = _least_in_sync(copies), int(settings.get("min.insync.replicas", "1"))
    wrong = {}
    if settings.get("cleanup.policy") != "compact":
        wrong["cleanup.policy=compact"] = f"its cleanup.policy is {settings.get('cleanup.policy')}"
    if in_sync < least:
        wrong[f"min.insync.replicas={least}"] = f"its min.insync.replicas is below {least}"
    elif in_sync > copies:
        wrong[f"min.insync.replicas={least}"] = (
            f"its min.insync.replicas is {in_sync}, above the replication factor"
        )
    if settings.get("unclean.leader.election.enable") != "false":
        wrong["unclean.leader.election.enable=false"] = "it allows unclean leader elections"
    if int(settings.get("max.message.bytes", _MESSAGE_BYTES)) < _LEAST_MESSAGE_BYTES:
        wrong[f"max.message.bytes={_MESSAGE_BYTES}"] = (
            f"its max.message.bytes is below {_LEAST_MESSAGE_BYTES}"
        )
    return wrong


def _racks(connection: KafkaConnection) -> dict[int, str | None]:
    """Return the live brokers with their racks."""
    brokers = read_metadata(connection, ()).brokers.values()
    return {each.broker_id: each.rack for each in brokers if each.alive}


def _named(name: str, copies: int) -> str:
    return f"topic {name} with replication factor {copies}"


def _least_in_sync(copies: int) -> int:
    return 2 if copies >= REPLICAS else 1


def _led(found: TopicMetadata) -> bool:
    return all(each.leader >= 0 for each in found.partitions.values())
