"""The operation record: everything that another machine needs to continue an operation.

The record is immutable. Order of trust: the cluster, the record, the plan file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from kadmin.errors import KadminError
from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.throttle_words import throttle_in_words
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.model import Assignment, TopicPartition
    from kadmin.insight.diagnosis.health import Health
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.plan.directories import FirstDirectories
    from kadmin.plan.model import HoursSpec, TopicRecipe
    from kadmin.plan.throttle import ConfigChanges


KEPT_OPERATIONS = 50
"""Number of finished operations that a store keeps for `history`."""
ROLLS_BACK = "kadmin/rolls-back"
"""The label that names, in a rollback's plan, the operation that it undoes."""
CATCHES_UP = "kadmin/catches-up"
"""The label that names, in the plan of a catch-up on record, its broker."""
KEPT_CHANGES = 500
"""Number of status changes that a store keeps of one operation: the latest."""


class OperationKind(StrEnum):
    """The kind of an operation."""

    REASSIGNMENT = "reassignment"
    ELECTION = "election"
    DELETION = "deletion"
    RECREATION = "recreation"
    HEAL = "heal"
    CANCELLATION = "cancellation"
    CATCH_UP = "catch-up"
    MAINTENANCE = "maintenance"
    DECOMMISSION = "decommission"
    RECOVERY = "recovery"
    GROWTH = "growth"

    @property
    def copies(self) -> bool:
        """Whether replicas are copied while it runs, at a throttle that can be changed."""
        return self in {
            OperationKind.REASSIGNMENT,
            OperationKind.CATCH_UP,
            OperationKind.MAINTENANCE,
            OperationKind.DECOMMISSION,
        }


class OperationState(StrEnum):
    """The state of an operation.

    A paused one is resumed or cancelled; a cancelled one can only be rolled back.

    The store refuses every other transition (see TRANSITIONS)::

        preparing ──> running ──> completed
            │           │  ^ └──> failed
            │           v  │
            │          paused ──> cancelled <── running
            └──> discarded
    """

    PREPARING = "preparing"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DISCARDED = "discarded"

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; an unfinished operation blocks all others."""
        return self not in {OperationState.PREPARING, OperationState.RUNNING, OperationState.PAUSED}

    @property
    def has_record(self) -> bool:
        """Whether the record is complete; without a complete record nothing was published."""
        return self not in {OperationState.PREPARING, OperationState.DISCARDED}


_S = OperationState
TRANSITIONS: Mapping[OperationState, frozenset[OperationState]] = {
    _S.PREPARING: frozenset({_S.RUNNING, _S.DISCARDED}),
    _S.RUNNING: frozenset({_S.RUNNING, _S.PAUSED, _S.COMPLETED, _S.FAILED, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.RUNNING, _S.PAUSED, _S.CANCELLED}),
    _S.COMPLETED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.DISCARDED: frozenset(),
}
"""The states that may follow each state. `running` after `running` changes the message only."""


def require_transition(
    operation_id: str, before: OperationState, after: OperationState, confirm: Callable[[], None]
) -> None:
    """Raise KadminError where an operation may not go from one state to the other: a bug in kadmin.

    `confirm` raises LostLockError where the lock was lost: its new holder may have ended the
    operation.
    """
    if after not in TRANSITIONS[before]:
        confirm()
        raise KadminError(f"Operation {operation_id} is {before} and cannot become {after}.")


@dataclass(frozen=True, slots=True)
class Author:
    """User, host and process id of a runner."""

    user: Annotated[str, "User name."]
    host: Annotated[str, "Host name."]
    pid: Annotated[Count, "Process id."]

    def __str__(self) -> str:
        return f"{self.user}@{self.host}"


@dataclass(frozen=True, slots=True)
class ThrottleRecord:
    """The throttle of an operation.

    `rate` in bytes per second, the highest of its brokers', and each config value before and with
    it. `spec` has the rate, or the range, that was asked for, None in older records; `hours` are
    those of its copies, None for all.
    """

    rate: int
    changes: ConfigChanges
    spec: ThrottleSpec | None = None
    hours: HoursSpec | None = None

    @property
    def asked(self) -> ThrottleSpec:
        """The throttle that was asked for; of an older record, its rate."""
        return self.spec or ThrottleSpec(ThrottleBy.RATE, self.rate)

    def __str__(self) -> str:
        return throttle_in_words(self.asked, self.hours, now=self.rate)


@dataclass(frozen=True, slots=True)
class HighWatermark:
    """The high watermark of a partition, and the leader epoch in which it was read."""

    offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """The immutable part.

    `plan_text` is the plan as canonical JSON; `origin` the ordered replicas before any write.
    `waves` hold positions in the plan's list; `targets` the partitions of an election; `recipes`
    the topics that a deletion deletes, a recreation creates, or a growth grows, as they were;
    `topic_ids` the ids of those to be deleted or grown, where the cluster has ids; `unclean` the
    unclean.leader.election.enable of topics before an election that sets it, None where a topic has
    none; `health` is that of the cluster when the record was made, `high_watermarks` the high
    watermarks at that time, as far as leaders answered. `log_dirs` are the log directories of the
    replicas before any write, by partition and broker, of partitions for which the plan names some.
    `file_digest` is the sha256 of the bytes of the plan's file, `to_copy_bytes` the bytes to copy,
    by the sizes on disk where the plan gives none. Both are kept beside the status, where versions
    without these fields skip them: a record that was read has none.
    """

    operation_id: str
    kind: OperationKind
    plan_text: str
    plan_digest: str
    cluster_id: str | None
    created_at: str
    author: Author
    origin: Assignment
    waves: tuple[tuple[int, ...], ...] = ()
    targets: tuple[TopicPartition, ...] = ()
    recipes: tuple[TopicRecipe, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    unclean: Mapping[str, str | None] = field(default_factory=dict)
    health: Health | None = None
    high_watermarks: Mapping[TopicPartition, HighWatermark] = field(default_factory=dict)
    throttle: ThrottleRecord | None = None
    file_digest: str | None = None
    to_copy_bytes: int | None = None
    log_dirs: FirstDirectories = field(default_factory=dict)

    @property
    def plan_name(self) -> str | None:
        """The name in the plan's metadata, None where it has none."""
        name = self._metadata.get("name")
        return name if isinstance(name, str) else None

    @property
    def rolls_back(self) -> str | None:
        """The operation that this one undoes, None where it is no rollback."""
        undone = self._metadata.get("labels", {}).get(ROLLS_BACK)
        return undone if isinstance(undone, str) else None

    @property
    def _metadata(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self.plan_text).get("metadata", {})
        return found


@dataclass(frozen=True, slots=True)
class OperationStatus:
    """The status of an operation: state, time of the last change, message.

    `by` is the user who resumed it. `answered` is the request to stop that the runner confirms: it
    stops at the next safe point. `throttle_removed`: the operation's throttle is removed from every
    broker and topic. `leaves`: its runner ends outside the hours of the operation, and `resume
    --due` goes on.
    """

    state: OperationState
    updated_at: str
    message: str = ""
    by: str = ""
    throttle_removed: bool = False
    answered: StopRequest | None = None
    leaves: bool = False

    def __str__(self) -> str:
        if self.message.startswith(self.state):
            return self.message
        return f"{self.state}: {self.message}" if self.message else self.state.value


@dataclass(frozen=True, slots=True)
class Listing:
    """One line of `history`.

    `changes` are the statuses since the operation was recorded, `file_digest` the sha256 of the
    plan's file as it was applied, `to_copy_bytes` what it was to copy, `plan_name` and `rolls_back`
    are as in the record: none in older records.
    """

    operation_id: str
    kind: OperationKind
    status: OperationStatus
    plan_digest: str
    created_at: str
    author: Author
    changes: tuple[OperationStatus, ...] = ()
    file_digest: str | None = None
    to_copy_bytes: int | None = None
    plan_name: str | None = None
    rolls_back: str | None = None

    def described_state(self, *, has_runner: bool) -> str:
        """Return the state for people: without a runner a running operation is `interrupted`."""
        interrupted = self.status.state is OperationState.RUNNING and not has_runner
        return "interrupted" if interrupted else self.status.state.value


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation as a store keeps it, encoded.

    It has status, record, steps by name, and request to change the throttle.
    """

    operation_id: str
    status: bytes
    record: bytes
    steps: Mapping[str, bytes]
    throttle_request: bytes | None


@dataclass(frozen=True, slots=True)
class Imported:
    """The operations that were copied, in order, and the number of those on both sides already."""

    carried: tuple[str, ...]
    already: int


def beyond_kept(listings: Iterable[Listing]) -> tuple[Listing, ...]:
    """Return the finished operations that a store keeps no longer; `listings` come oldest first."""
    finished = [each for each in listings if each.status.state.finished]
    return tuple(finished[: max(0, len(finished) - KEPT_OPERATIONS)])
