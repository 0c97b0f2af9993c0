"""The lock and the operations on record, as `doctor` judges them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError, KadminError
from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
from kadmin.operations.decide import decide, recall
from kadmin.operations.decide.actions import Observed
from kadmin.operations.decide.decommission import DecommissionWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.maintenance import MaintenanceWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.sent import askers, sent_lists
from kadmin.operations.reading.next_action import advanced, obstacle_of
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import published_by
from kadmin.plan.model import Elect
from kadmin.plan.progress import moves_in_flight

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Listing
    from kadmin.operations.record.steps import Step


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
    steps = context.operations.steps(listing.operation_id)
    try:
        work = spec_of(record, steps)
    except InvalidInputError:  # a heal has no plan
        return found
    elects = (
        work.elect is not Elect.NONE
        if isinstance(work, ReassignmentWork)
        else isinstance(work, ElectionWork)
    )
    found = replace(found, lists=sent_lists(record, steps, state), elects=elects)
    if isinstance(work, DecommissionWork):
        found = replace(found, leaving=work.brokers)
    if not isinstance(work, MaintenanceWork | DecommissionWork) or has_runner:
        return found
    left = listing.status.state is OperationState.PAUSED and listing.status.leaves
    return replace(_at_its_stage(context, found, work, steps), left=left)


def _at_its_stage(
    context: Context,
    found: OpenOperation,
    work: MaintenanceWork | DecommissionWork,
    steps: tuple[Step, ...],
) -> OpenOperation:
    """Complete work that waits for a person by its stage, and by what it waits for now."""
    memory, backend = recall(steps), context.backend
    try:
        observed = Observed(
            backend.read(work.topics()), published_by(steps), capabilities=backend.capabilities
        )
        now = context.clock.now()
        memory = advanced(context, work, observed, memory, now)
        waits_for = obstacle_of(decide(work, observed, memory, now))
    except KadminError as error:
        waits_for = f"not known: {error.message}"
    return replace(found, stage=work.stage_in_words(memory), waits_for=waits_for)


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
