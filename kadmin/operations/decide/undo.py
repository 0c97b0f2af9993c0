"""The next step that undoes a reassignment that ended early, where it moved anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.record.record import ROLLS_BACK, StepKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kadmin.operations.decide.actions import Observed
    from kadmin.plan.model import PartitionTarget, PlanHeader


def undo_of(operation_id: str, header: PlanHeader) -> str:
    """Return the next step that undoes an operation; of a rollback also the one that completes it.

    The id is needed for a rollback: `kadmin rollback` without one skips rollbacks.
    """
    undo = f"kadmin rollback {operation_id}, to undo the moves that were completed"
    undone = header.labels.get(ROLLS_BACK)
    return undo if undone is None else f"kadmin rollback {undone}, to complete the rollback; or {undo}"


def any_moved(published: Iterable[PartitionTarget], observed: Observed, read: Collection[str]) -> bool:
    """Whether a published target was reached.

    The topics that were `read` show it; of others, earlier waves count as reached, unless they were taken back.
    """
    state = observed.state
    taken_back = {p for step in observed.steps if step.kind is StepKind.CANCEL for p in step.partitions}
    return any(
        state.replicas(target.partition) == target.replicas
        if target.partition.topic in read
        else target.partition not in taken_back
        for target in published
    )
