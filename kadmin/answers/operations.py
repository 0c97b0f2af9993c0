"""Shapes of answers about operations on record: `status`, `history`, `lock show` and `verify`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.events import FollowedSignal
from kadmin.answers.hours import HoursAnswer, Time
from kadmin.answers.partitions import Partition
from kadmin.operations.reading.timeline import TimelineEventKind
from kadmin.operations.record.record import Author, OperationKind, OperationState
from kadmin.operations.record.steps import StepKind
from kadmin.plan.progress import Progress
from kadmin.schema.shapes import ABSENT, Absent, Count, Keywords, Number, Seconds

EVENTS = [
    *(each.name.lower() for each in TimelineEventKind if each is not TimelineEventKind.ENDED),
    *(each.value for each in OperationState if each.finished),
]


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """The lock of a cluster."""

    lock: Annotated[HeldLock | None, "The holder of the lock; null when the lock is free."]


@dataclass(frozen=True, slots=True)
class HeldLock:
    """The holder of the lock."""

    operation_id: Annotated[str, "Operation of the holder."]
    started_at: Time
    session_timeout_s: Annotated[
        float, "Session timeout in seconds: the lock is freed this long after its holder dies."
    ]
    author: Annotated[Author, "User, host and process that run or ran it."]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on record."""

    operation_id: Annotated[str, "Id of the operation; ids sort by time."]
    kind: Annotated[OperationKind, "Kind of the operation."]
    state: Annotated[OperationState, "State of the operation."]
    message: Annotated[str, "Its result in a sentence; empty while it runs."]
    created_at: Time
    updated_at: Time
    plan_digest: Annotated[str, "sha256 of the plan's canonical JSON."]
    file_digest: Annotated[
        str | None,
        "SHA-256 of the plan's file as applied, as sha256sum prints it; "
        "null without a file, or where an older version recorded it.",
    ]
    plan_name: Annotated[
        str | None,
        "Name in the plan's metadata; null where it has none, and in a list where an older "
        "version recorded it.",
    ]
    rolls_back: Annotated[
        str | None,
        "The operation that this one undoes; null where it is no rollback, or where an older "
        "version recorded it.",
    ]
    author: Annotated[Author, "User, host and process that run or ran it."]


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """The unfinished operations of a cluster."""

    operations: Annotated[tuple[UnfinishedOperation, ...], "The unfinished operations."]
    lock: Annotated[HeldLock | None, "The holder of the lock; null when the lock is free."]
    late_requests: Annotated[
        tuple[LateRequestAnswer, ...],
        "Partitions that requests of finished operations reassign, or brought to their target "
        "although the record says otherwise: the requests got no answer and were applied late.",
    ]


@dataclass(frozen=True, slots=True)
class UnfinishedOperation(Operation):
    """An unfinished operation and its progress."""

    plan_name: Annotated[str | None, "Name in the plan's metadata; null where it has none."]
    progress: Annotated[OperationProgress | None, "Progress; null where the record is incomplete."]
    throttle: Annotated[
        Count | None, "The throttle on record, in bytes per second; null without one."
    ]
    waits_for: Annotated[
        str,
        "What the operation waits for, or why its runner would stop now; empty where nothing "
        "blocks it.",
    ]
    hours: Annotated[
        HoursAnswer | Absent, "The hours of its copies on record; absent where it has none."
    ] = ABSENT
    leaves: Annotated[
        bool | Absent,
        "Whether resume --due goes on: its runner ends outside its hours. Absent without hours.",
    ] = ABSENT
    rates: Annotated[
        RatesAnswer | Absent,
        "The rates of its throttle so far; absent where the throttle did not change. "
        "history ID has every change.",
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class RatesAnswer:
    """The rates of an operation, in bytes per second, and the signals on record with them."""

    since: Time
    changes: Annotated[Count, "How often the throttle changed."]
    lowest: Annotated[Count, "The lowest rate; at each time the highest of its brokers counts."]
    highest: Annotated[Count, "The highest rate."]
    now: Annotated[Count, "The rate now."]
    signals: Annotated[
        Mapping[str, SignalRange],
        "By name; commit_delay is in seconds, others in the unit of their query.",
    ]


@dataclass(frozen=True, slots=True)
class SignalRange:
    """The values of a signal on record; null where none is known."""

    lowest: Annotated[float | None, "The lowest value."]
    highest: Annotated[float | None, "The highest value."]
    last: Annotated[float | None, "The value at the last change."]
    limit: Annotated[float, "The limit at the last change."]


@dataclass(frozen=True, slots=True)
class OperationProgress:
    """The progress of an operation."""

    done: Annotated[Count, "Partitions (of a deletion: topics) done."]
    total: Annotated[Count, "Partitions (of a deletion: topics) in total."]
    done_bytes: Annotated[Count | None, "Bytes copied."]
    total_bytes: Annotated[Count | None, "Bytes to copy in total."]
    wave: Annotated[Count, "The wave under way, from 1; 0 for work without waves."]
    waves: Annotated[Count, "How many waves the plan has; 0 for work without waves."]
    rate_bytes_per_s: Annotated[
        Seconds | None,
        "Bytes copied per second while status --watch read; null while it is not known.",
    ]
    eta_s: Annotated[
        Seconds | None,
        "Seconds that are left; null while they are not known, and without a runner.",
    ]
    done_at: Annotated[
        Time | Absent, "Of an operation with hours: the time of its end, at the lowest rate."
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class LateRequestAnswer(Partition):
    """A partition that a request of a finished operation reassigns, or has reassigned."""

    target: Annotated[tuple[int, ...], "The replicas that it is reassigned to."]
    last: Annotated[
        tuple[int, ...] | None,
        "The last replicas on record where the target is reached; null while it is in flight.",
    ]
    operation_id: Annotated[str, "The finished operation."]
    step: Annotated[Number, "Number of the step that was not answered."]


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The operations on record."""

    operations: Annotated[tuple[RecordedOperation, ...], "Oldest first."]


@dataclass(frozen=True, slots=True)
class RecordedOperation(Operation):
    """An operation on record; with ID, every detail of its record."""

    cluster_id: Annotated[str | Absent | None, "With ID: the cluster's id."] = ABSENT
    throttle: Annotated[
        Count | Absent | None,
        "With ID: the throttle on record, in bytes per second; null without one.",
    ] = ABSENT
    to_copy_bytes: Annotated[
        Count | Absent | None,
        "With ID: bytes that a reassignment copies, by the plan's sizes or as apply measured them; "
        "null where unknown, and for other work.",
    ] = ABSENT
    waves: Annotated[
        Count | Absent, "With ID: how many waves the plan has; 0 for work without waves."
    ] = ABSENT
    events: Annotated[
        tuple[RecordedEvent, ...] | Absent, "With ID: everything on record, in order of time."
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event of an operation on record."""

    at: Time
    event: Annotated[
        str,
        Keywords(enum=EVENTS),
        "What happened: asked is a request to pause or cancel, step a publish.",
    ]
    by: Annotated[
        str | None, "User and host that started or resumed it; null for the other events."
    ]
    message: Annotated[
        str | None, "The message of a change of state; null for a start and for steps."
    ]
    throttle: Annotated[
        Count | None,
        "The throttle that is on record from then on, in bytes per second: at the start, and at "
        "each change; null for the other events.",
    ]
    step: Annotated[PublishedStep | None, "The step that was published; null for the other events."]


@dataclass(frozen=True, slots=True)
class PublishedStep:
    """A step of an operation on record."""

    number: Annotated[Number, "Number of the step in the operation."]
    kind: Annotated[StepKind, "What it published."]
    wave: Annotated[Number | None, "The wave, from 1; null for other kinds."]
    count: Annotated[Count | None, "Partitions or topics; null where unknown."]
    moved_bytes: Annotated[Count | None, "Bytes to copy; null where a size is unknown."]
    took_s: Annotated[
        Seconds | None, "Seconds until the next step, a pause or the end; null where unknown."
    ]
    partitions: Annotated[tuple[Partition, ...], "Partitions that were elected or taken back."]
    topics: Annotated[tuple[str, ...], "Topics that were deleted or created."]
    throttle: Annotated[Count | None, "The new rate in bytes per second; null for other kinds."]
    refused: Annotated[tuple[Refused, ...], "Partitions and topics that the cluster refused."]
    replaced: Annotated[
        ReplacedData | None, "What a repair replaced or deleted; null where it replaced nothing."
    ]
    why: Annotated[
        str | Absent, "What made a rate follow clients or hours; absent for other steps."
    ] = ABSENT
    rates: Annotated[
        Mapping[str, Count] | Absent,
        "The new rates by broker id, of the brokers whose rate changed; absent for other steps.",
    ] = ABSENT
    signals: Annotated[
        Mapping[str, FollowedSignal] | Absent,
        "The signals that were seen at a change of the rate, by name; commit_delay is in seconds, "
        "others in the unit of their query. Absent where none is on record.",
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class Refused:
    """A partition or topic that the cluster refused."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[Count | None, "Partition; null for a whole topic."]
    reason: Annotated[str, "The cluster's reason."]


@dataclass(frozen=True, slots=True)
class ReplacedData:
    """The data of a znode that a repair replaced or deleted."""

    path: Annotated[str, "Path of the znode."]
    version: Annotated[int, "Its version before."]
    data: Annotated[str | None, "Its data before; bytes that are not UTF-8 are escaped."]
    deleted: Annotated[
        bool | None, "Whether it was deleted; null where the record does not say so."
    ]


@dataclass(frozen=True, slots=True)
class VerificationAnswer:
    """The progress of a plan."""

    done: Annotated[bool, "Whether every row is done."]
    partitions: Annotated[tuple[VerifiedPartition, ...], "One row per partition, in plan order."]


@dataclass(frozen=True, slots=True)
class VerifiedPartition:
    """The progress of a partition of a plan."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[Count | None, "Partition number; null in a deletion."]
    status: Annotated[Progress, "Progress of the row, by the assignment and the partition state."]
    detail: Annotated[str, "What was seen, where the status is not done."]
