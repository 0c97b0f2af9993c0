"""Shapes of the answers of `inspect` that are read from znodes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.tables import Unavailable, UnreadableZnodes
from kadmin.insight.diagnosis.zookeeper.admin_nodes import EntryRow
from kadmin.insight.tables.zookeeper.old_consumers import ConsumerRow
from kadmin.insight.tables.zookeeper.znodes import (
    AclRow,
    ControllerRow,
    NotificationRow,
    ProducerIdsRow,
    TreeRow,
    ZnodeRow,
)
from kadmin.schema.shapes import ABSENT


@dataclass(frozen=True, slots=True)
class ControllersAnswer:
    """The controllers of a cluster in ZooKeeper mode."""

    controller: Annotated[
        tuple[ControllerRow, ...],
        "One object per controller epoch that partition states still name, newest first; read from ZooKeeper.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class OldConsumersAnswer:
    """The znodes of old consumers."""

    consumers: Annotated[tuple[ConsumerRow, ...], "One object per znode of an old consumer."]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class AdminEntriesAnswer:
    """The entries of the admin nodes."""

    admin_entries: Annotated[tuple[EntryRow, ...], "One object per entry, and one per node with flaws of its own."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class NotificationsAnswer:
    """Notifications of changes."""

    notifications: Annotated[tuple[NotificationRow, ...], "One object per notification that is still in ZooKeeper."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class ProducerIdsAnswer:
    """The last block of producer ids."""

    producer_ids: Annotated[tuple[ProducerIdsRow, ...], "One object; none before Kafka 0.11."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class AclsAnswer:
    """Kafka's ACLs."""

    acls: Annotated[tuple[AclRow, ...], "One object per ACL."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class TreeAnswer:
    """A tree of znodes."""

    tree: Annotated[tuple[TreeRow, ...], "One object per znode, parents first."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class ZnodeAnswer:
    """A znode."""

    znode: Annotated[tuple[ZnodeRow, ...], "One object; none where ZooKeeper denied the read."]
    unreadable: UnreadableZnodes
