"""The order of a plan's entries, and where limits cut it.

Goals: the biggest win first, so that whoever stops early has the best of it, and every prefix is a valid cluster.
Algorithm: what must be done (drained brokers, racks, replication factors, pins) comes before what evens out, and that
before what only reorders. Within these an entry counts more the more its brokers still have to give and to get when it
is their turn, the largest partitions being each broker's first. An entry that would pass a limit is left out, the
others go on. Where brokers have capacities, an entry waits until there is room for it, and is left out where an entry
that was left out before was to make the room.
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
    bytes_on,
    contains,
    list_lengths,
)
from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from kadmin.plan.model import ProposalLimits
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem


def plan_order(problem: PlacementProblem, target: Ints) -> Ints:
    """Return the partitions whose list changes, the biggest win first; raises ObstacleError where no order fits."""
    entries = np.flatnonzero(any_per_row(target != problem.current))
    rank = _rank(problem, target)[entries]
    win = _wins(problem, target)[entries]
    most = int(win.max(initial=0))
    ordered = entries[stable_argsort(rank * (most + 1) + most - win)]
    return ordered if (problem.brokers.capacity >= NO_LIMIT).all() else _with_room(problem, target, ordered)


def within_limits(problem: PlacementProblem, target: Ints, ordered: Ints, limits: ProposalLimits) -> Ints:
    """Return the entries, in their order, that limits let pass."""
    most_moves, most_bytes = _or_unlimited(limits.max_moves), _or_unlimited(limits.max_bytes)
    most_in, most_reorders = _or_unlimited(limits.max_bytes_in_per_broker), _or_unlimited(limits.max_order_changes)
    moves, size = moves_per_partition(problem, target), problem.size
    is_reorder = reorders_only(problem, target)
    bytes_in = np.zeros(len(problem.brokers), np.int64)
    spent_moves = spent_bytes = reorders = 0
    passed, room = [], _Room(problem, target)
    for partition in ordered.tolist():
        count, volume = int(moves[partition]), int(size[partition])
        receivers = _new_brokers(problem, target, partition)
        fits = (
            spent_moves + count <= most_moves
            and spent_bytes + count * volume <= most_bytes
            and bool((bytes_in[receivers] + volume <= most_in).all())
            and reorders + is_reorder[partition] <= most_reorders
            and room.admits(partition)
        )
        if fits:
            passed.append(partition)
            room.carry_out(partition)
            spent_moves += count
            spent_bytes += count * volume
            bytes_in[receivers] += volume
            reorders += int(is_reorder[partition])
    return np.array(passed, np.int64)


def reorders_only(problem: PlacementProblem, target: Ints) -> Bools:
    """Whether each list holds the same brokers as now, so that its entry, if any, moves no data, [P]."""
    return np.asarray(
        (moves_per_partition(problem, target) == 0) & (list_lengths(target) == list_lengths(problem.current))
    )


def _or_unlimited(limit: int | None) -> int:
    return NO_LIMIT if limit is None else limit


def _rank(problem: PlacementProblem, target: Ints) -> Ints:
    """Return 0 for what must be done, 1 for what evens out, 2 for what only reorders, [P]."""
    current, filled = problem.current, problem.current != NONE
    must = any_per_row(~can_stay(problem, current) & filled) | (list_lengths(current) != problem.rf)
    must |= ~problem.movable | any_per_row(problem.start != current) | over_rack_cap(problem)
    return np.where(reorders_only(problem, target), 2, np.where(must, 0, 1))


def over_rack_cap(problem: PlacementProblem) -> Bools:
    """Whether a rack holds more replicas of a partition than it may, [P]."""
    brokers, current = problem.brokers, problem.current
    racks = np.append(brokers.rack, NONE)[current].astype(np.int16)  # the last one answers for NONE
    found = np.zeros(len(problem), np.bool_)
    for rack in range(brokers.racks):
        found |= (racks == rack).sum(axis=1) > problem.rack_cap
    return found


def _wins(problem: PlacementProblem, target: Ints) -> Ints:
    """Return for each partition how much its brokers still have to give and to get at its turn, [P]."""
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
    """Return, for the entries of each broker taken by size, how many are left from each one on."""
    order = stable_argsort(-size)
    order = order[stable_argsort(broker[order])]
    ascending = broker[order]
    left = np.empty(len(broker), np.int64)
    left[order] = np.searchsorted(ascending, ascending, side="right") - np.arange(len(broker))
    return left


def _new_brokers(problem: PlacementProblem, target: Ints, partition: int) -> Ints:
    row = target[partition]
    return np.asarray(row[(row != NONE) & ~np.isin(row, problem.current[partition])])


class _Room:
    """What lies on each broker when entries are carried out one after the other."""

    def __init__(self, problem: PlacementProblem, target: Ints) -> None:
        self._problem, self._target = problem, target
        self._load = np.append(bytes_on(problem, problem.current), 0)  # the last one takes what is NONE

    def admits(self, partition: int) -> bool:
        receivers = _new_brokers(self._problem, self._target, partition)
        load = self._load[receivers] + self._problem.size[partition]
        return bool((load <= self._problem.brokers.capacity[receivers]).all())

    def carry_out(self, partition: int) -> None:
        size = self._problem.size[partition]
        np.subtract.at(self._load, self._problem.current[partition], size)
        np.add.at(self._load, self._target[partition], size)


def _with_room(problem: PlacementProblem, target: Ints, ordered: Ints) -> Ints:
    """Put off each entry until its brokers have room for it beside what lies there then."""
    room, waiting, done = _Room(problem, target), ordered.tolist(), []
    while waiting:
        put_off = []
        for partition in waiting:
            if not room.admits(partition):
                put_off.append(partition)
                continue
            room.carry_out(partition)
            done.append(partition)
        if len(put_off) == len(waiting):
            reason = "no order of the reassignments keeps every broker within its capacity_bytes"
            raise NoPlanError(reason, np.array(put_off, np.int64))
        waiting = put_off
    return np.array(done, np.int64)
