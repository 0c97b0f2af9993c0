"""Rows of `inspect` that are read from znodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from kadmin.schema.shapes import Count, Keywords


class ConsumerCondition(StrEnum):
    """An inconsistency in the znodes of a group."""

    ORPHANED = "orphaned"
    """The owner is a thread of a consumer that is not alive."""
    DUPLICATE = "duplicate"
    """A partition has two owners, one in each layout of the znode names."""
    IDLE_THREADS = "idle-threads"
    """A member has threads that own no partition."""


@dataclass(frozen=True, slots=True)
class ConsumerRow:
    """A znode of an old consumer."""

    group: Annotated[str, "Name of the group."]
    kind: Annotated[Literal["member", "owner", "offset"], "Kind of the znode."]
    name: Annotated[str, "Name of the znode: the consumer id or the partition."]
    topic: Annotated[str | None, "Topic of an owner or offset."] = None
    partition: Annotated[int | None, "Partition of an owner or offset."] = None
    value: Annotated[
        str | None,
        "Subscription with threads, owning thread, or committed offset; null when it cannot be "
        "read.",
    ] = None
    host: Annotated[
        str | None, "Host of a member, taken from its id; null where the id was configured."
    ] = None
    started: Annotated[str | None, "When a member started, taken from its id (UTC)."] = None
    uuid: Annotated[
        str | None,
        "The eight random hex digits of a member's id; null where the id was configured.",
    ] = None
    idle_threads: Annotated[tuple[Count, ...], "Threads of a member that own no partition."] = ()
    condition: Annotated[
        tuple[ConsumerCondition, ...],
        "Inconsistencies: an owner that is not alive, a second owner, threads that own no "
        "partition.",
    ] = ()


@dataclass(frozen=True, slots=True)
class ControllerRow:
    """A controller epoch."""

    epoch: Annotated[Count, "Controller epoch."]
    current: Annotated[bool, "Whether it is the current controller."]
    broker_id: Annotated[int | None, "Broker id; null for earlier controllers."]
    session_id: Annotated[
        str | None, "ZooKeeper session of the controller, as 0x...; null for earlier ones."
    ]
    kraft_epoch: Annotated[int | None, "kraftControllerEpoch, 3.4 and later; -1 in ZooKeeper mode."]
    elected: Annotated[
        str | None,
        "When the controller was elected, by ZooKeeper's clock (UTC); null for earlier ones.",
    ]
    partition_states: Annotated[Count, "Partition states last written under this epoch."]
    first_write: Annotated[str | None, "When the oldest of these states was written (UTC)."]
    last_write: Annotated[str | None, "When the newest of these states was written (UTC)."]


@dataclass(frozen=True, slots=True)
class NotificationRow:
    """A notification that is still in ZooKeeper."""

    path: Annotated[str, "Znode."]
    kind: Annotated[
        str,
        Keywords(enum=["config", "isr", "log-dir-of-broker", "acl"]),
        "What changed: a config, in-sync replicas, a log directory (the subject is its broker), "
        "ACLs.",
    ]
    subject: Annotated[str, "The decoded notification as JSON, or why it cannot be read."]
    since: Annotated[str | None, "When the notification was written, by ZooKeeper's clock (UTC)."]


@dataclass(frozen=True, slots=True)
class ProducerIdsRow:
    """The last block of producer ids."""

    broker_id: Annotated[int, "Broker that took the block."]
    first_id: Annotated[int, "First id of the block."]
    last_id: Annotated[int, "Last id of the block."]
    ids_left: Annotated[int, "Ids left after the block."]
    blocks_handed_out: Annotated[int, "Version of the znode."]


@dataclass(frozen=True, slots=True)
class AclRow:
    """An ACL of Kafka."""

    resource_type: Annotated[str, "Resource type, as Topic."]
    name: Annotated[str, "Name or prefix of the resource."]
    pattern: Annotated[str, "Pattern type: literal or prefixed."]
    principal: Annotated[str, "Principal."]
    permission: Annotated[str, "Permission: Allow or Deny."]
    operation: Annotated[str, "Operation."]
    host: Annotated[str, "Host."]


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A znode of a tree."""

    path: Annotated[str, "Znode."]
    size_bytes: Annotated[Count, "Size of its data."]
    children: Annotated[int | None, "Number of children; null where ZooKeeper denied the list."]
    version: Annotated[int, "Version."]
    ephemeral: Annotated[bool, "Whether the znode is ephemeral."]
    condition: Annotated[
        str | None,
        "decoded, or why the data cannot be decoded; null where no codec knows the path.",
    ]


@dataclass(frozen=True, slots=True)
class ZnodeRow:
    """A znode with metadata, data and decoded value."""

    path: Annotated[str, "Znode."]
    version: Annotated[int, "Version."]
    cversion: Annotated[int, "Version of its children."]
    czxid: Annotated[int, "Transaction that created it."]
    mzxid: Annotated[int, "Transaction that changed it last."]
    created: Annotated[str | None, "When the znode was created, by ZooKeeper's clock (UTC)."]
    modified: Annotated[str | None, "When the data was written last (UTC)."]
    ephemeral_owner: Annotated[
        str | None, "Session of an ephemeral znode, as 0x...; null for others."
    ]
    acl: Annotated[tuple[str, ...], "One ACL entry, as world:anyone=read+write."]
    children: Annotated[Count, "Number of children."]
    size_bytes: Annotated[Count, "Size of its data."]
    data: Annotated[
        str | None,
        "Data, with control characters escaped; (hidden) where the znode may hold credentials; "
        "null where ZooKeeper holds null.",
    ]
    decoded: Annotated[
        str | None,
        "The decoded data as JSON text; null where it cannot be decoded or no codec knows the "
        "path.",
    ]
    problem: Annotated[
        str | None, "Why the data cannot be decoded; null where it can, or no codec knows the path."
    ]


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry of an admin node, or a node with flaws of its own."""

    node: Annotated[str, "Znode."]
    topic: Annotated[
        str | None, "Topic; null where it cannot be read, and for flaws of the node itself."
    ]
    partition: Annotated[int | None, "Partition; null where the topic is, and for a deletion."]
    replicas: Annotated[tuple[int, ...] | None, "Target of a reassignment, in order."]
    motion: Annotated[str | None, "How far the reassignment is, judged by the topic znode."]
    flaws: Annotated[tuple[str, ...], "Codes of the flaws, as in answers/inspect-admin."]
