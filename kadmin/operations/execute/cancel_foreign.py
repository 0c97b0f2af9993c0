"""Ends reassignments of other tools (`cancel --foreign`).

The cancellation is an operation on record.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.cancellation import CANCELLATION, CancellationWork
from kadmin.operations.decide.foreign import back_to_original, by_api, foreign_moves
from kadmin.operations.decide.kinds import record_of
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.execute.runner import Runner
from kadmin.operations.reading.open_operations import lists_sent
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import intents
from kadmin.operations.session import held
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.session import Session

NOTHING_FOREIGN = Outcome(None, "no reassignment of another tool is in flight")


def plan_cancellation(
    context: Context, given: Mapping[TopicPartition, Replicas]
) -> tuple[PartitionTarget, ...]:
    """Return the reassignments to end, each with the replicas that it returns to.

    Nothing is written. `given` are original replicas by partition, needed where the cluster does
    not keep them. Raises InvalidInputError where they are missing.
    """
    context.backend.check()
    return _plan(context, context.backend.read(), given)


def cancel_foreign(
    context: Context,
    given: Mapping[TopicPartition, Replicas],
    agreed: tuple[PartitionTarget, ...],
    lock_timeout_s: float,
) -> Outcome:
    """End the reassignments that were agreed to: lock, read again, record, run, release.

    Raises BusyError where others are in flight by then.
    """
    with _held(context, lock_timeout_s) as session:
        context.clock.stop_if_asked(
            "nothing was recorded or published", command("cancel", "--foreign")
        )
        state = context.backend.read()
        targets = _plan(context, state, given)
        if not targets:
            return NOTHING_FOREIGN
        if {target.partition for target in targets} - {target.partition for target in agreed}:
            raise BusyError(
                "More reassignments of other tools are in flight than those that were shown.",
                next_step=command("cancel", "--foreign"),
            )
        plan = ReassignmentPlan(
            PlanHeader(name="cancel-foreign", cluster_id=state.cluster_id),
            targets,
            allow_replication_factor_change=True,
            allow_fewer_racks=True,
        )
        record = record_of(CANCELLATION, plan, CancellationWork(targets), state, session.holder)
        session.begin(record)
        return Outcome(record.operation_id, Runner(session, record).run())


@contextmanager
def _held(context: Context, lock_timeout_s: float) -> Iterator[Session]:
    """Hold the lock.

    Raises BusyError that names the operation to pause where a runner of kadmin's holds it.
    """
    with ExitStack() as stack:
        try:
            session = stack.enter_context(held(context, context.new_holder(), lock_timeout_s))
        except BusyError as busy:
            raise _to_pause(context, busy) or busy from busy
        yield session


def _to_pause(context: Context, busy: BusyError) -> BusyError | None:
    other = context.operations.lock.holder()
    for listing in context.operations.unfinished():
        if is_run_by(listing.operation_id, other):
            return BusyError(
                busy.message,
                cause=(
                    "cancel --foreign is an operation of its own, under the lock; a paused "
                    "operation holds none"
                ),
                next_step=command("pause", listing.operation_id)
                + "; then "
                + command("cancel", "--foreign"),
            )
    return None


def _plan(
    context: Context, state: ClusterState, given: Mapping[TopicPartition, Replicas]
) -> tuple[PartitionTarget, ...]:
    pending = state.requests.reassignment
    if pending is not None and pending.entries is None:
        raise NotCompletedError(
            f"{pending.channel_name} cannot be decoded.", next_step=command("heal")
        )
    moves, orders = foreign_moves(state, _ours(context, state)), {}
    if context.backend.capabilities.restores_lists:
        orders = {**_orders_on_record(context, moves, state), **given}
    targets = back_to_original(moves, state, given, orders)
    if any(by_api(target, state) for target in targets):
        context.backend.brokers(state).servers.require()
    return targets


def _ours(context: Context, state: ClusterState) -> Iterator[PartitionTarget]:
    """Yield the targets that unfinished operations sent.

    A target that is only in their plan explains no move.
    """
    for listing in context.operations.unfinished():
        if listing.status.state is OperationState.PREPARING or listing.kind is OperationKind.HEAL:
            continue
        if listing.kind is OperationKind.CANCELLATION:
            raise BusyError(
                f"Operation {listing.operation_id} is ending reassignments of other tools.",
                next_step=command("resume", listing.operation_id),
            )
        for partition, lists in lists_sent(context, listing, state).items():
            yield from (PartitionTarget(partition, each) for each in lists)


def _orders_on_record(
    context: Context, partitions: Iterable[TopicPartition], state: ClusterState
) -> dict[TopicPartition, Replicas]:
    """Return the original replicas of partitions in flight, in their last order on record.

    Partitions are left out if no operation requested or recorded their original replicas.
    """
    wanted = {each: _original(each, state) for each in partitions}
    found: dict[TopicPartition, Replicas] = {}
    for listing in reversed(context.operations.listings() if wanted else ()):
        if found.keys() == wanted.keys():
            break
        if listing.kind is OperationKind.HEAL or not listing.status.state.has_record:
            continue
        asked = context.read_each((listing,), lambda each: _asked(context, each.operation_id))
        for replicas in asked.get(listing.operation_id, ()):
            for partition, brokers in wanted.items():
                if set(order := replicas.get(partition) or ()) == brokers:
                    found.setdefault(partition, order)
    return found


def _asked(context: Context, operation_id: str) -> list[Mapping[TopicPartition, Replicas | None]]:
    """Return the replicas that an operation asked for, last request first, and the originals."""
    sent = [intent.targets for _, intent in intents(context.operations.steps(operation_id))]
    return [*reversed(sent), context.operations.record(operation_id).origin]


def _original(partition: TopicPartition, state: ClusterState) -> set[int]:
    topic, number = state.topics[partition.topic], partition.partition
    return set(topic.replicas[number]) - set(topic.adding_replicas.get(number, ()))
