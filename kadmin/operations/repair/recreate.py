"""Plans the recreation of deleted topics, from the recipes that the deletion recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.operations.record.record import OperationKind
from kadmin.plan.model import PlanHeader, RecreationPlan

if TYPE_CHECKING:
    from kadmin.operations.context import Context

RECREATES = "kadmin/recreates"
"""The label that names, in a recipe, the deletion that it undoes."""


def plan_recreation(context: Context, operation_id: str) -> RecreationPlan:
    """Return the recipes of the topics that an operation deleted.

    Raises InvalidInputError for other operations.
    """
    context.backend.check()
    context.operations.status(operation_id)  # raises where there is no such operation
    record = context.operations.record(operation_id)
    if record.kind is not OperationKind.DELETION:
        raise InvalidInputError(
            f"Operation {operation_id} is no deletion; only deleted topics can be created again.",
            next_step=command("history"),
        )
    header = PlanHeader(
        name=f"recreate-{operation_id}",
        cluster_id=record.cluster_id,
        labels={RECREATES: operation_id},
    )
    return RecreationPlan(header, record.recipes)
