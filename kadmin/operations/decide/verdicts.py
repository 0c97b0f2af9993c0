"""Judges each partition of a reassignment plan, for `verify`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.spec import Verdict
from kadmin.plan.directories import DirectoryPlace, placements
from kadmin.plan.model import Elect
from kadmin.plan.progress import Progress, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.model import PartitionTarget, ReassignmentPlan


def reassignment_verdicts(
    plan: ReassignmentPlan, state: ClusterState, executed: PlanHistory
) -> Iterator[Verdict]:
    """Yield the verdict on each partition.

    `executed` is the history of the plan in operations on record.
    """
    for target in plan.reassignments:
        partition, current = (
            target.partition,
            target.current or executed.origin.get(target.partition),
        )
        progress = judge(
            replace(target, current=current), state, published=partition in executed.partitions
        )
        if progress is Progress.WAITING and executed.cancelled:
            progress = Progress.CANCELLED
        if (
            progress is Progress.DONE
            and plan.elect is not Elect.NONE
            and not _led_by_first(target, state)
        ):
            progress = Progress.SETTLED
        detail = "" if progress is Progress.DONE else _detail(target, state)
        if progress is Progress.DONE and (away := _elsewhere(target, executed)):
            progress, detail = away
        yield Verdict(partition.topic, partition.partition, progress, detail)


def _elsewhere(target: PartitionTarget, executed: PlanHistory) -> tuple[Progress, str] | None:
    """Judge a partition with its replicas in place and not in the log directories of the plan."""
    found, named = executed.directories, list(placements(target, executed.directories))
    away = [(broker, path) for broker, path, place in named if place is not DirectoryPlace.THERE]
    if not away:
        return None
    progress = Progress.CANCELLED if executed.cancelled else Progress.WAITING
    if any(place is DirectoryPlace.MOVING for _, _, place in named):
        progress = Progress.RUNNING
    return progress, "; ".join(
        f"broker {broker} has it in "
        f"{found.present(target.partition, broker) or 'an unknown log directory'}, wanted {path}"
        for broker, path in away
    )


def _led_by_first(target: PartitionTarget, state: ClusterState) -> bool:
    found = state.states.get(target.partition)
    return found is not None and found.leader == target.replicas[0]


def _detail(target: PartitionTarget, state: ClusterState) -> str:
    replicas, found = state.replicas(target.partition), state.states.get(target.partition)
    if replicas is None:
        return "no such partition"
    isr = "no state" if found is None else f"ISR {list(found.isr)}, leader {found.leader}"
    return f"replicas {list(replicas)}, wanted {list(target.replicas)}, {isr}"
