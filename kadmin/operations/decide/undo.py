"""The next step that undoes a reassignment that ended early, where it moved anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.next_step import command
from kadmin.operations.record.record import ROLLS_BACK
from kadmin.operations.record.steps import returned_by

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Observed
    from kadmin.plan.model import PartitionTarget, PlanHeader


def undo_of(operation_id: str, header: PlanHeader) -> NextStep:
    """Return the next step that undoes an operation; of a rollback also the one that completes it.

    The id is needed for a rollback: `kadmin rollback` without one skips rollbacks.
    """
    undo = command("rollback", operation_id) + ", to undo the moves that were completed"
    undone = header.labels.get(ROLLS_BACK)
    return undo if undone is None else command("rollback", undone) + ", to complete the rollback; or " + undo


def any_moved(published: Iterable[PartitionTarget], observed: Observed, read: Collection[str]) -> bool:
    """Whether a published target was reached.

    The topics that were `read` show it; of others, earlier waves count as reached, unless they were taken back.
    """
    state = observed.state
    taken_back = returned_by(observed.steps)
    return any(
        state.replicas(target.partition) == target.replicas
        if target.partition.topic in read
        else target.partition not in taken_back
        for target in published
    )
