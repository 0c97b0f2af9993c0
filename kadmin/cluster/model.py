"""Frozen values of a cluster: what was read, never what is wished.

Ids are ints; lists of replicas are ordered (the first is the preferred leader); `version` is always the znode's
zkVersion, the number that a compare-and-set or a check names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

Replicas: TypeAlias = tuple[int, ...]

NO_LEADER = -1


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of one topic; sorts by topic, then by number, and prints as Kafka prints it: `orders-0`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


Assignment: TypeAlias = Mapping[TopicPartition, Replicas]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener of a broker: `PLAINTEXT://127.0.0.1:9092` with the security protocol that its map gives."""

    listener: str
    host: str
    port: int
    security_protocol: str


@dataclass(frozen=True, slots=True)
class Broker:
    """A live broker's registration, any of the versions 1 to 5. `epoch` is the znode's czxid, made at `since_ms`."""

    broker_id: int
    rack: str | None
    endpoints: tuple[Endpoint, ...]
    registration_version: int
    epoch: int = 0
    version: int = 0
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic znode, versions 1 to 3.

    `adding_replicas` and `removing_replicas` hold only partitions with something in them (2.4 and later).
    `topic_id` is the base64 uuid of 2.8 and later. `format_version` is the JSON's own `version`.
    """

    name: str
    replicas: Mapping[int, Replicas]
    adding_replicas: Mapping[int, Replicas] = field(default_factory=dict)
    removing_replicas: Mapping[int, Replicas] = field(default_factory=dict)
    topic_id: str | None = None
    format_version: int = 1
    version: int = 0

    def partitions(self) -> tuple[TopicPartition, ...]:
        """Every partition of the topic, by number."""
        return tuple(TopicPartition(self.name, number) for number in sorted(self.replicas))


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition's `state` znode, written at `written_ms`.

    `leader` is NO_LEADER (-1) where there is none; the ISR keeps its last member.
    """

    leader: int
    isr: Replicas
    leader_epoch: int
    controller_epoch: int
    version: int = 0
    written_ms: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Controller:
    """The `/controller` znode, made at `since_ms`: who makes it is elected.

    `session_id` is its ephemeralOwner; `kraft_epoch` is -1 or None in ZooKeeper mode.
    """

    broker_id: int
    session_id: int
    kraft_epoch: int | None = None
    version: int = 0
    since_ms: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class AdminNode:
    """An admin znode as found: its bytes, its version, and its entries where they decode (else None)."""

    data: bytes | None
    version: int
    entries: Assignment | None


@dataclass(frozen=True, slots=True)
class AdminState:
    """The three admin znodes: absent is None (reassignment, election) or an empty tuple (deletions).

    An election's entries map each partition to an empty tuple.
    """

    reassignment: AdminNode | None = None
    election: AdminNode | None = None
    deletions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A znode that is there and could not be used: not decoded, or (`denied`) not even allowed to be read."""

    path: str
    reason: str
    data: bytes | None = None
    version: int = -1
    denied: bool = False


@dataclass(frozen=True)
class ClusterState:
    """What one reading of the cluster found, for all topics or for those that were asked for.

    A topic that was asked for and does not exist is not in `topics`. A partition without a state znode is not in
    `states`. `topic_configs` and `broker_defaults` (the dynamic cluster-wide default) are empty unless they were asked
    for. `unsettled` names topics whose znodes kept changing while they were read; `unreadable` holds what a tolerant
    reading had to leave out.
    """

    cluster_id: str | None
    controller: Controller | None
    controller_epoch: int
    controller_epoch_version: int
    brokers: Mapping[int, Broker]
    topics: Mapping[str, Topic]
    states: Mapping[TopicPartition, PartitionState]
    admin: AdminState
    topic_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    broker_defaults: Mapping[str, str] = field(default_factory=dict)
    unsettled: frozenset[str] = frozenset()
    unreadable: tuple[Unreadable, ...] = ()

    def replicas(self, partition: TopicPartition) -> Replicas | None:
        """Return the ordered replicas of a partition, or None where topic or partition do not exist."""
        topic = self.topics.get(partition.topic)
        return None if topic is None else topic.replicas.get(partition.partition)

    @cached_property
    def assignment(self) -> Assignment:
        """The ordered replicas of every partition that was read."""
        return {
            partition: topic.replicas[partition.partition]
            for topic in self.topics.values()
            for partition in topic.partitions()
        }


@dataclass(frozen=True, slots=True)
class Znode:
    """Bytes and facts of one znode as read. `data` is None where ZooKeeper holds null. Session id 0: not ephemeral.

    `created_ms` and `modified_ms` are by the servers' clocks; 0 where nobody told.
    """

    path: str
    data: bytes | None
    version: int
    cversion: int = 0
    czxid: int = 0
    mzxid: int = 0
    ephemeral_owner: int = 0
    created_ms: int = 0
    modified_ms: int = 0


@dataclass(frozen=True, slots=True)
class EntityConfig:
    """The dynamic configs of a topic or broker, and the znode that holds them; without one, there are none."""

    znode: Znode | None
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Acl:
    """One access control entry: permission bits and `scheme:credential`, as ZooKeeper keeps them."""

    permissions: int
    scheme: str
    credential: str


@dataclass(frozen=True, slots=True)
class Create:
    """Create a znode; `acl` None means open to the world (chroot-relative paths throughout)."""

    path: str
    data: bytes | None = None
    acl: tuple[Acl, ...] | None = None
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """The znode exists and, unless `version` is -1, has that version."""

    path: str
    version: int = -1


@dataclass(frozen=True, slots=True)
class SetData:
    """Overwrite a znode at `version` (-1: any)."""

    path: str
    data: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a znode at `version` (-1: any)."""

    path: str
    version: int


Op: TypeAlias = Create | Check | SetData | Delete


@dataclass(frozen=True, slots=True)
class MultiResult:
    """The fate of one ZooKeeper multi, which is all or nothing.

    `committed`: every op applied. Otherwise `failed` is the op that ZooKeeper refused and `reason` its error name:
    `NodeExists`, `NoNode`, `BadVersion`, `NotEmpty`, `NoAuth` or another of ZooKeeper's names.
    """

    committed: bool
    failed: Op | None = None
    reason: str | None = None
