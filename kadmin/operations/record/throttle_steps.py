"""The throttle of an operation on record, with the changes by its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.record.record import ThrottleRecord
from kadmin.operations.record.steps import Sending, ThrottleStep
from kadmin.plan.model import hours_of
from kadmin.plan.throttle import apply_revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Step, ThrottleChange
    from kadmin.plan.hours import Hours
    from kadmin.plan.throttle import ConfigChanges


def writes_unanswered(steps: Iterable[Step]) -> bool:
    """Whether a request on the throttle is unanswered: it may be applied at any later time."""
    return any(
        isinstance(step, ThrottleStep) and step.sending is Sending.UNANSWERED for step in steps
    )


def throttle_changes(steps: Iterable[Step]) -> Iterator[ThrottleChange]:
    """Yield the changes of the throttle in order."""
    return (
        step.throttle
        for step in steps
        if isinstance(step, ThrottleStep) and step.throttle is not None
    )


def current_throttle(record: OperationRecord, steps: Iterable[Step]) -> ThrottleRecord | None:
    """Return the throttle of an operation, with the changes by its steps.

    None without a throttle.
    """
    *_, (_, throttle) = throttles_of(record, steps)
    return throttle


def throttles_of(
    record: OperationRecord, steps: Iterable[Step]
) -> Iterator[tuple[ThrottleStep | None, ThrottleRecord | None]]:
    """Yield the first throttle of an operation, then each step that changed it with the next one.

    The first has no step; it is None where the operation began without a throttle.
    """
    throttle = record.throttle
    yield None, throttle
    for step in steps:
        if not isinstance(step, ThrottleStep) or step.throttle is None:
            continue
        change = step.throttle
        before: ConfigChanges = {} if throttle is None else throttle.changes
        asked = throttle if change.request is None else change.request
        spec, hours = (None, None) if asked is None else (asked.spec, asked.hours)
        throttle = ThrottleRecord(change.rate, apply_revision(before, change.changes), spec, hours)
        yield step, throttle


def current_hours(throttle: ThrottleRecord | None) -> Hours | None:
    """Return the hours of a throttle on record, None where copies may run at any time."""
    return None if throttle is None or throttle.hours is None else hours_of(throttle.hours)
