"""The lock and the operations on record, as `doctor` judges them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.sent import askers, sent_lists
from kadmin.operations.record.record import OperationState
from kadmin.plan.model import Elect
from kadmin.plan.progress import moves_in_flight

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Listing


def lock_held(context: Context) -> LockHeld | None:
    """Return the lock, None where it is free."""
    holder = context.operations.lock.holder()
    return None if holder is None else LockHeld(holder.operation_id, str(holder))


def open_operation(
    context: Context, listing: Listing, lock: LockHeld | None, state: ClusterState
) -> OpenOperation:
    """Return an operation on record with the replicas that it asked for.

    Raises as `OperationStore.record` does.
    """
    author, has_runner = (
        listing.author,
        lock is not None and lock.operation_id == listing.operation_id,
    )
    described = listing.described_state(has_runner=has_runner)
    # When a runner was interrupted is not on record.
    since = " since" if described == listing.status.state else ", its state last changed at"
    found = OpenOperation(
        listing.operation_id,
        listing.kind,
        f"{described}{since} {listing.status.updated_at}, started {listing.created_at} by {author}",
        leaves=listing.status.leaves,
    )
    if listing.status.state is OperationState.PREPARING:
        return replace(found, whole=False)
    record = context.operations.record(listing.operation_id)
    try:
        work = spec_of(record)
    except InvalidInputError:  # a heal has no plan
        return found
    elects = (
        work.elect is not Elect.NONE
        if isinstance(work, ReassignmentWork)
        else isinstance(work, ElectionWork)
    )
    lists = sent_lists(record, context.operations.steps(listing.operation_id), state)
    return replace(found, lists=lists, elects=elects)


def lists_sent(
    context: Context, listing: Listing, state: ClusterState
) -> Mapping[TopicPartition, frozenset[Replicas]]:
    """Return the replicas that an operation on record asked for, by partition."""
    operations, operation_id = context.operations, listing.operation_id
    return sent_lists(operations.record(operation_id), operations.steps(operation_id), state)


def askers_on_record(context: Context, state: ClusterState) -> dict[TopicPartition, Listing]:
    """Return the latest operation on record that asked for each reassignment in flight.

    Others are left out.
    """
    moves = moves_in_flight(state)
    listings = context.operations.listings() if moves else ()

    def lists_of(listing: Listing) -> Mapping[TopicPartition, frozenset[Replicas]]:
        found = context.read_each((listing,), lambda each: lists_sent(context, each, state))
        return found.get(listing.operation_id, {})

    return askers(moves, listings, lists_of)
