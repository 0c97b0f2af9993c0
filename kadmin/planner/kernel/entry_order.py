"""Orders the entries of a plan and applies limits.

Goals: the most useful entries first, so that a plan that is stopped early has the largest effect.
Constraints: every prefix of the plan is a valid assignment, and keeps every broker within its
capacity.
Algorithm: required entries (drained brokers, racks, replication factors, pins) come before those
that even out, and those before entries that only reorder. Within each class, an entry comes earlier
the more replicas its brokers still have to give and receive at that point, each broker's largest
partitions first. An entry that exceeds a limit is left out, and later ones may still pass. With
capacities, an entry waits until its brokers have disk space; it is left out where that space
depends on an entry that was left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.mandatory_removals import can_stay
from kadmin.planner.kernel.placement_problem import (
    NO_LIMIT,
    NONE,
    NoPlanError,
    any_per_row,
    breaks_rack_rule,
    bytes_on,
    contains,
    list_lengths,
)
from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from kadmin.plan.model import ProposalLimits
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem


def plan_order(problem: PlacementProblem, target: Ints) -> Ints:
    """Return the partitions whose list changes, in plan order, [N].

    Raises NoPlanError where no order keeps every broker within its capacity.
    """
    entries = np.flatnonzero(any_per_row(target != problem.current))
    rank = _rank(problem, target)[entries]
    win = _wins(problem, target)[entries]
    most = int(win.max(initial=0))
    ordered = entries[stable_argsort(rank * (most + 1) + most - win)]
    return (
        ordered
        if (problem.brokers.capacity >= NO_LIMIT).all()
        else _within_disk_space(problem, target, ordered)
    )


def within_limits(
    problem: PlacementProblem, target: Ints, ordered: Ints, limits: ProposalLimits
) -> Ints:
    """Return the entries within the limits, in their order.

    `ordered` is the result of plan_order.
    """
    most_moves, most_bytes = _or_unlimited(limits.max_moves), _or_unlimited(limits.max_bytes)
    most_in, most_reorders = (
        _or_unlimited(limits.max_bytes_in_per_broker),
        _or_unlimited(limits.max_order_changes),
    )
    moves, size = moves_per_partition(problem, target), problem.size
    is_reorder = reorders_only(problem, target)
    bytes_in = np.zeros(len(problem.brokers), np.int64)
    spent_moves = spent_bytes = reorders = 0
    passed, disks = [], _DiskSpace(problem, target)
    for partition in ordered.tolist():
        count, volume = int(moves[partition]), int(size[partition])
        receivers = _new_brokers(problem, target, partition)
        fits = (
            spent_moves + count <= most_moves
            and spent_bytes + count * volume <= most_bytes
            and bool((bytes_in[receivers] + volume <= most_in).all())
            and reorders + is_reorder[partition] <= most_reorders
            and disks.admits(partition)
        )
        if fits:
            passed.append(partition)
            disks.carry_out(partition)
            spent_moves += count
            spent_bytes += count * volume
            bytes_in[receivers] += volume
            reorders += int(is_reorder[partition])
    return np.array(passed, np.int64)


def order_binds(problem: PlacementProblem, target: Ints, entries: Ints) -> bool:
    """Whether the order of the entries matters.

    A broker has space for new replicas only after others have left it.
    """
    current = problem.current[entries]
    new = [np.where(contains(current, column), NONE, column) for column in target[entries].T]
    arriving = bytes_on(problem, np.stack(new, axis=1), entries)
    full = bytes_on(problem, problem.current) + arriving > problem.brokers.capacity
    return bool((full & (arriving > 0)).any())


def reorders_only(problem: PlacementProblem, target: Ints) -> Bools:
    """Whether each list has the same brokers as the current one: its entry moves no data, [P]."""
    return np.asarray(
        (moves_per_partition(problem, target) == 0)
        & (list_lengths(target) == list_lengths(problem.current))
    )


def _or_unlimited(limit: int | None) -> int:
    return NO_LIMIT if limit is None else limit


def _rank(problem: PlacementProblem, target: Ints) -> Ints:
    """Return 0 for required entries, 1 for those that even out, 2 for mere reorders, [P]."""
    must = required(problem)
    return np.where(reorders_only(problem, target), 2, np.where(must, 0, 1))


def required(problem: PlacementProblem) -> Bools:
    """Whether each partition's list cannot stay as it is, [P]: the request needs another one."""
    current, filled = problem.current, problem.current != NONE
    must = any_per_row(~can_stay(problem, current) & filled) | (list_lengths(current) != problem.rf)
    must |= ~problem.movable | any_per_row(problem.start != current)
    return np.asarray(must | breaks_rack_rule(problem, current))


def _wins(problem: PlacementProblem, target: Ints) -> Ints:
    """Return the replicas that each partition's brokers still give and receive at its turn, [P]."""
    win = np.zeros(len(problem), np.int64)
    lists = (problem.current, target)
    for here, there in (lists, lists[::-1]):
        for column in range(here.shape[1]):
            leaving = np.flatnonzero((here[:, column] != NONE) & ~contains(there, here[:, column]))
            win[leaving] += _turns_left(here[leaving, column], problem.size[leaving])
    only_order = np.flatnonzero((win == 0) & (problem.current[:, 0] != target[:, 0]))
    for here in lists:
        win[only_order] += _turns_left(here[only_order, 0], problem.size[only_order])
    return win


def _turns_left(broker: Ints, size: Ints) -> Ints:
    """Return, for each entry, how many of its broker's are no larger, itself included, [N]."""
    order = stable_argsort(-size)
    order = order[stable_argsort(broker[order])]
    ascending = broker[order]
    left = np.empty(len(broker), np.int64)
    left[order] = np.searchsorted(ascending, ascending, side="right") - np.arange(len(broker))
    return left


def _new_brokers(problem: PlacementProblem, target: Ints, partition: int) -> Ints:
    row = target[partition]
    return np.asarray(row[(row != NONE) & ~np.isin(row, problem.current[partition])])


class _DiskSpace:
    """The bytes on each broker while entries are carried out one after the other."""

    def __init__(self, problem: PlacementProblem, target: Ints) -> None:
        self._problem, self._target = problem, target
        # The last element collects NONE.
        self._load = np.append(bytes_on(problem, problem.current), 0)

    def admits(self, partition: int) -> bool:
        receivers = _new_brokers(self._problem, self._target, partition)
        load = self._load[receivers] + self._problem.size[partition]
        return bool((load <= self._problem.brokers.capacity[receivers]).all())

    def carry_out(self, partition: int) -> None:
        size = self._problem.size[partition]
        np.subtract.at(self._load, self._problem.current[partition], size)
        np.add.at(self._load, self._target[partition], size)


def _within_disk_space(problem: PlacementProblem, target: Ints, ordered: Ints) -> Ints:
    """Postpone each entry until its brokers have the disk space."""
    disks, waiting, done = _DiskSpace(problem, target), ordered.tolist(), []
    while waiting:
        postponed = []
        for partition in waiting:
            if not disks.admits(partition):
                postponed.append(partition)
                continue
            disks.carry_out(partition)
            done.append(partition)
        if len(postponed) == len(waiting):
            raise NoPlanError(
                "no order of the reassignments keeps every broker within its capacity_bytes",
                "drain fewer brokers, add a broker, or raise capacity_bytes in the inventory",
                partitions=np.array(postponed, np.int64),
            )
        waiting = postponed
    return np.array(done, np.int64)
