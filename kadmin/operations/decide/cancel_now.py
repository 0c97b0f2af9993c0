"""Rules of `cancel --now`.

Partitions in flight return to their original ordered replicas, as far as nothing is lost.
Partitions that reached their target stay there; `rollback` returns those.

======================================================  ============================================
seen                                                    action
======================================================  ============================================
brokers that the operation cordoned                     Errand: uncordon
replicas on their way to other disks                    PublishLogDirs: they stay where they are
a pending request that cannot be read                   Finish: heal first
in flight to our target, and not taken back yet         the checks below, then TakeBack
taken back, then overwritten by the old controller      the same again
taken back through the API, and in flight or reordered  the same again, unless original replicas are
                                                        added
taken back, on its way                                  Wait
... past the pickup deadline, for dead brokers alone    Finish: cancelled, with its name
... and has stalled                                     Finish: cancelled, with its name
taken back, and neither back nor on its way             Finish: cancelled, with its name
nothing of ours left to take back                       Finish: cancelled
======================================================  ============================================

A partition whose way back would lose data, or that the controller does not take back, is left in
flight and named at the end (`why_left`). Before a TakeBack, pending entries of other tools that the
next controller would start, or that name a broker twice, need `--allow-foreign`. A refusal changes
nothing; every other end frees the lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    STALLED_S,
    Finish,
    PublishLogDirs,
    RunErrand,
    TakeBack,
    Wait,
    unfinished,
)
from kadmin.operations.decide.cancelled import cancelled, way_back
from kadmin.operations.decide.common import made_again, overdue
from kadmin.operations.decide.ended_moves import end_moves
from kadmin.operations.decide.reassignment import published_targets
from kadmin.operations.record.steps import CancelStep, returned_by
from kadmin.plan.progress import Progress, judge
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import (
        Assignment,
        ClusterState,
        PendingRequest,
        Replicas,
        TopicPartition,
    )
    from kadmin.errors import KadminError
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.decide.reassignment import ReassignmentWork
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import PartitionTarget


CancelAction: TypeAlias = RunErrand | PublishLogDirs | TakeBack | Wait | Finish


def decide_cancel(
    work: ReassignmentWork, observed: Observed, memory: Memory, now: float, *, allow_foreign: bool
) -> CancelAction:
    """Decide the next action.

    `observed` holds every topic that the work or the pending request names.
    """
    state, pending = observed.state, observed.state.requests.reassignment
    first = work.before_taking_back(observed) or end_moves(observed, memory, now)
    if first is not None:
        return first
    if pending is not None and pending.entries is None:
        return unreadable(
            pending.channel_name, command("heal") + ", then " + command("cancel", "--now")
        )
    targets = published_targets(work, observed.steps)
    origin = _to_take_back(targets, observed)
    left = {
        each: why
        for each, replicas in origin.items()
        if (why := why_left(each, replicas, observed))
    }
    origin = {
        partition: replicas for partition, replicas in origin.items() if partition not in left
    }
    if origin:
        others = _others(work, origin, state)
        kept = _as_they_are(others, state)
        error = _refusal(pending, others, kept, allow_foreign=allow_foreign)
        return TakeBack({**kept, **origin}) if error is None else unfinished(error)
    on_way = _on_the_way_back(targets, left, observed)
    ends = overdue(memory, now) if all(on_way.values()) else now - memory.changed_at >= STALLED_S
    if on_way and not ends:
        return Wait("going back to the original replicas")
    return cancelled(
        targets, left | {each: _why_not_back(dead) for each, dead in on_way.items()}, observed
    )


def _to_take_back(targets: Iterable[PartitionTarget], observed: Observed) -> Assignment:
    """Return the original replicas of partitions in flight to our targets.

    () where the topic was recreated.
    """
    state, asked = observed.state, returned_by(observed.steps)
    listed = _listed(state)
    back: dict[TopicPartition, Replicas] = {}
    origin: dict[TopicPartition, Replicas] = {}
    for target in targets:
        if target.current is None:
            continue
        if target.partition in asked:
            back[target.partition] = target.current
        if (
            judge(target, state, published=True) is Progress.RUNNING
            and listed.get(target.partition) != target.current
        ):
            origin[target.partition] = target.current
    origin |= unfinished_returns(back, observed)
    return origin | dict.fromkeys(made_again(origin, observed), ())


def why_left(partition: TopicPartition, original: Replicas, observed: Observed) -> str | None:
    """Return why a reassignment cannot be taken back, None where it can.

    The original replicas may all be dead: as long as the ISR names one of them, going back loses
    nothing, and a controller does it. With eligible leaders (KIP-966) the ISR is empty then, and
    the controller refuses.
    """
    state, found = observed.state, observed.state.states.get(partition)
    topic, number = state.topics[partition.topic], partition.partition
    # A topic that was made again returns to the replicas that it has without ours.
    stay = original or tuple(
        set(topic.replicas[number]) - set(topic.adding_replicas.get(number, ()))
    )
    alive = set() if found is None else set(found.isr) & set(state.brokers)
    if found is None or not found.isr:
        return "no in-sync replica is alive, and the controller reverts nothing without one"
    if not set(stay) & (alive or set(found.isr)):
        return "none of its original replicas is alive and in sync, and going back would lose data"
    return _refused_end(partition, observed.steps)


def _refused_end(partition: TopicPartition, steps: Iterable[Step]) -> str | None:
    """Return the reason for which the controller last refused to end a reassignment.

    It would refuse again.
    """
    ends = [step for step in steps if isinstance(step, CancelStep) and partition in step.partitions]
    if (
        not ends
        or ends[-1].intent is None
        or ends[-1].intent.targets.get(partition, ()) is not None
    ):
        return None
    return ends[-1].refused.get(partition)


def unfinished_returns(origin: Assignment, observed: Observed) -> Assignment:
    """Return the part of `origin` that was requested by API, and is in flight or in another order.

    From Kafka 4.3 on, the original list leaves the reassignment in flight until it is asked to end.
    """
    last = {
        p: step
        for step in observed.steps
        if isinstance(step, CancelStep) and step.sending
        for p in step.partitions
    }
    return {
        p: replicas
        for p, replicas in origin.items()
        if p in last and _unfinished(p, replicas, last[p], observed)
    }


def copies_back(partition: TopicPartition, original: Replicas, state: ClusterState) -> bool:
    """Whether original replicas are being added.

    The list came after the end of the reassignment, and began another. To end that one would return
    to the replicas that it began with.
    """
    return not set(original).isdisjoint(
        state.topics[partition.topic].adding_replicas.get(partition.partition, ())
    )


def _unfinished(
    partition: TopicPartition, original: Replicas, asked: CancelStep, observed: Observed
) -> bool:
    topic, number = observed.state.topics.get(partition.topic), partition.partition
    if topic is None or number not in topic.replicas:
        return False
    if topic.is_moving(number):
        return topic.target(number) == original and not copies_back(
            partition, original, observed.state
        )
    now = topic.replicas[number]
    return now != original and sorted(now) == sorted(original) and partition not in asked.refused


def _listed(state: ClusterState) -> Assignment:
    pending = state.requests.reassignment
    return {} if pending is None or pending.entries is None else pending.entries


def _refusal(
    pending: PendingRequest | None, others: Assignment, kept: Assignment, *, allow_foreign: bool
) -> KadminError | None:
    if pending is None:
        return None
    if empty := [partition for partition, replicas in others.items() if not replicas]:
        return NotCompletedError(
            f"{pending.channel_name} has invalid entries of other tools: {name_some(empty)}.",
            cause="a list is empty; nothing was changed",
            next_step=command("heal"),
        )
    if kept and not allow_foreign:
        return NotCompletedError(
            f"{pending.channel_name} has invalid entries of other tools: {name_some(kept)}.",
            cause="a list names a broker twice; nothing was changed",
            next_step=command("cancel", "--now", "--allow-foreign")
            + ", which ends them: these partitions keep their replicas",
        )
    begun = [partition for partition in pending.not_begun if partition in others]
    if not begun or allow_foreign:
        return None
    return BusyError(
        f"The next controller would start entries of other tools: {name_some(begun, most=20)}.",
        cause=(
            "cancelling moves the controller, which starts every pending entry; nothing was changed"
        ),
        next_step=command("cancel", "--now", "--allow-foreign") + ", if they may start",
    )


def _others(
    work: ReassignmentWork, origin: Mapping[TopicPartition, Replicas], state: ClusterState
) -> Assignment:
    """Return the pending entries of other tools."""
    ours = {target.partition: {target.replicas, target.current} for target in work.targets}
    return {
        partition: replicas
        for partition, replicas in _listed(state).items()
        if partition not in origin and replicas not in ours.get(partition, ())
    }


def _as_they_are(others: Assignment, state: ClusterState) -> Assignment:
    """Return other tools' entries that name a broker twice, with their partitions' replicas.

    Such a list is never written; a controller drops an entry that changes nothing, or names no
    partition.
    """
    repeating = [
        partition for partition, replicas in others.items() if len(set(replicas)) < len(replicas)
    ]
    return {each: state.replicas(each) or tuple(dict.fromkeys(others[each])) for each in repeating}


def _on_the_way_back(
    targets: Iterable[PartitionTarget], left: Mapping[TopicPartition, str], observed: Observed
) -> dict[TopicPartition, list[int]]:
    """Return the partitions that are returning, with dead brokers of their original replicas."""
    state, asked = observed.state, returned_by(observed.steps)
    found = {}
    for target in targets:
        back = way_back(target)
        if (
            target.partition in asked - left.keys()
            and judge(back, state, published=True) is Progress.RUNNING
        ):
            found[target.partition] = sorted(set(back.replicas) - set(state.brokers))
    return found


def _why_not_back(dead: list[int]) -> str:
    waits = f"the controller waits for brokers that are not alive: {name_some(dead)}"
    return f"on its way back, {waits if dead else f'where nothing has changed for {STALLED_S:g} s'}"


def unreadable(channel_name: str, next_step: NextStep) -> Finish:
    """Finish: the pending request cannot be read, so it cannot be superseded."""
    error = NotCompletedError(
        f"{channel_name} cannot be decoded, so it is not replaced.",
        cause="moving the controller now could start an election loop; nothing was changed",
        next_step=next_step,
    )
    return unfinished(error)
