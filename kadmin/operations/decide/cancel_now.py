"""Rules of `cancel --now`: what is in flight returns to its original ordered replicas.

Partitions that reached their target stay there; `rollback` returns those.

========================================================  =============================================
seen                                                      action
========================================================  =============================================
a pending request that cannot be read                     Finish: heal first
in flight to our target, and not taken back yet           the checks below, then TakeBack
taken back, then overwritten by the old controller        the same again
taken back through the API, and in flight or reordered    the same again
taken back, and neither back nor on its way               Finish: with its name
taken back, on its way, but waits for dead brokers        Finish: with their names
taken back, on its way                                    Wait
nothing of ours in flight                                 Finish: cancelled
========================================================  =============================================

Before a TakeBack each partition must keep a live in-sync replica, and pending entries of other tools that the next
controller would start need `--allow-foreign`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kadmin.errors import BusyError, NotCompletedError, count, name_some
from kadmin.operations.decide.actions import Finish, TakeBack, Wait, unfinished
from kadmin.operations.decide.common import made_again
from kadmin.operations.decide.reassignment import published_targets
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.plan.progress import Progress, judge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Assignment, ClusterState, Replicas, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Observed
    from kadmin.operations.decide.reassignment import ReassignmentWork
    from kadmin.operations.record.record import Step
    from kadmin.plan.model import PartitionTarget


CancelAction: TypeAlias = TakeBack | Wait | Finish


def decide_cancel(work: ReassignmentWork, observed: Observed, *, allow_foreign: bool) -> CancelAction:
    """Decide the next action; `observed` holds every topic that the work or the pending request names."""
    state, pending = observed.state, observed.state.requests.reassignment
    if pending is not None and pending.entries is None:
        return unreadable(pending.place, "kadmin heal, then kadmin cancel --now")
    listed = _listed(state)
    targets = published_targets(work, observed.steps)
    moving = [target for target in targets if judge(target, state, published=True) is Progress.RUNNING]
    todo = [target for target in moving if listed.get(target.partition) != target.current]
    asked = {p for step in observed.steps if step.kind is StepKind.CANCEL for p in step.partitions}
    back = {target.partition: target.current for target in targets if target.current and target.partition in asked}
    origin = {target.partition: target.current for target in todo if target.current is not None}
    origin |= unfinished_returns(back, observed)
    if origin:
        error = _refusal(work, origin, state, allow_foreign=allow_foreign)
        again = dict.fromkeys(made_again(origin, observed), ())
        return TakeBack({**origin, **again}) if error is None else unfinished(error)
    return _follow([target for target in targets if target.partition in asked], observed)


def unfinished_returns(origin: Assignment, observed: Observed) -> Assignment:
    """Return what of `origin` was asked for through the API, and is in flight still, or in another order.

    From Kafka 4.3 on, the original list leaves the reassignment in flight until it is asked to end.
    """
    last = {
        p: step for step in observed.steps if step.kind is StepKind.CANCEL and step.sending for p in step.partitions
    }
    return {p: replicas for p, replicas in origin.items() if p in last and _unfinished(p, replicas, last[p], observed)}


def _unfinished(partition: TopicPartition, original: Replicas, asked: Step, observed: Observed) -> bool:
    topic, number = observed.state.topics.get(partition.topic), partition.partition
    if topic is None or number not in topic.replicas:
        return False
    if number in topic.adding_replicas or number in topic.removing_replicas:
        return topic.target(number) == original
    now = topic.replicas[number]
    return now != original and sorted(now) == sorted(original) and partition not in asked.refused


def _listed(state: ClusterState) -> Assignment:
    pending = state.requests.reassignment
    return {} if pending is None or pending.entries is None else pending.entries


def _refusal(
    work: ReassignmentWork, origin: Mapping[TopicPartition, Replicas], state: ClusterState, *, allow_foreign: bool
) -> KadminError | None:
    lost = [partition for partition, replicas in origin.items() if not survives(partition, replicas, state)]
    if lost:
        return NotCompletedError(
            f"No original replica of {name_some(lost)} is alive and in sync; cancelling would lose data.",
            cause="nothing was changed",
            next_command="kadmin resume, to complete the reassignment; or start the original brokers",
        )
    ours = {target.partition: {target.replicas, target.current} for target in work.targets}
    pending = state.requests.reassignment
    others = {
        partition: replicas
        for partition, replicas in _listed(state).items()
        if partition not in origin and replicas not in ours.get(partition, ())
    }
    repeating = [
        partition for partition, replicas in others.items() if len(set(replicas)) < len(replicas) or not replicas
    ]
    if repeating and pending is not None:
        return NotCompletedError(
            f"{pending.place} has invalid entries of other tools: {name_some(repeating)}.",
            cause="a list is empty or names a broker twice; nothing was changed",
            next_command="kadmin heal",
        )
    begun = [] if pending is None else [partition for partition in pending.not_begun if partition in others]
    if not begun or allow_foreign:
        return None
    return BusyError(
        f"The next controller would start entries of other tools: {name_some(begun, most=20)}.",
        cause="cancelling moves the controller, which starts every pending entry; nothing was changed",
        next_command="kadmin cancel --now --allow-foreign, if they may start",
    )


def survives(partition: TopicPartition, original: Replicas, state: ClusterState) -> bool:
    """Whether one of the original replicas is alive and in sync: without one, going back would lose data."""
    found = state.states.get(partition)
    return found is not None and bool(set(found.isr) & set(original) & set(state.brokers))


def _follow(targets: list[PartitionTarget], observed: Observed) -> Wait | Finish:
    state = observed.state
    back = [replace(target, current=target.replicas, replicas=target.current or ()) for target in targets]
    pending = {target: judge(target, state, published=True) for target in back}
    pending = {target: verdict for target, verdict in pending.items() if verdict is not Progress.DONE}
    lost = [w.partition for w, verdict in pending.items() if verdict in {Progress.WAITING, Progress.STALE}]
    if lost:
        return _not_back(lost)
    dead = {target.partition: sorted(set(target.replicas) - set(state.brokers)) for target in pending}
    if pending and all(dead.values()):
        settled = all(verdict is Progress.SETTLED for verdict in pending.values())
        if not settled or observed.unchanged_means_rejected:
            return _waits_for_brokers(dead)
    elif pending:
        return Wait("going back to the original replicas", len(pending))
    if not back:
        return Finish(OperationState.CANCELLED, "nothing was in flight")
    short = f"; not in sync, since brokers are not alive: {name_some(dead)}" if dead else ""
    done = f"{count(len(back), 'partition')} back at the original replicas"
    return Finish(OperationState.CANCELLED, done + short)


def unreadable(place: str, next_command: str) -> Finish:
    """Finish: the pending request cannot be read, so it cannot be superseded."""
    error = NotCompletedError(
        f"{place} cannot be decoded, so it is not replaced.",
        cause="moving the controller now could start an election loop; nothing was changed",
        next_command=next_command,
    )
    return unfinished(error)


def _not_back(lost: list[TopicPartition]) -> Finish:
    error = NotCompletedError(
        f"Not at their original replicas, and not moving there: {name_some(lost)}.",
        cause="the controller dropped them, or another tool reassigned them",
        next_command="kadmin rollback",
    )
    return Finish(OperationState.CANCELLED, f"cancelled, but {count(len(lost), 'partition')} elsewhere", error)


def _waits_for_brokers(dead: Mapping[TopicPartition, list[int]]) -> Finish:
    brokers = sorted({broker for each in dead.values() for broker in each})
    error = NotCompletedError(
        f"The original replicas of {name_some(dead)} are on brokers that are not alive: {name_some(brokers)}.",
        cause="the controller waits for these brokers",
        next_command="start the brokers, then kadmin cancel --now",
    )
    return unfinished(error)
