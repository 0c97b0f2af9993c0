"""Rules of `cancel --now`: what is in flight goes back to the very list that it came from.

The running controller never looks at a node again, so the node gets the original lists and the controller is moved: its
successor begins with them. Every other entry stays as it is, in order and value: controllers up to 2.3 forget what is
not in the node. Partitions that reached their target stay there; `rollback` takes those back.

========================================================  =============================================
seen                                                      action
========================================================  =============================================
a node that does not decode                               Finish: heal it first
in flight to our target, and not superseded yet           the checks below, then Supersede
superseded, and the old controller wrote over that        the same again
superseded, and neither back nor on its way               Finish: with its name
superseded, on its way, but waits for dead brokers        Finish: with their names
superseded, on its way                                    Wait
nothing of ours in flight                                 Finish: cancelled
========================================================  =============================================

Before a Supersede each partition must keep a live in-sync replica, and entries of others that the next controller
would begin with are named and need a waiver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS
from kadmin.errors import BusyError, NotCompletedError, name_some
from kadmin.operations.decide.actions import Finish, Wait
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.operations.zookeeper.probe import PROBE_PARTITION
from kadmin.plan.progress import Progress, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import Assignment, ClusterState, Replicas, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Observed, ReassignmentWork
    from kadmin.plan.model import PartitionTarget

ADDING_AND_REMOVING_SINCE = 2
"""The topic znode's own version from which it says what is being added and removed (Kafka 2.4)."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Write these entries, which take back `partitions`; `node_version` is None where the node is absent."""

    partitions: tuple[TopicPartition, ...]
    entries: Assignment
    node_version: int | None


CancelAction: TypeAlias = Supersede | Wait | Finish


def decide_cancel(work: ReassignmentWork, observed: Observed, *, allow_foreign: bool) -> CancelAction:
    """Decide the next action of `cancel --now`; `observed` holds every topic that the work or the node names."""
    state, node = observed.state, observed.state.admin.reassignment
    if node is not None and node.entries is None:
        return _unreadable()
    listed = node.entries or {} if node is not None else {}
    targets = list(_published(work, observed))
    moving = [target for target in targets if judge(target, state, published=True) is Progress.RUNNING]
    todo = [target for target in moving if listed.get(target.partition) != target.current]
    if todo:
        origin = {target.partition: target.current for target in todo if target.current is not None}
        error = _refusal(work, origin, state, allow_foreign=allow_foreign)
        if error is not None:
            return Finish(OperationState.RUNNING, "not cancelled", error)
        version = None if node is None else node.version
        return Supersede(tuple(origin), {**listed, **origin}, version)
    asked = {p for step in observed.steps if step.kind is StepKind.CANCEL for p in step.partitions}
    return _follow([target for target in targets if target.partition in asked], state)


def would_start(listed: Assignment, state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the entries that nobody is at work on yet, and a new controller would be."""
    return tuple(partition for partition, target in listed.items() if _would_start(partition, target, state))


def _published(work: ReassignmentWork, observed: Observed) -> Iterator[PartitionTarget]:
    waves = {step.wave for step in observed.steps if step.kind is StepKind.WAVE}
    return (target for index in sorted(wave for wave in waves if wave is not None) for target in work.waves[index])


def _refusal(
    work: ReassignmentWork, origin: Mapping[TopicPartition, Replicas], state: ClusterState, *, allow_foreign: bool
) -> KadminError | None:
    lost = [partition for partition, replicas in origin.items() if not _survives(partition, replicas, state)]
    if lost:
        return NotCompletedError(
            f"No original replica of {name_some(lost)} is alive and in sync; cancelling would lose data.",
            cause="nothing was changed",
            next_command="kadmin resume, to let the reassignment end; or start the original brokers first",
        )
    ours = {target.partition: {target.replicas, target.current} for target in work.targets}
    node = state.admin.reassignment
    listed = (node.entries or {}) if node is not None else {}
    others = {
        partition: replicas
        for partition, replicas in listed.items()
        if partition not in origin and replicas not in ours.get(partition, ())
    }
    repeating = [
        partition for partition, replicas in others.items() if len(set(replicas)) < len(replicas) or not replicas
    ]
    if repeating:
        return NotCompletedError(
            f"{REASSIGN_PARTITIONS} holds entries of others that no controller should read: {name_some(repeating)}.",
            cause="a list is empty or names a broker twice; nothing was changed",
            next_command="kadmin heal",
        )
    begun = would_start(others, state)
    if not begun or allow_foreign:
        return None
    return BusyError(
        f"The next controller would begin with what others left in the node: {name_some(begun, most=20)}.",
        cause="cancelling moves the controller, which starts every entry of the node; nothing was changed",
        next_command="kadmin cancel --now --allow-foreign, if they may start",
    )


def _survives(partition: TopicPartition, original: Replicas, state: ClusterState) -> bool:
    found = state.states.get(partition)
    return found is not None and bool(set(found.isr) & set(original) & set(state.brokers))


def _would_start(partition: TopicPartition, target: Replicas, state: ClusterState) -> bool:
    topic, replicas = state.topics.get(partition.topic), state.replicas(partition)
    if topic is None or replicas is None or partition == PROBE_PARTITION or replicas == target:
        return False  # a controller drops it
    if topic.format_version >= ADDING_AND_REMOVING_SINCE:
        number = partition.partition
        return number not in topic.adding_replicas and number not in topic.removing_replicas
    return not set(target) < set(replicas)


def _follow(targets: list[PartitionTarget], state: ClusterState) -> Wait | Finish:
    back = [replace(target, current=target.replicas, replicas=target.current or ()) for target in targets]
    pending = {target: judge(target, state, published=True) for target in back}
    pending = {target: verdict for target, verdict in pending.items() if verdict is not Progress.DONE}
    lost = [w.partition for w, verdict in pending.items() if verdict in {Progress.WAITING, Progress.STALE}]
    if lost:
        return _not_back(lost)
    dead = {target.partition: sorted(set(target.replicas) - set(state.brokers)) for target in pending}
    if pending and all(dead.values()):
        return _waits_for_brokers(dead)
    if pending:
        return Wait("going back to the original replicas", len(pending))
    if not back:
        return Finish(OperationState.CANCELLED, "cancelled; nothing was in flight")
    return Finish(OperationState.CANCELLED, f"cancelled; {len(back)} partitions are back at their original replicas")


def _unreadable() -> Finish:
    error = NotCompletedError(
        f"{REASSIGN_PARTITIONS} holds what no controller should read, so it cannot be superseded.",
        cause="moving the controller now could loop elections; nothing was changed",
        next_command="kadmin heal, then kadmin cancel --now",
    )
    return Finish(OperationState.RUNNING, "not cancelled", error)


def _not_back(lost: list[TopicPartition]) -> Finish:
    error = NotCompletedError(
        f"{len(lost)} partitions are neither at their original replicas nor on the way there: {name_some(lost)}.",
        cause="the controller dropped them, or somebody else reassigned them meanwhile",
        next_command="kadmin rollback",
    )
    return Finish(OperationState.CANCELLED, f"cancelled, but {len(lost)} partitions are elsewhere", error)


def _waits_for_brokers(dead: Mapping[TopicPartition, list[int]]) -> Finish:
    brokers = sorted({broker for each in dead.values() for broker in each})
    error = NotCompletedError(
        f"{len(dead)} partitions go back to their original replicas when brokers {name_some(brokers)} are alive again.",
        cause=f"the controller waits for the original replicas of {name_some(dead)}",
        next_command="start the brokers, then kadmin cancel --now again, to see it end",
    )
    return Finish(OperationState.RUNNING, "waits for brokers", error)
