"""Timeline of an operation, from its record, steps and states. Pure, except for `read_timeline`.

A step records its time of publishing. Its end is known only from the next step, or from the pause
or the end of the operation, so a span ends at the latest possible time. A runner that was
interrupted leaves nothing: where the operation was resumed before that time, the end of the span is
unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from heapq import merge
from itertools import pairwise
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import (
    CancelStep,
    ElectionStep,
    LogDirsStep,
    ProbeStep,
    Sending,
    StepKind,
    ThrottleStep,
    TopicStep,
    WaveStep,
    waves_of,
)
from kadmin.plan.progress import judge
from kadmin.plan.waves import copied_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.record import Listing, OperationRecord, OperationStatus
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import PartitionTarget
    from kadmin.plan.progress import Progress


_INSTANT = frozenset({StepKind.THROTTLE})
"""Steps that take no time, and end none before them."""


@dataclass(frozen=True, slots=True)
class StepSpan:
    """One publish: its time, and the latest time at which it was done (None: unknown).

    Times are seconds since the operation was recorded. `count` is of partitions or topics, None
    where unknown. `moved_bytes` are those copied, None where a size is unknown.
    """

    step: Step
    at_s: float | None
    until_s: float | None
    count: int | None
    moved_bytes: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """An operation with its spans in order. `targets` are those of a reassignment.

    `changes` are the statuses since the start; of an operation of an older version only the last is
    known. `took_s` is from the record to the end, or until it was read; None where a time cannot be
    parsed.
    """

    record: OperationRecord
    listing: Listing
    changes: tuple[OperationStatus, ...]
    targets: tuple[PartitionTarget, ...]
    waves: int
    spans: tuple[StepSpan, ...]
    took_s: float | None

    @property
    def to_copy_bytes(self) -> int | None:
        """Bytes that the whole reassignment copies, by the plan's sizes or as `apply` measured.

        None where unknown.
        """
        planned_bytes = copied_bytes(self.targets)
        return self.listing.to_copy_bytes if planned_bytes is None else planned_bytes

    @property
    def status(self) -> OperationStatus:
        """The status now."""
        return self.listing.status


class TimelineEventKind(IntEnum):
    """The kind of a timeline event; events of one second have this order."""

    STARTED = 0
    ASKED = 1
    PAUSED = 2
    RESUMED = 3
    STEP = 4
    ENDED = 5


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A start, a pause, a resumption, an end, or the step of `span`.

    `status` is that of a change.
    """

    at: str
    turn: TimelineEventKind
    by: str = ""
    status: OperationStatus | None = None
    span: StepSpan | None = None


def read_timeline(context: Context, operation_id: str | None) -> Timeline:
    """Read one operation, the last for None.

    Raises InvalidInputError where there is none, NotCompletedError where it cannot be read.
    """
    listings = [
        each for each in context.operations.listings() if operation_id in (None, each.operation_id)
    ]
    if not listings:
        wanted = (
            "No operation is on record."
            if operation_id is None
            else f"There is no operation {operation_id}."
        )
        raise InvalidInputError(wanted, next_step=command("history"))
    found = listings[-1]
    if not found.status.state.has_record:
        raise NotCompletedError(
            f"Operation {found.operation_id} ({found.status.state}) has an incomplete record; "
            "nothing was published.",
            next_step=command("history") if found.status.state.finished else command("status"),
        )
    record, steps = (
        context.operations.record(found.operation_id),
        context.operations.steps(found.operation_id),
    )
    return timeline(record, found, steps, context.clock.timestamp())


def timeline(
    record: OperationRecord, listing: Listing, steps: Sequence[Step], read_at: str
) -> Timeline:
    """Return the timeline of an operation as it was read at a time.

    Config writes that were answered are left out.
    """
    steps = [step for step in steps if not _is_answered_write(step)]
    work = None if record.kind is OperationKind.HEAL else spec_of(record, steps)
    status = listing.status
    changes = listing.changes or (status,)
    starts = [seconds_between(record.created_at, step.at) for step in steps]
    stops = [
        seconds_between(record.created_at, each.updated_at)
        for each in changes
        if each.state.finished or each.state is OperationState.PAUSED
    ]
    resumptions = [
        seconds_between(record.created_at, after.updated_at)
        for before, after in pairwise(changes)
        if after.by and before.state is OperationState.RUNNING
    ]
    spans: list[StepSpan] = []
    for at, step in enumerate(steps):
        until = starts[at]
        if step.kind not in _INSTANT:
            later = [
                start
                for start, each in zip(starts[at + 1 :], steps[at + 1 :], strict=True)
                if each.kind not in _INSTANT
            ]
            until = _end(starts[at], [*later, *stops], resumptions)
        spans.append(StepSpan(step, starts[at], until, _count(step, work), _bytes(step, work)))
    targets = work.targets if isinstance(work, ReassignmentWork) else ()
    took = seconds_between(
        record.created_at, status.updated_at if status.state.finished else read_at
    )
    waves = len(work.waves) if isinstance(work, ReassignmentWork) else len(record.waves)
    return Timeline(record, listing, changes, targets, waves, tuple(spans), took)


def _is_answered_write(step: Step) -> bool:
    return (
        isinstance(step, ThrottleStep)
        and step.throttle is None
        and step.sending is not Sending.UNANSWERED
    )


def moments(found: Timeline) -> tuple[TimelineEvent, ...]:
    """Return everything that is on record, in order of time."""
    author = found.record.author
    started = TimelineEvent(found.record.created_at, TimelineEventKind.STARTED, str(author))
    changes = [moment for each in found.changes if (moment := _moment(each)) is not None]
    steps = [TimelineEvent(span.step.at, TimelineEventKind.STEP, span=span) for span in found.spans]
    return (started, *merge(changes, steps, key=lambda each: (each.at, each.turn)))


def last_event(record: OperationRecord, listing: Listing, steps: Sequence[Step]) -> TimelineEvent:
    """Return the last event on record, without the amounts of a step."""
    found = [TimelineEvent(record.created_at, TimelineEventKind.STARTED, str(record.author))]
    found += filter(None, map(_moment, (*listing.changes, listing.status)))
    found += [
        TimelineEvent(step.at, TimelineEventKind.STEP, span=StepSpan(step, None, None, None, None))
        for step in steps
        if not _is_answered_write(step)
    ]
    return max(reversed(found), key=lambda each: (each.at, each.turn))


def _moment(change: OperationStatus) -> TimelineEvent | None:
    """Return the moment of a change of the status.

    None for the one that ends the writing of the record.
    """
    state = change.state
    if state.finished:
        return TimelineEvent(change.updated_at, TimelineEventKind.ENDED, status=change)
    if state is OperationState.PAUSED:
        return TimelineEvent(change.updated_at, TimelineEventKind.PAUSED, status=change)
    if change.by:
        return TimelineEvent(change.updated_at, TimelineEventKind.RESUMED, change.by, change)
    return (
        TimelineEvent(change.updated_at, TimelineEventKind.ASKED, status=change)
        if change.message
        else None
    )


def _end(
    start: float | None, later: Sequence[float | None], resumptions: Sequence[float | None]
) -> float | None:
    """Return the first of the later times.

    None where a time is unknown, or the operation was resumed before it.
    """
    if start is None or None in later or None in resumptions:
        return None
    end = min((each for each in later if each is not None and each >= start), default=None)
    interrupted = end is not None and any(
        each is not None and start < each <= end for each in resumptions
    )
    return None if interrupted else end


def progress_of(found: Timeline, state: ClusterState) -> dict[TopicPartition, Progress]:
    """Judge the partitions of a reassignment on the current cluster, with what was published."""
    waves = waves_of(span.step for span in found.spans)
    published = {
        at for index, wave in enumerate(found.record.waves) if index in waves for at in wave
    }
    return {
        target.partition: judge(target, state, published=at in published)
        for at, target in enumerate(found.targets)
    }


def seconds_between(earlier: str, later: str) -> float | None:
    """Return the seconds between two ISO 8601 times.

    None where one cannot be parsed, or they are in reverse order.
    """
    try:
        seconds = (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _wave(step: Step, work: OperationSpec | None) -> tuple[PartitionTarget, ...] | None:
    if not isinstance(step, WaveStep) or not isinstance(work, ReassignmentWork):
        return None
    return work.waves[step.wave] if step.wave < len(work.waves) else None


def _count(step: Step, work: OperationSpec | None) -> int | None:
    wave = _wave(step, work)
    if wave is not None:
        return len(wave)
    match step:
        case CancelStep() | ElectionStep():
            return len(step.partitions)
        case LogDirsStep():
            return len(step.log_dirs)
        case TopicStep():
            return len(step.topics)
    return 0 if isinstance(step, ProbeStep) else None


def _bytes(step: Step, work: OperationSpec | None) -> int | None:
    wave = _wave(step, work)
    if wave is None:
        return (
            0
            if step.kind
            in {
                StepKind.ELECTION,
                StepKind.PROBE,
                StepKind.DELETION,
                StepKind.CREATION,
                StepKind.GROWTH,
                StepKind.THROTTLE,
            }
            else None
        )
    return copied_bytes(wave)
