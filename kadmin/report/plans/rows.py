"""Figures on the changes of a reassignment, for several formats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.names import one_line
from kadmin.plan.throttle_words import hours_in_words
from kadmin.plan.waves import moved_bytes
from kadmin.report.kinds import words_of
from kadmin.report.text import (
    NOTHING,
    UNKNOWN,
    change,
    duration,
    ending_text,
    replicas,
    size_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.growth import NewPartitions
    from kadmin.plan.model import PartitionTarget, Plan

PARTITION_COLUMNS = ("partition", "current", "target", "bytes to copy")
BROKER_COLUMNS = ("broker", "replicas", "preferred leaders", "bytes")
DISK_MOVE_COLUMNS = ("replica", "broker", "log directory now", "planned", "bytes to copy")
DISK_COLUMNS = ("broker", "disk", "fill", "highest", "in wave", "at the end")


def disk_rows(found: PlanDiff) -> list[list[object]]:
    """Return the disks that get copies, of brokers with several, below DISK_COLUMNS."""
    return [
        [
            disk.broker_id,
            ", ".join(map(one_line, disk.paths)),
            fill_text(disk.fill),
            fill_text(disk.highest_fill),
            disk.wave or NOTHING,
            fill_text(disk.final_fill),
        ]
        for disk in found.disks.disks
        if disk.has_others
    ]


def fill_text(fill: float | None) -> str:
    """Return the used part of a disk in percent, rounded down as `inspect disks` does."""
    return UNKNOWN if fill is None else f"{math.floor(100 * fill)} %"


def disk_move_rows(found: PlanDiff) -> list[list[object]]:
    """Return the replicas that are to be in other log directories, below DISK_MOVE_COLUMNS."""
    return [
        [
            each.partition,
            each.broker_id,
            NOTHING if each.source is None else one_line(each.source),
            one_line(each.path),
            NOTHING if each.source is None else size_text(each.size_bytes),
        ]
        for each in found.disk_moves
    ]


def broker_rows(
    found: PlanDiff | NewPartitions, *, changed_only: bool = False
) -> list[list[object]]:
    """Return the amounts of each broker before and after, below BROKER_COLUMNS."""
    return [
        [
            broker,
            change(load.replicas, found.after[broker].replicas),
            change(load.leaders, found.after[broker].leaders),
            change(size_text(load.size_bytes), size_text(found.after[broker].size_bytes)),
        ]
        for broker, load in sorted(found.before.items())
        if not changed_only or load != found.after[broker]
    ]


def growth_table(found: NewPartitions) -> tuple[tuple[str, ...], list[list[object]]]:
    """Return the headers and rows of the brokers that get new partitions, which have no bytes."""
    rows = broker_rows(found, changed_only=True)
    return BROKER_COLUMNS[:-1], [row[:-1] for row in rows]


def partition_row(target: PartitionTarget) -> list[str]:
    """Return a partition below PARTITION_COLUMNS, without its name.

    All its new copies are counted.
    """
    return [replicas(target.current), replicas(target.replicas), size_text(moved_bytes(target))]


def target_table(plan: Plan, found: Examination) -> tuple[list[str], list[list[str]]]:
    """Return the headers and rows of the elected partitions with their leaders.

    They may also be those of new partitions with their replicas, of deleted or recreated topics,
    or, beside moves, stages.
    """
    title = words_of(plan).targets(len(found.targets)) if found.change is None else "stages"
    if found.new is not None:
        return [title, "replicas"], [
            [str(partition), replicas(listed)] for partition, listed in found.new.assignment.items()
        ]
    if not found.leaders:
        return [title], [[name] for name in found.targets]
    rows = [
        [name, change(*("none" if each == NO_LEADER else each for each in pair))]
        for name, pair in zip(found.targets, found.leaders, strict=True)
    ]
    return [title, "leader"], rows


def busiest(moves: Mapping[int, int]) -> str:
    """Return the most moves of one broker and its id, `12 (broker 3)`."""
    if not moves:
        return NOTHING
    most = max(moves.values())
    return f"{most:,} (broker {min(broker for broker, number in moves.items() if number == most)})"


def makespan_text(throttle: Throttle) -> str:
    """Return the estimated time of all waves, the bound for any waves, and the ratio of both."""
    seconds, bound = throttle.makespan_seconds, throttle.bound_seconds
    if seconds is None or bound is None:
        return "makespan unknown"
    ratio = seconds / bound if bound else 1
    return f"makespan about {duration(seconds)}, bound {duration(bound)}, ratio {ratio:.2f}"


def end_text(throttle: Throttle) -> str:
    """Return the hours of copies, and the end of all waves by them.

    Empty without hours; the end is left out where it is not known.
    """
    if throttle.hours is None:
        return ""
    found = hours_in_words(throttle.hours)
    if throttle.ending is None:
        return found
    return f"{found}; if copies begin now, {ending_text(throttle.ending)}"
