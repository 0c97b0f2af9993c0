"""Frozen values of a cluster as read, from ZooKeeper or from brokers.

Lists of replicas are ordered (the first is the preferred leader). A `fingerprint` differs between
two reads where the value was written in between; it has no other meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

Replicas: TypeAlias = tuple[int, ...]

NO_LEADER = -1


class MigrationPhase(StrEnum):
    """The phase of a cluster's migration from ZooKeeper to KRaft mode (KIP-866)."""

    ZOOKEEPER = "zookeeper"
    """Brokers elect the controller among themselves."""
    CONTROLLERS = "controllers"
    """KRaft controllers run and wait until every broker is restarted with the settings of the
    migration."""
    DUAL_WRITE = "dual-write"
    """A KRaft controller has taken over and writes to both sides; brokers are in ZooKeeper mode, or
    some still are."""
    KRAFT_BROKERS = "kraft-brokers"
    """Every broker is in KRaft mode; controllers still write to ZooKeeper, and the way back is
    open."""
    FINALIZED = "finalized"
    """Controllers no longer write to ZooKeeper, which keeps their last writes."""

    @property
    def led_by_broker(self) -> bool:
        """Whether a broker is the controller, which serves the admin znodes."""
        return self in {MigrationPhase.ZOOKEEPER, MigrationPhase.CONTROLLERS}


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of one topic.

    Sorts by topic, then by number, and prints as Kafka prints it: `orders-0`.
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


Assignment: TypeAlias = Mapping[TopicPartition, Replicas]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener of a broker.

    `PLAINTEXT://127.0.0.1:9092` with the security protocol that its map gives.
    """

    listener: str
    host: str
    port: int
    security_protocol: str


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker, registered since `since_ms` (0: unknown).

    Its znode has a `registration_version`, 1 to 5.
    """

    broker_id: int
    rack: str | None
    endpoints: tuple[Endpoint, ...] = ()
    since_ms: int = 0
    registration_version: int | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of the metadata that could not be decoded, or (`denied`) not be read."""

    path: str
    reason: str
    data: bytes | None = None
    version: int = -1
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its assignment.

    `adding_replicas` and `removing_replicas` hold only partitions with something in them (2.4 and
    later). `topic_id` is the base64 uuid of 2.8 and later. `format_version` is the `version` in its
    znode, 1 to 3.
    """

    name: str
    replicas: Mapping[int, Replicas]
    adding_replicas: Mapping[int, Replicas] = field(default_factory=dict)
    removing_replicas: Mapping[int, Replicas] = field(default_factory=dict)
    topic_id: str | None = None
    fingerprint: int = 0
    format_version: int | None = None

    @property
    def brokers(self) -> frozenset[int]:
        """The brokers that hold a replica."""
        return frozenset().union(*self.replicas.values())

    def target(self, number: int) -> Replicas:
        """Return the replicas that a reassignment leads to (2.4 and later).

        The list without those to be removed.
        """
        removing = self.removing_replicas.get(number, ())
        return tuple(broker for broker in self.replicas[number] if broker not in removing)

    def is_moving(self, number: int) -> bool:
        """Whether a reassignment of the partition is in flight (2.4 and later)."""
        return number in self.adding_replicas or number in self.removing_replicas

    def partitions(self) -> tuple[TopicPartition, ...]:
        """Every partition of the topic, by number."""
        return tuple(TopicPartition(self.name, number) for number in sorted(self.replicas))


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leader and ISR of a partition.

    `leader` is NO_LEADER (-1) where there is none; the ISR keeps its last member. With eligible
    leader replicas (KIP-966, KRaft mode) the ISR may be empty: then one of `elr` may lead without a
    loss, and `last_known_elr` names the last leader. `offline_replicas` are on dead brokers or
    failed disks. These three are empty where they are not served or were not read. `isr_known` is
    false where an inventory has the leader alone; `isr` is that leader then.
    """

    leader: int
    isr: Replicas
    leader_epoch: int = 0
    fingerprint: int = 0
    elr: Replicas = ()
    last_known_elr: Replicas = ()
    offline_replicas: Replicas = ()
    isr_known: bool = True


@dataclass(frozen=True, slots=True)
class QuorumMember:
    """A server that follows the active controller.

    It has the seconds since it last fetched, and since it was last caught up.

    None: it has not fetched since that controller was elected.
    """

    server_id: int
    fetched_s_ago: float | None
    caught_up_s_ago: float | None


@dataclass(frozen=True, slots=True)
class Controller:
    """The active controller, elected at `since_ms` (0: unknown).

    In KRaft mode `voters` are the controllers, the active one among them, and `observers` the
    brokers.
    """

    broker_id: int
    since_ms: int = field(default=0, compare=False, kw_only=True)
    voters: tuple[QuorumMember, ...] = field(default=(), compare=False, kw_only=True)
    observers: tuple[QuorumMember, ...] = field(default=(), compare=False, kw_only=True)


class Listening(StrEnum):
    """Whether the controller would notice a request."""

    LISTENING = "listening"
    DEAF = "deaf"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that the controller has not finished: an admin znode in ZooKeeper.

    `entries` is None where it cannot be decoded; an election's entries map each partition to an
    empty tuple. `touched`: the controller has started it. `probe`: it is only kadmin's probe.
    `not_begun` are the entries of a reassignment that are not in flight, as far as their topics
    were read.
    """

    channel_name: str
    entries: Assignment | None
    touched: bool = False
    probe: bool = False
    not_begun: tuple[TopicPartition, ...] = ()
    fingerprint: int = 0


@dataclass(frozen=True, slots=True)
class Requests:
    """The pending requests: None or an empty tuple where there is none."""

    reassignment: PendingRequest | None = None
    election: PendingRequest | None = None
    deletions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """One ACL of a topic.

    `principal` as `User:name`, `operation` by Kafka's name (WRITE), or a denial of it.
    """

    principal: str
    operation: str
    allows: bool


@dataclass(frozen=True, slots=True)
class OwnRights:
    """The ACL operations (such as AlterConfigs) that the user of a connection may do.

    The topics are those that it may describe. `cluster` is None, and topics are left out, where
    brokers do not report them.
    """

    cluster: frozenset[str] | None
    topics: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class ClusterState:
    """A cluster as read, with all topics or those named.

    Topics that do not exist are not in `topics`, partitions without a state not in `states`.
    `brokers` are those alive, `fenced_brokers` those that are registered and not alive (None:
    unknown). `controller_epoch` counts elections of the controller (-1: unknown). `topic_configs`
    and `broker_defaults` (the dynamic cluster-wide default, and the values that a broker reports of
    its properties file) are empty unless they were read. `unsettled` names topics that kept
    changing while they were read. With `may_hide_topics`, topics that may not be described are left
    out. `details` is for the back-end that read the state.
    """

    cluster_id: str | None
    controller: Controller | None
    controller_epoch: int
    brokers: Mapping[int, Broker]
    topics: Mapping[str, Topic]
    states: Mapping[TopicPartition, PartitionState]
    requests: Requests = field(default_factory=Requests)
    topic_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    broker_defaults: Mapping[str, str] = field(default_factory=dict)
    unsettled: frozenset[str] = frozenset()
    details: object = None
    fenced_brokers: Mapping[int, Broker] | None = None
    may_hide_topics: bool = False

    def replicas(self, partition: TopicPartition) -> Replicas | None:
        """Return a partition's ordered replicas, or None where topic or partition do not exist."""
        topic = self.topics.get(partition.topic)
        return None if topic is None else topic.replicas.get(partition.partition)

    def has_leader(self, partition: TopicPartition) -> bool:
        """Whether a broker that is alive leads a partition.

        The state of a partition may name a dead one: controllers up to 1.1 leave it there that
        stopped with that broker.
        """
        found = self.states.get(partition)
        return found is not None and found.leader in self.brokers

    @cached_property
    def assignment(self) -> Assignment:
        """The ordered replicas of every partition that was read."""
        return {
            partition: topic.replicas[partition.partition]
            for topic in self.topics.values()
            for partition in topic.partitions()
        }
