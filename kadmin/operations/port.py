"""Protocols between the executor and a cluster: `Backend`, `LiveBrokers` and `OperationStore`, for every world.

`Backend` reads the cluster and asks its controller for changes. `LiveBrokers` asks brokers over their own protocol.
`OperationStore` keeps lock, fence, records, steps and requests. A world implements `Backend` and `OperationStore`
together: `publish` and `take_back` also write the step of their request, because ZooKeeper writes step and request in
one transaction, and the brokers' API needs the step on record first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.capabilities import Capabilities
    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.groups import Groups
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import ClusterState, Listening, TopicPartition
    from kadmin.cluster.offsets import LogEnd, LogOffsets
    from kadmin.cluster.servers import Servers
    from kadmin.errors import KadminError, NotAuthorizedError
    from kadmin.operations.decide.actions import OperationSpec, Publish, TakeBack
    from kadmin.operations.record.holder import Holder, Lease
    from kadmin.operations.record.record import (
        Channel,
        Listing,
        OperationRecord,
        OperationStatus,
        Step,
        StoredOperation,
    )
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.throttle import ConfigValues

    EditConfigs: TypeAlias = Callable[[ConfigValues], Mapping[str, Mapping[str, str | None]]]


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
    """The step is on record, and the request may have left; the cluster shows what becomes of it."""


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

    Reads raise UnreachableError where the cluster does not answer. Writes with an unknown outcome raise
    UnknownOutcomeError.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this way to the cluster."""
        ...

    def check(self) -> None:
        """Raise UnreachableError unless a cluster of this kind answers; later readings are as new as the call."""
        ...

    def read(
        self, topics: Iterable[str] | None = None, *, with_configs: bool = False, settle: bool = False
    ) -> ClusterState:
        """Read all topics, or those named; with `settle`, topics that change meanwhile are read again."""
        ...

    def brokers(self, state: ClusterState) -> LiveBrokers:
        """Return a client of the live brokers of `state`; it has no address where no listener serves the client."""
        ...

    def place(self, channel: Channel) -> str:
        """Return the channel's name in messages."""
        ...

    def listening(self, channel: Channel, state: ClusterState) -> Listening:
        """Ask whether the controller of `state` would see a request on the channel; nothing is written."""
        ...

    def publish(self, step: Step, action: Publish, seen: ClusterState, lease: Lease) -> PublishOutcome:
        """Write the step and the request that `action` describes, provided that the cluster is as `seen`."""
        ...

    def take_back(self, step: Step, action: TakeBack, seen: ClusterState, lease: Lease) -> PublishOutcome | str:
        """Return moves in flight to their original replicas, or return the reason to wait."""
        ...

    def denied(self, work: OperationSpec, throttled: Collection[str]) -> KadminError | None:
        """Return the error for missing rights of the work, None if none is known to be missing; writes nothing.

        `throttled` are the entities whose configs the work changes.
        """
        ...

    def refused_credentials(self, state: ClusterState) -> NotAuthorizedError | None:
        """Return the error where brokers refuse the client's credentials, in a world that does not go through brokers.

        Such a change would run without the facts from brokers: sizes, disk space and consumers. None otherwise.
        """
        ...

    def config_backlog(self) -> KadminError | None:
        """Return the reason not to change configs now, None where they may be changed."""
        ...

    def read_configs(self, entities: Iterable[str]) -> ConfigValues:
        """Return the dynamic configs of entities such as `topics/orders` or `brokers/1`.

        A broker whose configs cannot be read now is left out.
        """
        ...

    def configured_entities(self) -> Mapping[str, bool]:
        """Return every topic and broker that may have configs, and whether it exists; a broker exists while alive."""
        ...

    def change_configs(
        self, entities: Iterable[str], edit: EditConfigs, lease: Lease, step: Step | None = None
    ) -> ConfigsOutcome:
        """Apply the edits that `edit` derives from the values found; an edit to None deletes the key.

        Entities whose configs cannot be read now are left out. Where a request may be applied late, `step` is on record
        as unanswered until every answer is there. Raises LostLockError.
        """
        ...

    def overwrite_configs(
        self, values: Mapping[str, Mapping[str, str | None]], lease: Lease, step: Step | None = None
    ) -> Mapping[str, str]:
        """Write configs of entities that cannot be read now; None deletes the key.

        Returns the reasons by entity, for those not written. `step` as in `change_configs`. Raises LostLockError.
        """
        ...

    def metadata_groups(self, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return, by topic, the consumer groups that keep their offsets with the cluster's metadata."""
        ...


class LiveBrokers(Protocol):
    """Asks live brokers over their own protocol, several at once; the answers of the others count if one fails.

    Nothing is asked before a method is called. Each raises UnreachableError where none of the addresses answers and
    NotCompletedError where there is none. `replica_sizes` leaves its connections open until `close`.
    """

    @property
    def servers(self) -> Servers:
        """The addresses of the brokers, and the client's security settings."""
        ...

    def log_dirs(self, brokers: Iterable[int], *, bootstrap_s: float | None = None) -> LogDirs:
        """Return replica sizes and disk space (DescribeLogDirs, 1.1 and later); raises where no broker gives sizes."""
        ...

    def replica_sizes(self, wanted: Mapping[int, Collection[TopicPartition]], timeout_s: float) -> LogDirs:
        """Return the sizes of some partitions' replicas on brokers; raises as `log_dirs` does."""
        ...

    def settings(self, brokers: Iterable[int], names: Sequence[str]) -> FromBrokers[Mapping[str, str]]:
        """Return the effective settings of brokers, defaults included; one that a broker lacks is left out."""
        ...

    def groups(self, brokers: Iterable[int]) -> Groups:
        """Return the groups that brokers coordinate, with their offsets and members."""
        ...

    def internal_topics(self, topics: Iterable[str]) -> Mapping[str, bool | None]:
        """Return whether topics are flagged as internal; None where they may not be described."""
        ...

    def hidden_topics(self, topics: Collection[str]) -> tuple[str, ...]:
        """Return the topics that this client may not describe, of those named; absent ones are not among them."""
        ...

    def log_offsets(
        self, led: Mapping[int, Iterable[TopicPartition]], at: LogEnd, until: float
    ) -> FromBrokers[LogOffsets]:
        """Return the first or last offset of partitions, from their leaders; `until` is monotonic seconds."""
        ...

    def epoch_ends(self, epochs: Mapping[int, Mapping[TopicPartition, int]], until: float) -> FromBrokers[LogOffsets]:
        """Return the end offsets of leader epochs in the logs of partitions, from their leaders (KIP-320)."""
        ...

    def close(self) -> None:
        """Close the connections that are open."""
        ...


class OperationStore(Protocol):
    """Keeps the lock and the operations of one cluster.

    Writes need the lease of the lock's holder; `ask` and `ask_throttle` need none.
    """

    @property
    def session_timeout_s(self) -> float:
        """Seconds after which the lock of a dead holder expires."""
        ...

    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free."""
        ...

    def to_create(self) -> str:
        """Describe the topic that `take` would create for lock and record; '' where it would create none.

        Raises NotCompletedError where the store would lose the records.
        """
        ...

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's; raises BusyError naming the holder.

        A topic that it creates for lock and record is on none of the brokers to `avoid` where others are enough.
        """
        ...

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Take a lock again that expired with our session; raises LostLockError where it was taken from us."""
        ...

    def release(self, lease: Lease) -> None:
        """Give the lock back; a lock that is no longer ours is left alone."""
        ...

    def release_by_hand(self, operation_id: str) -> Holder:
        """Take the lock away from its holder, whose next write then fails; returns the holder."""
        ...

    def sync(self) -> None:
        """Raise UnreachableError unless operations can be read; what is read next is up to date.

        Whether the cluster can be read and changed is another question: see `Backend.check`.
        """
        ...

    def listings(self) -> tuple[Listing, ...]:
        """Return every operation, oldest first."""
        ...

    def unfinished(self) -> tuple[Listing, ...]:
        """Return the operations that are not finished."""
        ...

    def record(self, operation_id: str) -> OperationRecord:
        """Return the immutable part; raises NotCompletedError where it cannot be read."""
        ...

    def status(self, operation_id: str) -> OperationStatus:
        """Return the status of an operation; raises InvalidInputError where there is none with this id."""
        ...

    def steps(self, operation_id: str, known: tuple[Step, ...] = ()) -> tuple[Step, ...]:
        """Return the steps in order; those `known` are not read again."""
        ...

    def request(self, operation_id: str) -> StopRequest | None:
        """Return the request to stop an operation, if any; raises NotCompletedError where another version wrote it."""
        ...

    def ask(self, operation_id: str, request: StopRequest) -> StopRequest:
        """Leave a request to stop for the runner and return the one in force: this one, or a stronger one."""
        ...

    def throttle_request(self, operation_id: str) -> ThrottleRequest | None:
        """Return the last request to change the throttle; raises NotCompletedError where another version wrote it."""
        ...

    def ask_throttle(self, operation_id: str, request: ThrottleRequest) -> None:
        """Leave a request to change the throttle for the runner; it replaces an earlier one."""
        ...

    def write_step(self, step: Step, lease: Lease) -> None:
        """Write a step that asks the controller for nothing; raises LostLockError."""
        ...

    def create(self, record: OperationRecord, lease: Lease, now: str) -> None:
        """Write the whole record; its last write makes the operation running."""
        ...

    def export(self, operation_id: str) -> StoredOperation:
        """Return an operation for another store; raises as `record` does."""
        ...

    def adopt(self, stored: StoredOperation, lease: Lease) -> None:
        """Write an operation of another store, in place of its older state; the last write makes it whole."""
        ...

    def set_status(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status; raises KadminError for a transition that TRANSITIONS does not list."""
        ...

    def reopen(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status and remove the request."""
        ...

    def prune(self, lease: Lease) -> None:
        """Remove the oldest finished operations beyond those that are kept for `history`."""
        ...
