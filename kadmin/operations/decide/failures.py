"""Failures of a reassignment, and the undo.

Changed by others, not accepted by the controller, target brokers not alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.next_step import command
from kadmin.operations.decide.actions import failed
from kadmin.operations.decide.common import made_again
from kadmin.operations.record.record import ROLLS_BACK
from kadmin.operations.record.steps import returned_by
from kadmin.plan.progress import in_flight
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Finish, Observed
    from kadmin.plan.model import PartitionTarget, PlanHeader


def changed_by_others(
    stale: Sequence[PartitionTarget],
    observed: Observed,
    planned: Iterable[PartitionTarget],
    rollback: NextStep | None,
    first: NextStep | str = "",
    cancelled: Collection[TopicPartition] = (),
) -> Finish:
    """Finish: partitions are neither as planned nor at their target, or their topic was recreated.

    Of a topic that lost partitions, all that were `planned` and deleted are named. `cancelled`
    partitions have their planned replicas again, after the controller had accepted their
    reassignment. `rollback` and `first` are parts of the next step.
    """
    state, targets = observed.state, _with_deleted(stale, planned, observed.state)
    again_made = made_again((target.partition for target in targets), observed)
    gone = [target.partition for target in targets if state.replicas(target.partition) is None]
    found = ", ".join(
        f"{w.partition} has {list(state.replicas(w.partition) or ())}" for w in targets[:3]
    )
    again = (
        f"; their topic was deleted and made again: {name_some(sorted(again_made))}"
        if again_made
        else ""
    )
    again += (
        f"; accepted, and cancelled by another client: {name_some(sorted(cancelled))}"
        if cancelled
        else ""
    )
    next_step = first + command("diff", "FILE") + ", to see what changed"
    return failed(
        StalePlanError(
            "Changed by others since the plan was made: "
            f"{name_some(w.partition for w in targets)}.",
            cause=f"deleted: {name_some(gone)}"
            if gone
            else found + again + _elsewhere(targets, state),
            next_step=next_step + "; " + rollback if rollback else next_step,
        )
    )


def rejected(targets: Sequence[PartitionTarget], cause: str) -> Finish:
    """Finish: the controller did not accept targets."""
    return failed(
        NotCompletedError(
            "The controller did not accept the reassignment of "
            f"{count(len(targets), 'partition')}: "
            f"{name_some(target.partition for target in targets)}.",
            cause=cause,
            next_step=command("verify", "FILE") + ", then " + command("apply", "FILE"),
        )
    )


def dead_targets(targets: Iterable[PartitionTarget], state: ClusterState) -> list[int]:
    """Return the brokers that should hold a copy, new or kept, and are not alive."""
    return sorted({broker for target in targets for broker in target.replicas} - set(state.brokers))


def dead_target(
    dead: Sequence[int], targets: Sequence[PartitionTarget], state: ClusterState
) -> Finish:
    """Finish: the controller would wait for dead brokers."""
    used = {broker for target in targets for broker in target.replicas}
    substitute = min(set(state.brokers) - used, default=min(state.brokers, default=None))
    return failed(
        StalePlanError(
            f"Target brokers are not alive: {name_some(dead)}. The controller would wait for them "
            "without end.",
            cause=f"alive are {name_some(sorted(state.brokers), most=20)}",
            next_step=f"start broker {dead[0]}, or plan with broker {substitute} instead",
        )
    )


def _elsewhere(targets: Sequence[PartitionTarget], state: ClusterState) -> str:
    moving = sorted({target.partition for target in targets} & set(in_flight(state)))
    return f"; being reassigned by another tool: {name_some(moving)}" if moving else ""


def _with_deleted(
    stale: Collection[PartitionTarget], targets: Iterable[PartitionTarget], state: ClusterState
) -> list[PartitionTarget]:
    """Return stale targets with those of every wave that were deleted from the same topics.

    They are in the plan's order.
    """
    gone = {target.partition.topic for target in stale if state.replicas(target.partition) is None}
    return [
        target
        for target in targets
        if target in stale
        or (target.partition.topic in gone and state.replicas(target.partition) is None)
    ]


def undo_of(operation_id: str, header: PlanHeader) -> NextStep:
    """Return the next step that undoes an operation; of a rollback also the one that completes it.

    The id is needed for a rollback: `kadmin rollback` without one skips rollbacks.
    """
    undo = command("rollback", operation_id) + ", to undo the moves that were completed"
    undone = header.labels.get(ROLLS_BACK)
    return (
        undo
        if undone is None
        else command("rollback", undone) + ", to complete the rollback; or " + undo
    )


def any_moved(
    published: Iterable[PartitionTarget], observed: Observed, read: Collection[str]
) -> bool:
    """Whether a published target was reached.

    The topics that were `read` show it; of others, earlier waves count as reached, unless they were
    taken back.
    """
    state = observed.state
    taken_back = returned_by(observed.steps)
    return any(
        state.replicas(target.partition) == target.replicas
        if target.partition.topic in read
        else target.partition not in taken_back
        for target in published
    )
