"""Rules of a reassignment. One wave is looked at at a time; the first row that fits, counts.

========================================================  =============================================
seen                                                      action
========================================================  =============================================
every partition done                                      elect where asked, then Advance
our own probe still in the node                           Wait, past the deadline Finish: deaf, resumable
entries in the node that are not ours                     Finish: busy, can be resumed
our node, nothing changed, past the pickup deadline       Finish: not picked up, can be resumed
our node                                                  Wait
a partition running, and no union left behind             Wait
a union without a node (up to 2.3)                        PublishWave again: it repairs
a partition stale                                         Finish: failed, stale plan
published, node gone, a partition unchanged               Finish: failed, rejected by the controller
a partition waiting, a target broker not alive            Finish: failed, names broker and substitute
a partition waiting, and new trouble on the cluster       Wait: the health gate, from the second wave on
a partition waiting                                       AskListening, then PublishWave
only settled partitions left                              Wait for the ISR
========================================================  =============================================

After the last wave every partition of the plan is looked at once more, then leaders are elected where asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS
from kadmin.errors import NotCompletedError, StalePlanError, name_some
from kadmin.operations.decide.actions import HEALTH_POLL_S, STALLED_S, Advance, AskHealth, Finish, PublishWave, Wait
from kadmin.operations.decide.common import before_publish, foreign_node, not_picked_up, overdue, probe_unanswered
from kadmin.operations.decide.election import elect_scope, election_result
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.operations.zookeeper.probe import is_probe
from kadmin.plan.model import Elect
from kadmin.plan.progress import Progress, in_flight, is_union, judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.model import AdminNode, ClusterState
    from kadmin.operations.decide.actions import Action, Memory, Observed, ReassignmentWork
    from kadmin.plan.model import PartitionTarget

    Found = dict[Progress, list[PartitionTarget]]


def decide_reassignment(work: ReassignmentWork, observed: Observed, memory: Memory, now: float) -> Action:
    """Decide the next action; `observed` holds at least the topics of wave `memory.wave`, after the last wave all."""
    if memory.wave >= len(work.waves):
        return _decide_end(work, observed, memory, now)
    published = any(step.kind is StepKind.WAVE and step.wave == memory.wave for step in observed.steps)
    wave = work.waves[memory.wave]
    found = _sort(wave, observed.state, published=published)
    if len(found[Progress.DONE]) == len(wave):
        if work.elect is Elect.AFTER_EACH_WAVE:
            action = elect_scope([target.partition for target in wave], observed, memory, now)
            if action is not None:
                return action
        return Advance(memory.wave + 1)
    node = observed.state.admin.reassignment
    if node is not None:
        return _with_node(node, observed, memory, now, wave, found)
    return _without_node(observed, memory, now, found, published=published)


def _sort(targets: Iterable[PartitionTarget], state: ClusterState, *, published: bool) -> Found:
    found: Found = {progress: [] for progress in Progress}
    for target in targets:
        found[judge(target, state, published=published)].append(target)
    return found


def _with_node(
    node: AdminNode, observed: Observed, memory: Memory, now: float, wave: Sequence[PartitionTarget], found: Found
) -> Action:
    pending = len(wave) - len(found[Progress.DONE])
    if is_probe(node) and observed.steps and observed.steps[-1].kind is StepKind.PROBE:
        if overdue(memory, now):
            return probe_unanswered(REASSIGN_PARTITIONS)
        return Wait("the controller has not answered the probe yet", pending)
    ours = {target.partition: target.replicas for target in wave}
    if node.entries is None or any(ours.get(partition) != replicas for partition, replicas in node.entries.items()):
        return foreign_node(REASSIGN_PARTITIONS)
    untouched = node.version == 0 and all(
        observed.state.replicas(target.partition) == target.current
        for target in wave
        if target.partition in node.entries
    )
    if not untouched:
        return _copying(found, observed, memory, now)
    if overdue(memory, now):
        return not_picked_up(REASSIGN_PARTITIONS)
    return Wait("waiting for the controller", pending)


def _without_node(observed: Observed, memory: Memory, now: float, found: Found, *, published: bool) -> Action:
    state = observed.state
    running, waiting, stale = found[Progress.RUNNING], found[Progress.WAITING], found[Progress.STALE]
    unions = [target for target in running if _left_behind(target, state)]
    if len(unions) < len(running):
        return _copying(found, observed, memory, now)
    if unions:
        return _publish(unions, observed, memory)
    if stale:
        return _stale(stale, state)
    if waiting and published:
        return _rejected(waiting)
    if waiting:
        return _health_gate(observed, memory, now, len(waiting)) or _publish(waiting, observed, memory)
    return _out_of_sync(found)


def _publish(targets: Sequence[PartitionTarget], observed: Observed, memory: Memory) -> Action:
    dead = _dead_targets(targets, observed.state)
    if dead:
        return _dead_target(dead, targets, observed.state)
    blocked = before_publish(REASSIGN_PARTITIONS, observed, memory, len(targets))
    return blocked or PublishWave(memory.wave, tuple(targets))


def _health_gate(observed: Observed, memory: Memory, now: float, pending: int) -> Action | None:
    # Before the first wave the record was written on the very state that it would be compared with.
    if not any(step.kind is StepKind.WAVE for step in observed.steps):
        return None
    seen = memory.health
    if seen is None or seen.wave != memory.wave or (seen.trouble and now - seen.at >= HEALTH_POLL_S):
        return AskHealth()
    return Wait(f"health gate: {'; '.join(seen.trouble)}", pending) if seen.trouble else None


def _copying(found: Found, observed: Observed, memory: Memory, now: float) -> Wait:
    names = _open(found)
    dead = _dead_targets(found[Progress.RUNNING], observed.state)
    stalled_min = int((now - memory.changed_at) // STALLED_S)
    reason = "copying"
    if dead:
        reason = f"target brokers not alive, the controller waits for them: {name_some(dead)}"
    elif stalled_min:
        reason = f"stalled: no ISR has grown for {stalled_min} min: {name_some(names, most=3)}"
    return Wait(reason, len(names))


def _out_of_sync(found: Found) -> Wait:
    return Wait("under-replicated at the target, waiting for the in-sync replicas", len(_open(found)))


def _open(found: Found) -> tuple[str, ...]:
    pending = (target.partition for progress in Progress if progress is not Progress.DONE for target in found[progress])
    return tuple(map(str, sorted(pending)))


def _decide_end(work: ReassignmentWork, observed: Observed, memory: Memory, now: float) -> Action:
    found = _sort(work.targets, observed.state, published=True)
    lost = [*found[Progress.STALE], *found[Progress.WAITING]]
    if lost:
        return _stale(lost, observed.state)
    if len(found[Progress.DONE]) < len(work.targets):
        return _out_of_sync(found)
    partitions = [target.partition for target in work.targets]
    if work.elect is Elect.AT_END:
        action = elect_scope(partitions, observed, memory, now)
        if action is not None:
            return action
    if work.elect is not Elect.NONE:
        return election_result(partitions, observed, f"{len(partitions)} partitions at their target")
    return Finish(OperationState.COMPLETED, f"{len(partitions)} partitions at their target")


def _left_behind(target: PartitionTarget, state: ClusterState) -> bool:
    topic, number = state.topics[target.partition.topic], target.partition.partition
    moving = number in topic.adding_replicas or number in topic.removing_replicas
    return not moving and is_union(target, topic.replicas[number])


def _stale(targets: Sequence[PartitionTarget], state: ClusterState) -> Finish:
    gone = [target.partition for target in targets if state.replicas(target.partition) is None]
    found = ", ".join(f"{w.partition} has {list(state.replicas(w.partition) or ())}" for w in targets[:3])
    return Finish(
        OperationState.FAILED,
        f"stale: {name_some(target.partition for target in targets)}",
        StalePlanError(
            f"{len(targets)} partitions of the plan were changed by others: {name_some(w.partition for w in targets)}.",
            cause=f"no longer there: {name_some(gone)}" if gone else found + _elsewhere(targets, state),
            next_command="make the plan again from the cluster as it is now",
        ),
    )


def _elsewhere(targets: Sequence[PartitionTarget], state: ClusterState) -> str:
    moving = sorted({target.partition for target in targets} & set(in_flight(state)))
    return f"; superseded by another reassignment that runs now: {name_some(moving)}" if moving else ""


def _rejected(targets: Sequence[PartitionTarget]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"rejected by the controller: {name_some(target.partition for target in targets)}",
        NotCompletedError(
            f"The controller removed the node and left {len(targets)} partitions as they were: "
            f"{name_some(target.partition for target in targets)}.",
            cause="rejected by the controller (its log on the controller's broker says why)",
            next_command="kadmin verify FILE, then apply again",
        ),
    )


def _dead_targets(targets: Iterable[PartitionTarget], state: ClusterState) -> list[int]:
    """Return the brokers that should hold a copy, new or kept, and are not alive."""
    return sorted({broker for target in targets for broker in target.replicas} - set(state.brokers))


def _dead_target(dead: Sequence[int], targets: Sequence[PartitionTarget], state: ClusterState) -> Finish:
    used = {broker for target in targets for broker in target.replicas}
    substitute = min(set(state.brokers) - used, default=min(state.brokers, default=None))
    return Finish(
        OperationState.FAILED,
        f"target brokers not alive: {name_some(dead)}",
        StalePlanError(
            f"Target brokers are not alive: {name_some(dead)}. The controller would wait for them for ever.",
            cause=f"no registration below /brokers/ids; alive are {name_some(sorted(state.brokers), most=20)}",
            next_command=f"start broker {dead[0]}, or plan with broker {substitute} instead",
        ),
    )
