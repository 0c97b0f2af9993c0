"""Evidence that `doctor` read through the brokers of a cluster in KRaft mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.log_dirs import LogDirs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState, Grant, OwnRights, Replicas, TopicPartition
    from kadmin.cluster.services import Service
    from kadmin.insight.diagnosis.disks import EarlierDisks
    from kadmin.insight.diagnosis.operations import LateRequest, LockHeld, OpenOperation
    from kadmin.next_step import NextStep
    from kadmin.operations.record.cordon import CordonRecord

STAYS_S = 5.0
"""Seconds between two looks: longer than the passing troubles of a server's start or a controller
election."""


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """The cluster at one moment.

    `controllers_silent` is the error of controllers that did not answer, empty where they did. With
    an error the moves in flight, and the quorum, are unknown.
    """

    state: ClusterState
    controllers_silent: str = ""


@dataclass(frozen=True, slots=True)
class RecordTopic:
    """The topic of records: `problem` is a setting that could lose records, `next_step` repairs it.

    `lost` names records that the topic lacks now; `next_step` then continues without them.
    `grants` are its ACLs, None where brokers check none or do not report them; `open_by_default`:
    brokers have a setting that opens every topic without ACLs, with a value that they do not
    report.
    """

    name: str
    problem: str = ""
    lost: str = ""
    next_step: NextStep | str | None = None
    grants: tuple[Grant, ...] | None = None
    open_by_default: bool = False


@dataclass(frozen=True, slots=True)
class UnansweredRequest:
    """A request of an operation that got no answer, with its targets.

    A topic created again has another id.
    """

    operation_id: str
    finished: bool
    sent_at: str
    targets: Mapping[TopicPartition, Replicas | None]
    topic_ids: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class BlockedUpgrade:
    """A dead broker whose registration blocks a level of metadata.version, and Kafka's reason."""

    broker_id: int
    level: int
    reason: str


@dataclass(frozen=True, slots=True)
class StrayFolders:
    """A topic that an operation deleted.

    It also has the brokers with replicas of it that were not alive when it began.
    """

    topic: str
    brokers: tuple[int, ...]
    operation_id: str


@dataclass(frozen=True, slots=True)
class KafkaEvidence:
    """The whole input of `diagnose`.

    Findings on the state of servers and partitions must show in every look. `tool_options` lead
    Kafka's own tools to the brokers; `principal` is the one that rights are granted to. `service`
    is the managed service of the brokers. `records_elsewhere` is the missing check where operations
    on record could not be read, else empty. Without them no move in flight is called foreign, and
    no throttle left over. `operations` are those unfinished, `past` those finished that asked for a
    move which is in flight; `asked` has the latest operation that sent each such target.
    `unanswered` are requests of the last hour, `late` those of finished operations whose target is
    reached although the record says otherwise. `throttles` holds throttle settings by entity.
    `hidden_topics` are on disks and may not be described; `disks_known`: every live broker listed
    its replicas, so that it is known which are. `held` are bytes by broker that listed all its
    replicas, and by partition; none where it is not known whether topics are hidden.
    `empty_brokers` listed none. `disks` are those of the brokers that answered, `earlier_disks`
    those of a snapshot. `unused_copies` are bytes by broker and partition. `rights` are None where
    they were not read, or are not reported. `stray` holds topics that operations on record deleted
    while a broker was away. `cordons` are the values of cordoned.log.dirs in force, by live broker,
    `recorded_cordons` those on record. `unavailable` has a sentence for each failed reading.
    """

    looks: tuple[ClusterLook, ...]
    tool_options: str = "--bootstrap-server BROKERS"
    principal: str = "User:NAME"
    service: Service | None = None
    lock: LockHeld | None = None
    records_elsewhere: str = ""
    operations: tuple[OpenOperation, ...] = ()
    past: tuple[OpenOperation, ...] = ()
    asked: Mapping[TopicPartition, str] = field(default_factory=dict)
    unanswered: tuple[UnansweredRequest, ...] = ()
    late: tuple[LateRequest, ...] = ()
    throttles: Mapping[ConfigEntity, tuple[str, ...]] = field(default_factory=dict)
    record_topic: RecordTopic | None = None
    hidden_topics: tuple[str, ...] = ()
    disks_known: bool = False
    held: Mapping[int, Mapping[TopicPartition, int]] = field(default_factory=dict)
    empty_brokers: frozenset[int] = frozenset()
    disks: LogDirs = field(default_factory=lambda: LogDirs({}, {}))
    earlier_disks: EarlierDisks | None = None
    unused_copies: Mapping[int, Mapping[TopicPartition, int]] = field(default_factory=dict)
    rights: OwnRights | None = None
    stray: tuple[StrayFolders, ...] = ()
    cordons: Mapping[int, str] = field(default_factory=dict)
    recorded_cordons: Mapping[int, CordonRecord] = field(default_factory=dict)
    blocked_upgrade: BlockedUpgrade | None = None
    unavailable: tuple[str, ...] = ()

    @property
    def state(self) -> ClusterState:
        """The last state that was read."""
        return self.looks[-1].state

    @property
    def leaving(self) -> frozenset[int]:
        """The brokers that an unfinished operation takes out of the cluster."""
        return frozenset[int]().union(*(each.leaving for each in self.operations))

    def has_no_replica(self, broker_id: int) -> bool:
        """Whether it is known that no list of replicas names a broker: a hidden topic may."""
        return (
            self.disks_known
            and not self.hidden_topics
            and not any(broker_id in replicas for replicas in self.state.assignment.values())
        )
