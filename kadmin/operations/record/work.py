"""From a record back to the work: what any machine needs to take an operation over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.documents import parse_document, plan_digest
from kadmin.errors import InvalidInputError, StalePlanError
from kadmin.operations.decide.actions import DeletionWork, ElectionWork, ReassignmentWork, RecreationWork
from kadmin.operations.record.record import OperationKind
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan, RecreationPlan

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Work
    from kadmin.operations.record.record import OperationRecord


def work_of(record: OperationRecord) -> Work:
    """Rebuild the work from a record alone: targets of the plan, currents of the origin."""
    if record.kind is OperationKind.HEAL:
        raise InvalidInputError(
            f"Operation {record.operation_id} heals the cluster; it holds no plan.", next_command="kadmin heal"
        )
    plan = parse_document(record.plan_text.encode(), f"operation {record.operation_id}")
    if plan_digest(plan) != record.plan_digest:
        raise StalePlanError(
            f"The plan of operation {record.operation_id} is not the one that was applied.",
            cause=f"its record was edited: {record.plan_digest} was written, {plan_digest(plan)} is there",
            next_command=f"kadmin history, and look at the znodes of {record.operation_id}",
        )
    if isinstance(plan, ReassignmentPlan):
        targets = tuple(replace(target, current=record.origin[target.partition]) for target in plan.reassignments)
        waves = tuple(tuple(targets[position] for position in wave) for wave in record.waves)
        return ReassignmentWork(waves, targets, plan.elect)
    if isinstance(plan, ElectionPlan):
        return ElectionWork(record.targets)
    if isinstance(plan, DeletionPlan):
        return DeletionWork(plan)
    if isinstance(plan, RecreationPlan):
        return RecreationWork(plan)
    raise InvalidInputError(f"Operation {record.operation_id} holds no plan that can be executed.")
