"""The lock and the operations on record, as `doctor` judges them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.kinds import work_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.plan.model import Elect

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Listing


def lock_held(context: Context) -> LockHeld | None:
    """Return the lock, None where it is free."""
    holder = context.operations.holder()
    return None if holder is None else LockHeld(holder.operation_id, str(holder))


def open_operation(context: Context, listing: Listing, lock: LockHeld | None) -> OpenOperation:
    """Return an operation on record with the replicas that it may publish; raises as `OperationStore.record` does."""
    author, has_runner = listing.author, lock is not None and lock.operation_id == listing.operation_id
    state = listing.described_state(has_runner=has_runner)
    # When a runner was interrupted is not on record.
    since = " since" if state == listing.status.state else ", its state last changed at"
    found = OpenOperation(
        listing.operation_id,
        listing.kind,
        f"{state}{since} {listing.status.updated_at}, started {listing.created_at} by {author}",
    )
    if listing.status.state is OperationState.PREPARING:
        return replace(found, whole=False)
    record = context.operations.record(listing.operation_id)
    try:
        work = work_of(record)
    except InvalidInputError:  # a heal has no plan
        return found
    if isinstance(work, ReassignmentWork):
        lists = {target.partition: (target.replicas, record.origin[target.partition]) for target in work.targets}
        return replace(found, lists=lists, elects=work.elect is not Elect.NONE)
    if isinstance(work, CancellationWork):
        lists = {target.partition: (target.replicas, target.current or ()) for target in work.targets}
        return replace(found, lists=lists)
    return replace(found, elects=isinstance(work, ElectionWork))
