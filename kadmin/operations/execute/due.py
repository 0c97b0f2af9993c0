"""Resumes the operations that runs with --leave left, while their hours include now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.decide.leaving import LeftError
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.execute.takeover import resume
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.stop_request import Stop
from kadmin.operations.record.throttle_steps import current_hours
from kadmin.plan.hours import until

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing


@dataclass(frozen=True, slots=True)
class Due:
    """The operations that are due, and a sentence on the unfinished ones that are not."""

    operation_ids: tuple[str, ...]
    others: str


def find_due(context: Context, operation_id: str | None) -> Due:
    """Find the unfinished operations, or the one with that id, that were left and are due.

    One whose runner was killed is due at any time: outside its hours, it is left with the rate
    outside. Raises UnreachableError where the cluster does not answer, and InvalidInputError for an
    operation that is not on record.
    """
    context.backend.check()
    context.operations.lock.sync()
    holder = context.operations.lock.holder()
    unfinished = [
        each
        for each in context.operations.unfinished()
        if operation_id in {None, each.operation_id}
    ]
    reasons = {each.operation_id: _why_not(context, each, holder) for each in unfinished}
    due = tuple(name for name, reason in reasons.items() if not reason)
    if operation_id is not None and not unfinished:
        others = f"operation {operation_id} {context.operations.status(operation_id)}"
    else:
        waiting = [f"operation {name} {reason}" for name, reason in reasons.items() if reason]
        others = "; ".join(waiting) or "no operation is unfinished"
    return Due(due, f"nothing is due: {others}")


def resume_due(context: Context, due: Due, lock_timeout_s: float) -> Outcome:
    """Resume operations, one after the other, until they end or their hours do."""
    outcomes = [_resume(context, each, lock_timeout_s) for each in due.operation_ids]
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(None, "; ".join(each.message for each in outcomes) or due.others)


def _resume(context: Context, operation_id: str, lock_timeout_s: float) -> Outcome:
    try:
        return resume(context, operation_id, lock_timeout_s, leaves=True)
    except LeftError as left:
        return Outcome(operation_id, left.message.removesuffix("."))


def _why_not(context: Context, listing: Listing, holder: Holder | None) -> str:
    """Return the reason that an unfinished operation is not due, '' where it is."""
    name, status = listing.operation_id, listing.status
    if is_run_by(name, holder):
        return f"is run by {holder}"
    if not status.leaves or status.state is OperationState.PREPARING:
        return f"is {listing.described_state(has_runner=False)}, and was not left by --leave"
    request = context.operations.request(name)
    if request is not None and request.stop is Stop.PAUSE:
        return f"is paused: {request.asked}"
    if status.state is OperationState.RUNNING:
        return ""
    hours, now = current_hours(context.operations.throttle(name)), context.clock.utc()
    if hours is None or hours.includes(now):
        return ""
    return f"is outside its hours{until(hours, now)}"
