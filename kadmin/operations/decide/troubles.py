"""Obstacles of a running wave: dead target brokers, no source of copies, others' changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.next_step import command
from kadmin.plan.progress import Progress
from kadmin.plan.sources import awaited, lacks_source
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.model import PartitionTarget


def troubles(
    found: Mapping[Progress, Sequence[PartitionTarget]],
    dead: Sequence[int],
    stuck: Sequence[TopicPartition],
    state: ClusterState,
) -> Iterator[str]:
    """Describe the obstacles of the wave; running partitions are still followed until they end.

    `dead` and `stuck` are their targets that are not alive, and those of them with nothing to copy
    from.
    """
    if dead:
        waiting = [
            each.partition
            for each in found[Progress.RUNNING]
            if not set(each.replicas).isdisjoint(dead)
        ]
        waits = (
            f"{name_some(waiting)}: the controller waits for brokers that are not alive: "
            f"{name_some(dead)}"
        )
        yield f"{waits}; start them, or take the wave back: {command('cancel', '--now')}"
    if stuck:
        brokers = sorted({broker for each in stuck for broker in awaited(each, state)})
        waits = (
            f"{name_some(stuck)}: no replica is alive and in sync; copies wait for brokers: "
            f"{name_some(brokers)}"
        )
        yield f"{waits}; start them, or end the operation: {command('cancel', '--now')}"
    stale = [target.partition for target in found[Progress.STALE]]
    if gone := [partition for partition in stale if state.replicas(partition) is None]:
        yield f"{name_some(gone)}: deleted; the operation ends when the rest of its wave is done"
    if changed := [partition for partition in stale if state.replicas(partition) is not None]:
        yield (
            f"{name_some(changed)}: reassigned by another tool; the operation ends when the rest "
            "of its wave is done"
        )
    moved = {target.partition.topic for targets in found.values() for target in targets}
    if doomed := sorted(moved & set(state.requests.deletions)):
        yield f"topics are being deleted: {name_some(doomed)}"


def without_source(targets: Iterable[PartitionTarget], state: ClusterState) -> list[TopicPartition]:
    """Return the partitions of targets with nothing to copy from."""
    return [target.partition for target in targets if lacks_source(target.partition, state)]
