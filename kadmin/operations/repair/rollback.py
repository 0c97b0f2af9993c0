"""Plans a rollback: back to the replicas from before an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents import parse_document
from kadmin.errors import InvalidInputError, KadminError
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.record.record import ROLLS_BACK, OperationKind
from kadmin.operations.record.steps import drains_of
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.plan.model import (
    ANY_LOG_DIR,
    UNTHROTTLED,
    Elect,
    MaintenancePlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
)
from kadmin.plan.throttle_words import throttle_in_words
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import Assignment, ClusterState
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import OperationRecord, ThrottleRecord
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import ThrottleSpec


REVERSIBLE = (
    OperationKind.REASSIGNMENT,
    OperationKind.MAINTENANCE,
    OperationKind.DECOMMISSION,
)


def without_rollback(operation_id: str) -> Mapping[OperationKind, tuple[str, NextStep]]:
    """Return the kinds of operations without a rollback, each with the reason and the next step."""
    return {
        OperationKind.ELECTION: (
            "the leaders from before it are not on record",
            command("inspect partitions") + ", to see the leaders",
        ),
        OperationKind.DELETION: (
            (
                "the records are lost; the topics can be created again, empty, with their "
                "assignment and configs"
            ),
            command("recreate", operation_id),
        ),
        OperationKind.RECOVERY: (
            "what the new leaders lack is lost: a leader that returns deletes its own copy of it",
            command("inspect partitions") + ", to see the leaders",
        ),
        OperationKind.GROWTH: (
            "Kafka removes no partition of a topic",
            command("inspect partitions") + ", to see the partitions",
        ),
        OperationKind.RECREATION: (
            "it created topics; a plan of kind TopicDeletion deletes them",
            command("apply", "FILE") + ", with such a plan",
        ),
        OperationKind.HEAL: (
            (
                "it removed entries that blocked the controller; the values that it replaced are "
                "on record"
            ),
            command("doctor"),
        ),
    }


def plan_rollback(context: Context, operation_id: str | None) -> ReassignmentPlan:
    """Return the plan that restores the original replicas of an operation's partitions.

    None is the last operation. Partitions that have their original replicas are left out, unless
    their log directories of before are on record; so are deleted ones, with a note. Limits, order,
    rate of the throttle and elections are those of the operation.
    """
    context.backend.check()
    record = context.operations.record(operation_id) if operation_id is not None else _last(context)
    if (refused := without_rollback(record.operation_id).get(record.kind)) is not None:
        cause, next_step = refused
        raise InvalidInputError(
            f"Operation {record.operation_id} ({record.kind}) cannot be rolled back; only a "
            "reassignment can.",
            cause=cause,
            next_step=next_step,
        )
    plan = parse_document(record.plan_text.encode(), f"operation {record.operation_id}")
    if isinstance(plan, MaintenancePlan):
        plan = _orders(plan, context)
    if not isinstance(plan, ReassignmentPlan):
        raise KadminError(f"The plan of operation {record.operation_id} is no reassignment.")
    steps = context.operations.steps(record.operation_id)
    origin = _origin(record, steps)
    state = context.backend.read({partition.topic for partition in origin})
    if gone := [each for each in origin if state.replicas(each) is None]:
        context.tell(
            events.Note(f"left out, they do not exist any more: {name_some(sorted(gone))}")
        )
    return _reversed(plan, record, current_throttle(record, steps), state, origin)


def _origin(record: OperationRecord, steps: Sequence[Step]) -> Assignment:
    """Return the replicas of before, also of partitions that further rounds moved."""
    later = [target for each in drains_of(steps) for target in each.targets]
    return {target.partition: target.current or () for target in reversed(later)} | dict(
        record.origin
    )


def _orders(plan: MaintenancePlan, context: Context) -> ReassignmentPlan:
    """Return the orders of replicas that a maintenance may have left, as they are now."""
    partitions = sorted({target.partition for target in plan.demotions})
    state = context.backend.read({each.topic for each in partitions})
    now = ((each, state.replicas(each)) for each in partitions)
    return ReassignmentPlan(
        plan.header,
        tuple(PartitionTarget(each, replicas) for each, replicas in now if replicas is not None),
        elect=Elect.AT_END,
    )


def rollback_note(plan: ReassignmentPlan, given: ThrottleSpec | None) -> events.Note:
    """Describe the operation that a rollback undoes, and the throttle that it adopts.

    `given` replaces it.
    """
    text = f"rollback of operation {plan.header.labels[ROLLS_BACK]}"
    if given is None and plan.throttle is not None and plan.throttle != UNTHROTTLED:
        text += (
            f", at its throttle of {throttle_in_words(plan.throttle)}; --throttle RATE gives "
            "another"
        )
    return events.Note(text)


def _reversed(
    plan: ReassignmentPlan,
    record: OperationRecord,
    throttle: ThrottleRecord | None,
    state: ClusterState,
    origin: Assignment,
) -> ReassignmentPlan:
    planned = {target.partition: target for target in plan.reassignments}
    back = tuple(
        PartitionTarget(
            partition,
            replicas,
            current=planned[partition].replicas if partition in planned else now,
            size_bytes=planned[partition].size_bytes if partition in planned else None,
            log_dirs=_log_dirs(replicas, record.log_dirs.get(partition)),
        )
        for partition, replicas in origin.items()
        if (now := state.replicas(partition)) is not None
        and (now != replicas or partition in record.log_dirs)
    )
    header = PlanHeader(
        name=f"rollback-{record.operation_id}",
        cluster_id=record.cluster_id,
        labels={ROLLS_BACK: record.operation_id},
    )
    return ReassignmentPlan(
        header,
        back,
        _throttle(plan, throttle),
        plan.limits,
        plan.elect,
        plan.order,
        allow_replication_factor_change=True,
        allow_fewer_racks=True,
        moves_per_disk=plan.moves_per_disk,
        disk_fill=plan.disk_fill,
    )


def _log_dirs(replicas: Sequence[int], first: Mapping[int, str] | None) -> tuple[str, ...] | None:
    """Return the log directories of before; None for a partition of which none is on record."""
    return None if first is None else tuple(first.get(each, ANY_LOG_DIR) for each in replicas)


def _throttle(plan: ReassignmentPlan, throttle: ThrottleRecord | None) -> ThrottleSpec | None:
    if throttle is not None:
        return throttle.asked
    return UNTHROTTLED if plan.throttle == UNTHROTTLED else None


def _last(context: Context) -> OperationRecord:
    # The last that is no rollback: a second rollback finds nothing to do instead of undoing the
    # first.
    for listing in reversed(context.operations.listings()):
        if listing.kind not in REVERSIBLE or not listing.status.state.has_record:
            continue
        record = context.operations.record(listing.operation_id)
        if ROLLS_BACK not in record.plan_text:
            return record
    raise InvalidInputError(
        "No reassignment on record can be rolled back.", next_step=command("history")
    )
