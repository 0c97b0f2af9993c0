"""Ends moves between the disks of brokers: what `cancel --now` does beside taking back.

A replica that is copied to another directory stays in its present one, and the copy is deleted. One
that has arrived stays where it is; `rollback` moves it back. A broker that does not answer goes on,
once it is there again: it is named at the end.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import Wait
from kadmin.operations.decide.common import overdue
from kadmin.operations.decide.log_dirs import AT_ONCE, ask, last_requests
from kadmin.operations.record.steps import Sending, log_dirs_of
from kadmin.plan.directories import DirectoryPlace
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.decide.actions import Memory, Observed, PublishLogDirs
    from kadmin.operations.record.steps import Step
    from kadmin.plan.directories import Directories

    Replica = tuple[TopicPartition, int]


def end_moves(observed: Observed, memory: Memory, now: float) -> PublishLogDirs | Wait | None:
    """Return the request that ends moves of this operation; None where nothing more can be ended.

    One that was refused is not sent again.
    """
    waits = False
    by_broker: defaultdict[int, list[tuple[TopicPartition, str]]] = defaultdict(list)
    last = last_requests(observed.steps)
    for partition, broker in _moving(observed):
        present, step = observed.directories.present(partition, broker), last[partition, broker]
        if present is None or broker not in observed.state.brokers:
            continue
        if step.log_dirs[partition] != present:
            by_broker[broker].append((partition, present))
        elif partition in step.refused:
            continue
        elif not overdue(memory, now):
            waits = True
        elif step.sending is Sending.UNANSWERED:
            by_broker[broker].append((partition, present))
    for broker, replicas in sorted(by_broker.items()):
        return ask(broker, replicas[:AT_ONCE], observed, memory)
    return Wait("ending moves between disks") if waits else None


def moves_left(observed: Observed) -> Iterator[str]:
    """Say what became of the moves between disks of an operation that was cancelled."""
    begun = begun_moves(observed.steps)
    directories = observed.directories
    places = {each: directories.placement(*each, path) for each, path in begun.items()}
    moving, unknown, there = (
        [each for each, found in places.items() if found is place]
        for place in (DirectoryPlace.MOVING, DirectoryPlace.UNKNOWN, DirectoryPlace.THERE)
    )
    # A broker lists nothing of a directory that failed, and goes on when it is repaired.
    unreadable = [
        (partition, broker)
        for (partition, broker), found in places.items()
        if found is DirectoryPlace.ABSENT and directories.failed(broker)
    ]
    ended = len(begun) - sum(map(len, (moving, unknown, there, unreadable)))
    if ended:
        yield f"{count(ended, 'move')} between disks ended"
    if there:
        yield f"{count(len(there), 'replica')} on the planned disk"
    if moving:
        yield f"still moving between disks: {_named(moving)}"
    if unknown:
        yield f"moves between disks of brokers that do not answer: {_named(unknown)}"
    if unreadable:
        yield (
            f"moves from or to failed disks, which may go on after a repair: {_named(unreadable)}"
        )


def begun_moves(steps: Iterable[Step]) -> dict[Replica, str]:
    """Return the directory to which each replica was asked to be moved, by partition and broker.

    Requests that were refused, and those that end a move, are left out.
    """
    return {
        (partition, step.broker_id): path
        for step in log_dirs_of(steps)
        for partition, path in step.log_dirs.items()
        if partition not in step.refused and step.present.get(partition, path) != path
    }


def moving_between_disks(steps: Iterable[Step], found: Directories) -> list[Replica]:
    """Return the replicas that an operation moves between disks, or may move: not known."""
    return [
        (partition, broker)
        for (partition, broker), path in begun_moves(steps).items()
        if found.placement(partition, broker, path)
        in {DirectoryPlace.MOVING, DirectoryPlace.UNKNOWN}
    ]


def _moving(observed: Observed) -> list[Replica]:
    """Return the replicas that are copied to a directory that this operation asked for."""
    return [
        (partition, broker)
        for (partition, broker), path in begun_moves(observed.steps).items()
        if observed.directories.placement(partition, broker, path) is DirectoryPlace.MOVING
    ]


def _named(replicas: Iterable[Replica]) -> str:
    return name_some(f"{partition} on broker {broker}" for partition, broker in sorted(replicas))
