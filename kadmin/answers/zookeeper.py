"""Shapes of the answers of `inspect` that are read from znodes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.answers.doctor import VersionRange
from kadmin.answers.unreadable import Unavailable, UnreadableZnodes
from kadmin.cluster.model import Listening
from kadmin.insight.diagnosis.finding import Flaw
from kadmin.insight.tables.admin_nodes import Effect, Motion
from kadmin.insight.tables.zookeeper import (
    AclRow,
    ConsumerRow,
    ControllerRow,
    EntryRow,
    NotificationRow,
    ProducerIdsRow,
    TreeRow,
    ZnodeRow,
)
from kadmin.schema.shapes import ABSENT, Count, Keywords


@dataclass(frozen=True, slots=True)
class ControllersAnswer:
    """The controllers of a cluster in ZooKeeper mode."""

    controller: Annotated[
        tuple[ControllerRow, ...],
        "One object per controller epoch that partition states still name, newest first; read "
        "from ZooKeeper.",
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

    admin_entries: Annotated[
        tuple[EntryRow, ...], "One object per entry, and one per node with flaws of its own."
    ]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class NotificationsAnswer:
    """Notifications of changes."""

    notifications: Annotated[
        tuple[NotificationRow, ...], "One object per notification that is still in ZooKeeper."
    ]
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


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """The admin nodes of a cluster."""

    kafka_versions: Annotated[
        VersionRange, "Versions of Kafka that the cluster may run, inferred from its znodes."
    ]
    reassignment: Annotated[AdminNode | None, "/admin/reassign_partitions; null when absent."]
    election: Annotated[AdminNode | None, "/admin/preferred_replica_election; null when absent."]
    listening: Annotated[
        WatchedNodes,
        "Whether the controller watches each node, by the four-letter words of every server; "
        "unknown where they are disabled or there is no controller.",
    ]
    deletions: Annotated[DeletionNode, "/admin/delete_topics."]
    not_allowed: Annotated[tuple[str, ...], "Znodes that ZooKeeper does not allow kadmin to read."]


@dataclass(frozen=True, slots=True)
class NodeFlaw:
    """A flaw of an admin node or of an entry."""

    flaw: Annotated[str, Keywords(enum=[*Flaw]), "Code of the flaw."]
    message: Annotated[str, "The flaw in a sentence."]


Flaws: TypeAlias = Annotated[tuple[NodeFlaw, ...], "The flaws."]


@dataclass(frozen=True, slots=True)
class AdminNode:
    """A reassignment or election node."""

    path: Annotated[str, "The znode."]
    version: Annotated[Count, "Version of the znode."]
    size_bytes: Annotated[Count, "Size of its data."]
    data: Annotated[
        str,
        "Data, with control characters escaped, truncated where long; null where ZooKeeper holds "
        "null.",
    ]
    effect: Annotated[
        str,
        Keywords(
            enum=[each.name.lower() for each in (Effect.OBEYED, Effect.IGNORED, Effect.POISON)]
        ),
        "The worst effect of the whole node on controllers of the cluster's versions.",
    ]
    flaws: Flaws
    entries: Annotated[tuple[NodeEntry, ...], "One object per entry, in the order of the node."]


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """An entry of an admin node."""

    topic: Annotated[
        str | None, "Topic, with control characters escaped; null where it cannot be read."
    ]
    partition: Annotated[int | None, "Partition as controllers read it; null where they cannot."]
    replicas: Annotated[tuple[int, ...] | None, "Target replicas in order; null in an election."]
    motion: Annotated[Motion | None, "How far the reassignment is, judged by the topic znode."]
    flaws: Flaws


@dataclass(frozen=True, slots=True)
class WatchedNodes:
    """Whether the controller watches the admin nodes."""

    reassignment: Annotated[Listening, "/admin/reassign_partitions."]
    election: Annotated[Listening, "/admin/preferred_replica_election."]


@dataclass(frozen=True, slots=True)
class DeletionNode:
    """The node of deletions."""

    data: Annotated[str | None, "Data of the node itself, which no controller reads."]
    topics: Annotated[tuple[QueuedDeletion, ...], "Topics queued for deletion."]


@dataclass(frozen=True, slots=True)
class QueuedDeletion:
    """A topic that is queued for deletion."""

    topic: Annotated[str, "Topic, with control characters escaped."]
    flaws: Flaws
