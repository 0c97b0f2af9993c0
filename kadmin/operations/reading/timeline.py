"""What an operation did, and when: its record, its steps and its state, put in order. Pure, but for `read_timeline`.

A step is on record from the moment of its publish. When it was done is known only from what came after it: the next
step of its kind, or the end of the operation. So a span says "from ... to at most ...".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.operations.decide.kinds import work_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationKind, OperationState, StepKind
from kadmin.plan.progress import judge
from kadmin.plan.waves import moved_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Work
    from kadmin.operations.record.record import OperationRecord, OperationStatus, Step
    from kadmin.plan.model import PartitionTarget
    from kadmin.plan.progress import Progress


@dataclass(frozen=True, slots=True)
class Span:
    """One publish: when, and until when it was followed at most (both None: not known).

    Times are seconds since the operation was recorded. `count` is of partitions, or of topics; None where a step does
    not say. `moved_bytes` is what it copied: None where a size is unknown, 0 for what copies nothing.
    """

    step: Step
    at_s: float | None
    until_s: float | None
    count: int | None
    moved_bytes: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """An operation with its spans in order. `targets` are what a reassignment was asked for, empty for other kinds.

    `took_s` is from the record to the last change of the state; None where a time cannot be read.
    """

    record: OperationRecord
    status: OperationStatus
    targets: tuple[PartitionTarget, ...]
    waves: int
    spans: tuple[Span, ...]
    took_s: float | None


def read_timeline(context: Context, operation_id: str | None) -> Timeline:
    """Read one operation, the last for None.

    Raises InvalidInputError where there is none, NotCompletedError where it cannot be read.
    """
    listings = [each for each in context.operations.listings() if operation_id in (None, each.operation_id)]
    if not listings:
        wanted = "No operation is on record." if operation_id is None else f"There is no operation {operation_id}."
        raise InvalidInputError(wanted, next_command="kadmin history")
    found = listings[-1]
    return timeline(
        context.operations.record(found.operation_id), found.status, context.operations.steps(found.operation_id)
    )


def timeline(record: OperationRecord, status: OperationStatus, steps: Sequence[Step]) -> Timeline:
    """Put an operation in order."""
    work = None if record.kind is OperationKind.HEAL else work_of(record)
    took = seconds_between(record.created_at, status.updated_at)
    starts = [seconds_between(record.created_at, step.at) for step in steps]
    ends = [*starts[1:], took if status.state.finished or status.state is OperationState.PAUSED else None]
    spans = tuple(
        Span(step, starts[at], ends[at], _count(step, work), _bytes(step, work)) for at, step in enumerate(steps)
    )
    targets = work.targets if isinstance(work, ReassignmentWork) else ()
    return Timeline(record, status, targets, len(record.waves), spans, took)


def progress_of(found: Timeline, state: ClusterState) -> dict[TopicPartition, Progress]:
    """Judge the partitions of a reassignment by the cluster of now, what was published considered."""
    waves = {span.step.wave for span in found.spans if span.step.kind is StepKind.WAVE}
    published = {at for index, wave in enumerate(found.record.waves) if index in waves for at in wave}
    return {
        target.partition: judge(target, state, published=at in published) for at, target in enumerate(found.targets)
    }


def seconds_between(earlier: str, later: str) -> float | None:
    """Return the seconds between two ISO 8601 times; None where one of them is no time, or they run backwards."""
    try:
        seconds = (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _wave(step: Step, work: Work | None) -> tuple[PartitionTarget, ...] | None:
    if step.kind is not StepKind.WAVE or step.wave is None or not isinstance(work, ReassignmentWork):
        return None
    return work.waves[step.wave] if step.wave < len(work.waves) else None


def _count(step: Step, work: Work | None) -> int | None:
    wave = _wave(step, work)
    if wave is not None:
        return len(wave)
    return None if step.kind in {StepKind.WAVE, StepKind.REPAIR} else len(step.partitions) + len(step.topics)


def _bytes(step: Step, work: Work | None) -> int | None:
    wave = _wave(step, work)
    if wave is None:
        return 0 if step.kind in {StepKind.ELECTION, StepKind.PROBE, StepKind.DELETION, StepKind.CREATION} else None
    sizes = [moved_bytes(target) for target in wave]
    return None if None in sizes else sum(size or 0 for size in sizes)
