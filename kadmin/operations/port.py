"""Protocols between the executor and a cluster.

They are `Backend`, `LiveBrokers`, `Lock` and `Values`, for every world. `Backend` reads the cluster
and asks its controller for changes; where the controller answers no request, it has a
`MetadataStore`. `LiveBrokers` asks brokers over their own protocol. `Values` keep lock, fence,
records, steps and requests for the `OperationStore`. A world implements `Backend` and `Values`
together: `publish` and `take_back` also write the step of their request, because ZooKeeper writes
step and request in one transaction, and the brokers' API needs the step on record first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.capabilities import Capabilities
    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.groups import Groups
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import ClusterState, Listening, TopicPartition
    from kadmin.cluster.offsets import GroupOffsets, LogEnd, LogOffsets
    from kadmin.cluster.servers import Servers
    from kadmin.errors import KadminError, NotAuthorizedError
    from kadmin.operations.decide.actions import Publish, TakeBack
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.holder import Holder, Lease
    from kadmin.operations.record.steps import CancelStep, Channel, Step
    from kadmin.plan.throttle import ConfigEdits, ConfigValues

    EditConfigs: TypeAlias = Callable[[ConfigValues], ConfigEdits]


class PublishOutcome(StrEnum):
    """The outcome of a publish."""

    PUBLISHED = "published"
    """Step and request were written."""
    CHANGED = "changed"
    """A topic, a broker or the controller is not as observed; nothing was written."""
    LOST_LOCK = "lost lock"
    """The lock is no longer ours; nothing was written."""
    OCCUPIED = "occupied"
    """Another request is pending where ours would go; nothing was written."""
    UNANSWERED = "unanswered"
    """The step is on record, and the request may have left; the cluster shows what becomes of
    it."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """The outcome of a publish that has to wait, with the reason; nothing was written."""

    reason: str


PublishResult: TypeAlias = PublishOutcome | Postponed


class ConfigsOutcome(StrEnum):
    """The outcome of a change of configs."""

    WRITTEN = "written"
    """Every value was seen as wanted."""
    UNANSWERED = "unanswered"
    """Every value was seen as wanted, and a request that got no answer may be applied later."""
    CUT_SHORT = "cut short"
    """A signal or the command's end came before the last value was written."""


class Backend(Protocol):
    """Reads a cluster and asks its controller for changes. Every call has a deadline.

    Reads raise UnreachableError where the cluster does not answer. Writes with an unknown outcome
    raise UnknownOutcomeError.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this way to the cluster."""
        ...

    @property
    def metadata_store(self) -> MetadataStore | None:
        """The store into which requests are written.

        None where the controller receives and answers them.
        """
        ...

    def check(self) -> None:
        """Raise UnreachableError unless a cluster of this kind answers.

        Later readings are as new as the call.
        """
        ...

    def read(
        self,
        topics: Iterable[str] | None = None,
        *,
        with_configs: bool = False,
        settle: bool = False,
    ) -> ClusterState:
        """Read all topics, or those named.

        With `settle`, topics that change meanwhile are read again.
        """
        ...

    def brokers(self, state: ClusterState) -> LiveBrokers:
        """Return a client of the live brokers of `state`.

        It has no address where no listener serves the client.
        """
        ...

    def channel_name(self, channel: Channel) -> str:
        """Return the channel's name in messages."""
        ...

    def publish(
        self, step: Step, action: Publish, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Write the step and the request of `action`, provided that the cluster is as `seen`."""
        ...

    def take_back(
        self, step: CancelStep, action: TakeBack, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Return moves in flight to their original replicas."""
        ...

    def read_configs(self, entities: Iterable[ConfigEntity]) -> ConfigValues:
        """Return the dynamic configs of entities.

        A broker whose configs cannot be read now is left out.
        """
        ...

    def configured_entities(self) -> Mapping[ConfigEntity, bool]:
        """Return every topic and broker that may have configs, and whether it exists.

        A broker exists while alive.
        """
        ...

    def change_configs(
        self,
        entities: Iterable[ConfigEntity],
        edit: EditConfigs,
        lease: Lease,
        step: Step | None = None,
    ) -> ConfigsOutcome:
        """Apply the edits that `edit` derives from the values found.

        An edit to None deletes the key. Entities whose configs cannot be read now are left out.
        Where a request may be applied late, `step` is on record as unanswered until every answer is
        there. Raises LostLockError.
        """
        ...

    def overwrite_configs(
        self, values: ConfigEdits, lease: Lease, step: Step | None = None
    ) -> Mapping[ConfigEntity, str]:
        """Write configs of entities that cannot be read now; None deletes the key.

        Returns the reasons by entity, for those not written. `step` as in `change_configs`. Raises
        LostLockError.
        """
        ...

    def unregister(self, broker_id: int, lease: Lease) -> None:
        """Unregister a broker; returns once it is seen to be unregistered.

        Whether it is dead and in no list is for the caller to know. Raises NotCompletedError for a
        refusal, UnknownOutcomeError where the answer is missing or the broker is still listed: the
        request may then be applied late.
        """
        ...


class MetadataStore(Protocol):
    """A store of the cluster's metadata beside the controller.

    A request that is written there gets no answer. Its questions find, before a request is written,
    the reasons for which it would not be executed.
    """

    def listening(self, channel: Channel, state: ClusterState) -> Listening:
        """Ask whether the controller of `state` would see a request on the channel."""
        ...

    def denied(
        self, work: OperationSpec, throttled: Collection[ConfigEntity]
    ) -> KadminError | None:
        """Return the error for missing rights of the work, None if none is known to be missing.

        Writes nothing. `throttled` are the entities whose configs the work changes.
        """
        ...

    def config_backlog(self) -> KadminError | None:
        """Return the reason not to change configs now, None where they may be changed."""
        ...

    def groups_of_topics(self, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return, by topic, the consumer groups that keep their offsets in the store."""
        ...


class LiveBrokers(Protocol):
    """Asks live brokers over their own protocol, several at once.

    The answers of the others count if one fails. Nothing is asked before a method is called. Each
    raises UnreachableError where none of the addresses answers and NotCompletedError where there is
    none. `replica_sizes`, `log_offsets` and `epoch_ends` leave their connections open until
    `close`; several threads may call them.
    """

    @property
    def servers(self) -> Servers:
        """The addresses of the brokers, and the client's security settings."""
        ...

    def log_dirs(self, brokers: Iterable[int], *, bootstrap_s: float | None = None) -> LogDirs:
        """Return replica sizes and disk space (DescribeLogDirs, 1.1 and later).

        Raises where no broker gives sizes.
        """
        ...

    def replica_sizes(
        self, wanted: Mapping[int, Collection[TopicPartition]], timeout_s: float
    ) -> LogDirs:
        """Return the sizes of some partitions' replicas on brokers; raises as `log_dirs` does."""
        ...

    def settings(
        self, brokers: Iterable[int], names: Sequence[str]
    ) -> FromBrokers[Mapping[str, str]]:
        """Return the effective settings of brokers, defaults included.

        One that a broker lacks is left out.
        """
        ...

    def groups(self, brokers: Iterable[int]) -> Groups:
        """Return the groups that brokers coordinate, with their offsets and members."""
        ...

    def group_offsets(self, brokers: Iterable[int]) -> FromBrokers[GroupOffsets]:
        """Return the offsets that the groups which brokers coordinate have committed."""
        ...

    def serve_elections(self) -> bool:
        """Whether brokers serve requests for unclean elections (2.4 and later)."""
        ...

    def internal_topics(self, topics: Iterable[str]) -> Mapping[str, bool | None]:
        """Return whether topics are flagged as internal; None where they may not be described."""
        ...

    def hidden_topics(self, topics: Collection[str]) -> tuple[str, ...]:
        """Return the existing topics, of those named, that this client may not describe."""
        ...

    def log_offsets(
        self, led: Mapping[int, Iterable[TopicPartition]], at: LogEnd, timeout_s: float
    ) -> FromBrokers[LogOffsets]:
        """Return the offsets at one end of partitions' logs, from their leaders.

        Any living replica tells LogEnd.WRITTEN of its own log, also without a leader.
        """
        ...

    def epoch_ends(
        self, epochs: Mapping[int, Mapping[TopicPartition, int]], timeout_s: float
    ) -> FromBrokers[LogOffsets]:
        """Return end offsets of leader epochs in partitions' logs, from their leaders (KIP-320)."""
        ...

    def refused_credentials(self) -> NotAuthorizedError | None:
        """Return the error where brokers refuse the client's credentials, else None.

        Other errors are not raised.
        """
        ...

    def close(self) -> None:
        """Close the connections that are open."""
        ...


class Lock(Protocol):
    """The lock of one cluster: one runner at a time."""

    @property
    def session_timeout_s(self) -> float:
        """Seconds after which the lock of a dead holder expires."""
        ...

    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free."""
        ...

    def to_create(self) -> str:
        """Describe the topic that `take` would create for lock and record.

        '' where it would create none. Raises NotCompletedError where the storage would lose the
        records.
        """
        ...

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's.

        Raises BusyError naming the holder. A topic that it creates for lock and record is on none
        of the brokers to `avoid` where others are enough.
        """
        ...

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Take a lock again that expired with our session.

        Raises LostLockError where it was taken from us.
        """
        ...

    def release(self, lease: Lease) -> None:
        """Release the lock; a lock that is no longer ours is not touched."""
        ...

    def release_by_hand(self, operation_id: str) -> Holder:
        """Take the lock from its holder, whose next write then fails, and return the holder."""
        ...

    def sync(self) -> None:
        """Raise UnreachableError unless values can be read; later readings are up to date.

        `Backend.check` checks the cluster itself.
        """
        ...


class Values(Lock, Protocol):
    """A storage of values by key (kadmin/operations/record/keys.py).

    It also has the lock that `put` needs.
    """

    def get(self, key: str) -> bytes | None:
        """Return a value, None where there is none."""
        ...

    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, oldest first, as of one time."""
        ...

    def put(self, values: Sequence[tuple[str, bytes | None]], lease: Lease) -> None:
        """Write values in this order; None removes a value.

        A failure leaves a first part of the values written. Raises LostLockError unless the lease
        holds the lock, also for an empty sequence.
        """
        ...

    def leave(self, key: str, value: bytes) -> None:
        """Write a value without the lock."""
        ...

    def locate(self, key: str) -> str:
        """Return the location of a value for messages."""
        ...
