"""Operations on record in each storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.operations.context import Clock
from kadmin.operations.store import OperationStore
from kadmin.worlds.kafka.values.folder import FolderValues
from kadmin.worlds.kafka.values.topic import LEASE_S, TopicValues
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.values.znodes import ZnodeValues

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.events import Event, EventSink
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.zookeeper.wire.store import Store


OPERATION = "20260101T000000Z-000001"
"""The id of an operation."""


def ignore(_: Event) -> None:
    """Receive an event."""


def in_znodes(store: Store, paths: Paths = Paths(), tell: EventSink = ignore) -> OperationStore:  # noqa: B008 - frozen
    """Operations on record in ZooKeeper."""
    return OperationStore(ZnodeValues(store, paths, Clock()), tell)


def in_folder(folder: Path, tell: EventSink = ignore) -> OperationStore:
    """Operations on record in a folder, of a cluster without a topic for them."""
    return OperationStore(FolderValues(folder, Clock(), None, tell), tell)


def in_topic(
    connection: KafkaConnection,
    tell: EventSink = ignore,
    lease_s: float = LEASE_S,
    name: str = RECORD_TOPIC,
) -> OperationStore:
    """Operations on record in a topic, without a copy on this machine."""
    return OperationStore(TopicValues(connection, Clock(), tell, lease_s, name), tell)
