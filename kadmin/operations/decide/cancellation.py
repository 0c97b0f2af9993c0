"""Rules of ending reassignments of other tools; the first row that matches counts.

=======================================================  ===========================================
seen                                                     action
=======================================================  ===========================================
a pending request that cannot be read                    Finish: heal first
no controller                                            Wait
a request with entries of others that have not begun     Finish: with their names
requested with another list than ours, or not by us      TakeBack: the request is superseded
in flight without a request, not asked to end lately     TakeBack through the brokers; three times
                                                         where there is a request to stop: it may be
                                                         refused
asked to end through the API, and not as it was          TakeBack, again
asked to end, and on its way                             Wait
... with a request to stop, dead originals or a stall    Finish: failed, with the names
what cannot be taken back, when everything else is back  Finish: failed, with its name and why
every partition back, or its topic deleted               Finish: completed
anything else                                            Finish: failed, with the names
=======================================================  ===========================================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    PUBLISH_ATTEMPTS,
    STALLED_S,
    Finish,
    TakeBack,
    Wait,
    failed,
)
from kadmin.operations.decide.cancel_now import (
    copies_back,
    unfinished_returns,
    unreadable,
    why_left,
)
from kadmin.operations.decide.cancelled import by_reason
from kadmin.operations.decide.common import overdue
from kadmin.operations.decide.failures import dead_targets
from kadmin.operations.decide.foreign import by_api, requested
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import CancelStep
from kadmin.plan.model import ReassignmentPlan
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.record.record import OperationRecord
    from kadmin.plan.model import PartitionTarget


@dataclass(frozen=True, slots=True)
class CancellationWork(ListedOperationSpec):
    """Reassignments to end, as recorded.

    `replicas` are the original ones, `current` those when it was recorded.
    """

    targets: tuple[PartitionTarget, ...]

    @property
    def ended(self) -> tuple[PartitionTarget, ...]:
        """The reassignments that are ended: `replicas` are those that they would have added."""
        return tuple(
            replace(
                each,
                replicas=tuple(
                    broker for broker in each.current or () if broker not in each.replicas
                ),
            )
            for each in self.targets
        )

    def listed(self) -> tuple[TopicPartition, ...]:
        """Return the partitions whose reassignments are ended."""
        return tuple(target.partition for target in self.targets)

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the partitions that are not back."""
        return tuple(
            str(target.partition) for target in self.targets if not _is_back(target, state)
        )

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the cancellation."""
        state, pending = observed.state, observed.state.requests.reassignment
        if pending is not None and pending.entries is None:
            return unreadable(pending.channel_name, command("heal") + ", then " + command("resume"))
        if state.controller is None:
            return Wait("the cluster has no controller")
        away = [target for target in self.targets if not _is_back(target, state)]
        left = {
            each: why for each in away if (why := why_left(each.partition, each.replicas, observed))
        }
        away = [target for target in away if target not in left]
        tries = Counter(
            each
            for step in observed.steps
            if isinstance(step, CancelStep)
            for each in step.partitions
        )
        asked = [
            target
            for target in away
            if target.partition in tries
            and requested(state).get(target.partition) == target.replicas
        ]
        superseded = [
            each for each in away if each.partition in requested(state) and each not in asked
        ]
        running = [target for target in away if by_api(target, state)]
        if superseded:
            return _starts_others(self.targets, state) or _take_back(superseded)
        origin = {target.partition: target.replicas for target in self.targets}
        again = [
            target for target in away if target.partition in unfinished_returns(origin, observed)
        ]
        to_end = [each for each in running if not copies_back(each.partition, each.replicas, state)]
        enough = observed.request is not None and all(
            tries[each.partition] >= PUBLISH_ATTEMPTS for each in to_end
        )
        if any(target.partition not in tries for target in to_end) or (
            overdue(memory, now) and not enough
        ):
            again = to_end or again
        stalled = now - memory.changed_at >= STALLED_S
        if again and not (stalled and observed.request is not None):
            return _take_back(again, by_api=True)
        if asked or running:
            waits = _why_waiting(dead_targets(asked, state), stalled=stalled)
            return _going_back(away, waits, observed)
        end = _left(left) if left else _ended(self.targets, state)
        return _lost(away) if away else end


def _is_back(target: PartitionTarget, state: ClusterState) -> bool:
    replicas = state.replicas(target.partition)
    moving = target.partition in requested(state) or by_api(target, state)
    return replicas is None or (replicas == target.replicas and not moving)


def _take_back(targets: list[PartitionTarget], *, by_api: bool = False) -> TakeBack:
    return TakeBack({target.partition: target.replicas for target in targets}, by_api)


def _left(left: Mapping[PartitionTarget, str]) -> Finish:
    return failed(
        NotCompletedError(
            "; ".join(by_reason({target.partition: why for target, why in left.items()})) + ".",
            cause=(
                "these reassignments are left in flight, and every other one is back at its "
                "original replicas"
            ),
            next_step="start the original brokers, then " + command("cancel", "--foreign"),
        )
    )


def _starts_others(targets: tuple[PartitionTarget, ...], state: ClusterState) -> Finish | None:
    pending, ours = state.requests.reassignment, {target.partition for target in targets}
    begun = (
        []
        if pending is None
        else [partition for partition in pending.not_begun if partition not in ours]
    )
    if not begun:
        return None
    return failed(
        BusyError(
            f"The next controller would start other entries: {name_some(begun, most=20)}.",
            cause=(
                "ending a request moves the controller, which starts every pending entry; nothing "
                "was changed"
            ),
            next_step=command("cancel", "--foreign") + ", again: it then ends these, too",
        )
    )


def _lost(away: list[PartitionTarget]) -> Finish:
    return failed(
        NotCompletedError(
            "Not at their original replicas, and not moving there: "
            f"{name_some(each.partition for each in away)}.",
            cause=(
                "the reassignment was completed before it could be ended, or another tool started "
                "another one"
            ),
            next_step=command("inspect partitions"),
        )
    )


def _why_waiting(dead: list[int], *, stalled: bool) -> str | None:
    if dead:
        return f"the controller waits for original brokers that are not alive: {name_some(dead)}"
    return f"nothing has changed for {STALLED_S:g} s" if stalled else None


def _going_back(
    away: list[PartitionTarget], waits: str | None, observed: Observed
) -> Wait | Finish:
    if waits is None or observed.request is None:
        return Wait("going back to the original replicas", waits)
    # The controller may wait without end: the operation ends unsuccessfully, so that another can be
    # applied.
    return failed(
        NotCompletedError(
            "Still going back to the original replicas: "
            f"{name_some(target.partition for target in away)}.",
            cause=waits,
            next_step=command("cancel", "--foreign", "--origin", "FILE")
            + ", with replicas that are alive",
        )
    )


def _ended(targets: tuple[PartitionTarget, ...], state: ClusterState) -> Finish:
    gone = [target.partition for target in targets if state.replicas(target.partition) is None]
    back = len(targets) - len(gone)
    message = f"{count(back, 'reassignment')} of other tools ended, back at the original replicas"
    return Finish(
        OperationState.COMPLETED,
        message + (f"; deleted meanwhile: {name_some(gone)}" if gone else ""),
    )


def _fields(work: CancellationWork, _state: ClusterState) -> dict[str, Any]:
    return {"origin": {target.partition: target.replicas for target in work.targets}}


def _work_of(plan: ReassignmentPlan, _record: OperationRecord) -> CancellationWork:
    return CancellationWork(plan.reassignments)


CANCELLATION = PlanKind(
    OperationKind.CANCELLATION,
    ReassignmentPlan,
    scope=lambda plan: {target.partition.topic for target in plan.reassignments},
    spec_of=_work_of,
    fields=_fields,
    verdicts=lambda _plan, _state, _published: (),
)
