"""The kinds of plans that operations execute.

There is an entry in KINDS for each, and a module beside this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.documents import dump_json, parse_document
from kadmin.documents.dump import plan_digest
from kadmin.errors import InvalidInputError, StalePlanError
from kadmin.next_step import command
from kadmin.operations.decide.cancellation import CANCELLATION
from kadmin.operations.decide.catch_up import CATCH_UP
from kadmin.operations.decide.decommission import DECOMMISSION, DecommissionWork
from kadmin.operations.decide.deletion import DELETION
from kadmin.operations.decide.election import ELECTION
from kadmin.operations.decide.growth import GROWTH
from kadmin.operations.decide.maintenance import MAINTENANCE
from kadmin.operations.decide.reassignment import REASSIGNMENT
from kadmin.operations.decide.recovery_plan import RECOVERY
from kadmin.operations.decide.recreation import RECREATION
from kadmin.operations.record.codec import decoding
from kadmin.operations.record.record import OperationKind, OperationRecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.spec import OperationSpec, PlanKind
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import Plan

KINDS: tuple[PlanKind[Any], ...] = (
    REASSIGNMENT,
    ELECTION,
    DELETION,
    RECREATION,
    MAINTENANCE,
    DECOMMISSION,
    RECOVERY,
    GROWTH,
)
_BY_PLAN = {each.plan: each for each in KINDS}
_BY_OPERATION = {each.kind: each for each in (*KINDS, CANCELLATION, CATCH_UP)}
"""A cancellation and a catch-up are kept as reassignments, and no plan file asks for one."""


def kind_of(plan: Plan) -> PlanKind[Any]:
    """Return the entry of a plan's kind."""
    return _BY_PLAN[type(plan)]


def plan_type(kind: OperationKind) -> type[Plan] | None:
    """Return the type of the plan that an operation executes.

    None for a heal, which has no plan, and for a catch-up, which executes none.
    """
    found = _BY_OPERATION.get(kind)
    return None if found is None or found is CATCH_UP else found.plan


def record_of(
    kind: PlanKind[Any], plan: Plan, work: OperationSpec, state: ClusterState, holder: Holder
) -> OperationRecord:
    """Return the record of a plan's operation, from which `spec_of` rebuilds its work."""
    record = OperationRecord(
        operation_id=holder.operation_id,
        kind=kind.kind,
        plan_text=dump_json(plan),
        plan_digest=plan_digest(plan),
        cluster_id=state.cluster_id,
        created_at=holder.started_at,
        author=holder.author,
        origin={},
        file_digest=None if plan.header.file is None else plan.header.file.digest,
    )
    return replace(record, **kind.fields(work, state))


def spec_of(record: OperationRecord, steps: Iterable[Step] = ()) -> OperationSpec:
    """Rebuild the work from a record alone, on any machine, with the rounds that `steps` added.

    Raises InvalidInputError for a heal, which has no plan, and StalePlanError where the recorded
    plan was edited.
    """
    if record.kind is OperationKind.HEAL:
        raise InvalidInputError(
            f"Operation {record.operation_id} is a heal and has no plan.", next_step=command("heal")
        )
    plan = parse_document(record.plan_text.encode(), f"operation {record.operation_id}")
    if plan_digest(plan) != record.plan_digest:
        raise StalePlanError(
            f"The plan of operation {record.operation_id} is not the plan that was applied.",
            cause=(
                f"its record was edited: {record.plan_digest} was written, {plan_digest(plan)} is "
                "there"
            ),
            next_step=command("history"),
        )
    kind = _BY_OPERATION[record.kind]
    if not isinstance(plan, kind.plan):
        raise InvalidInputError(
            f"Operation {record.operation_id} has no plan that can be executed."
        )
    with decoding(f"The record of operation {record.operation_id}"):
        work = kind.spec_of(plan, record)
    return work.with_rounds(steps) if isinstance(work, DecommissionWork) else work
