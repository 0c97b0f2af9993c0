"""The end of `cancel --now`: the state in the cluster of every partition that was published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command, joined
from kadmin.operations.decide.actions import Finish
from kadmin.operations.decide.ended_moves import moves_left
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import returned_by
from kadmin.plan.directories import is_placed
from kadmin.plan.progress import Progress, judge
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Observed
    from kadmin.plan.model import PartitionTarget

_THERE = {Progress.DONE, Progress.SETTLED}


def cancelled(
    targets: Sequence[PartitionTarget], left: Mapping[TopicPartition, str], observed: Observed
) -> Finish:
    """Finish: nothing more can be reverted.

    `targets` were published, `left` has the reason of each still in flight. A partition that was to
    be reverted and has other replicas is an error; one that had reached its target before is not.
    """
    state = observed.state
    asked = returned_by(observed.steps)
    found = {target: _at(target, observed, asked=target.partition in asked) for target in targets}
    resting = {target: at for target, at in found.items() if target.partition not in left}
    moves = list(moves_left(observed))
    summary = [*_summary(resting, state), *moves]
    if not left and not moves and Progress.CANCELLED not in resting.values():
        summary.insert(0, "nothing was in flight")
    message = "; ".join(summary)
    away = [
        target
        for target, at in resting.items()
        if target.partition in asked and at is not Progress.CANCELLED
    ]
    if not left and not away:
        return Finish(OperationState.CANCELLED, message)
    why = by_reason(left)
    if away:
        why.append(
            f"{name_some(target.partition for target in away)}: the controller dropped them, or "
            "another tool reassigned them"
        )
    text = f"not back at the original replicas: {'; '.join(why)}"
    steps = [_once_in_sync(targets, left, state)] if left else []
    steps += [command("rollback")] if away else []
    cause, said = message or None, "; ".join([*summary, text])
    error = NotCompletedError(
        f"The operation was cancelled; {text}.", cause=cause, next_step=joined("; ", steps)
    )
    return Finish(OperationState.CANCELLED, said, error)


def way_back(target: PartitionTarget) -> PartitionTarget:
    """Return the target that returns a partition to its original replicas."""
    return replace(target, current=target.replicas, replicas=target.current or ())


def _at(target: PartitionTarget, observed: Observed, *, asked: bool) -> Progress:
    """Judge a partition.

    CANCELLED is back at its original replicas, once it was `asked` to go back. WAITING has its
    replicas on the planned brokers, and not all of them in the planned log directories.
    """
    if asked and judge(way_back(target), observed.state, published=True) in _THERE:
        return Progress.CANCELLED
    found = judge(target, observed.state, published=True)
    if found in _THERE and not is_placed(target, observed.directories):
        return Progress.WAITING
    return found


def _summary(found: Mapping[PartitionTarget, Progress], state: ClusterState) -> Iterator[str]:
    back = [target for target, at in found.items() if at is Progress.CANCELLED]
    if back:
        yield f"{count(len(back), 'partition')} back at the original replicas"
        if short := [
            each.partition
            for each in back
            if not _in_sync(each.partition, each.current or (), state)
        ]:
            yield f"not in sync: {name_some(short)}"
    if at_target := [target.partition for target, at in found.items() if at in _THERE]:
        yield f"{count(len(at_target), 'partition')} at the target"
    if away := [target.partition for target, at in found.items() if at is Progress.STALE]:
        yield "elsewhere: " + name_some(
            f"{each} has {list(state.replicas(each) or ())}" for each in away
        )


def _in_sync(partition: TopicPartition, replicas: Iterable[int], state: ClusterState) -> bool:
    partition_state = state.states.get(partition)
    return partition_state is not None and set(replicas) <= set(partition_state.isr)


def by_reason(left: Mapping[TopicPartition, str]) -> list[str]:
    """Name the partitions that remain in flight, those with the same reason together."""
    reasons = dict.fromkeys(left.values())
    return [
        f"{name_some(each for each, why in left.items() if why == reason)}: {reason}"
        for reason in reasons
    ]


def _once_in_sync(
    targets: Iterable[PartitionTarget], left: Mapping[TopicPartition, str], state: ClusterState
) -> NextStep:
    original = {
        broker for each in targets if each.partition in left for broker in each.current or ()
    }
    dead = sorted(original - set(state.brokers))
    start = f"start {brokers_in_words(dead)}; " if dead else ""
    return start + command("cancel", "--foreign") + ", when an original replica is in sync"
