"""Chooses preferred leaders: even counts per broker, without moving a replica.

Goals: leader counts within one of each other, or as even as the lists allow; then few leader
changes, first in partitions that are reassigned anyway.
Constraints: a leader is one of the partition's replicas and may lead; immovable partitions keep
theirs.
Algorithm: max-flow on the brokers. The capacity of the arc a -> b is the number of partitions led
by a with b in the list. Shortest paths push leaders from brokers above the average to brokers below
it (Pinterest Engineering, "Using graph algorithms to optimize Kafka operations", part 2). Where the
average cannot be reached, the broker with most leaders pushes to the reachable one with fewest,
until no path connects two that differ by two or more; that is optimal for every convex measure of
evenness.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.leader_bytes import balance_leader_bytes
from kadmin.planner.kernel.leader_candidates import leader_candidates
from kadmin.planner.kernel.placement_problem import NONE, NoPlanError, any_per_row, contains

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem

_UNREACHED = -2
_START = -1
_UNEVEN = 2
"""The smallest difference of two counts that passing one leader reduces."""


def choose_leaders(problem: PlacementProblem, lists: Ints, free: Bools) -> Ints:
    """Return the preferred leader of each partition, [P].

    `lists` [P, W] are unordered; `free` [P] marks partitions that are reassigned anyway. Raises
    NoPlanError where none of a partition's replicas may lead. Bytes by leader replace the load that
    follows leaders, where that is unknown.
    """
    leader = even_leaders(problem, lists, free)
    balance_bytes_of_leaders(problem, lists, leader)
    return leader


def even_leaders(problem: PlacementProblem, lists: Ints, free: Bools) -> Ints:
    """Return the same, with leader counts alone, [P]."""
    leader = keep_leaders(problem, lists)
    if not leaders_within_one(problem, leader):
        flow = _Flow(problem, lists, leader, free)
        flow.even_out()
        _undo_exchanges(problem, lists, leader)
    return leader


def balance_bytes_of_leaders(problem: PlacementProblem, lists: Ints, leader: Ints) -> None:
    """Even out bytes by leader, where no load that follows leaders is known."""
    if problem.load is None or not problem.load.on_leaders:
        balance_leader_bytes(problem, lists, leader)


def keep_leaders(problem: PlacementProblem, lists: Ints) -> Ints:
    """Return the leader of each partition, [P].

    It is the first of `start`, or else the replica that leads least so far. Raises NoPlanError
    where none of a partition's replicas may lead.
    """
    first = problem.start[:, 0]
    may_lead = np.append(problem.brokers.may_lead, np.False_)  # the last element is for NONE
    stays = (contains(lists, first) & may_lead[first]) | ~problem.movable
    leader = np.where(stays, first, NONE)
    count = np.bincount(leader[leader != NONE], minlength=len(problem.brokers)).tolist()
    lost = np.flatnonzero(~stays)
    left = lists.take(lost, axis=0)
    able = may_lead[left]
    leaderless = lost[~any_per_row(able)]
    if leaderless.size:
        raise NoPlanError(
            "every replica is on a broker that may not lead",
            "remove one of their brokers from spec.brokers.never_lead",
            partitions=leaderless,
        )
    count.append(len(leader))  # NONE is never chosen
    chosen, led = [], count.__getitem__
    for row in np.sort(np.where(able, left, NONE), axis=1).tolist():
        choice = min(row, key=led)
        chosen.append(choice)
        count[choice] += 1
    leader[lost] = chosen
    return leader


def leaders_within_one(problem: PlacementProblem, leader: Ints) -> bool:
    """Whether leader counts of the brokers that may lead are within one of each other."""
    count = np.bincount(leader, minlength=len(problem.brokers))[problem.brokers.may_lead]
    return int(count.max(initial=0)) - int(count.min(initial=len(leader))) < _UNEVEN


def _undo_exchanges(problem: PlacementProblem, lists: Ints, leader: Ints) -> None:
    """Undo pairs of leader changes a -> b and b -> a, which leave the counts unchanged."""
    first = problem.start[:, 0]
    still_there = contains(lists, first) & np.append(problem.brokers.may_lead, np.False_)[first]
    changed = np.flatnonzero((leader != first) & still_there & problem.movable)
    pairs: dict[tuple[int, int], list[int]] = {}
    for partition in changed.tolist():
        pairs.setdefault((int(first[partition]), int(leader[partition])), []).append(partition)
    for (origin, target), given in sorted(pairs.items()):
        taken = pairs.get((target, origin), [])
        if origin < target:
            both = min(len(given), len(taken))
            undone = np.array([*given[:both], *taken[:both]], np.int64)
            leader[undone] = first[undone]


class _Flow:
    """The flow of leaders between brokers.

    `arcs` [B, B]: partitions led by the row that the column could lead.
    """

    def __init__(self, problem: PlacementProblem, lists: Ints, leader: Ints, free: Bools) -> None:
        self._lists = lists
        self._leader = leader
        self._able = problem.brokers.may_lead & problem.brokers.may_hold
        brokers = len(problem.brokers)
        self._count = np.bincount(leader, minlength=brokers)
        free_first = np.concatenate([np.flatnonzero(free), np.flatnonzero(~free)])
        self._keys, self._partitions = leader_candidates(problem, lists, leader, free_first)
        self.arcs = np.bincount(self._keys, minlength=brokers * brokers).reshape(brokers, brokers)
        self._next: dict[int, int] = {}
        self._shifted: dict[int, list[int]] = {}

    def even_out(self) -> None:
        """Push leaders until counts are within one of each other, or no path helps."""
        brokers = np.flatnonzero(self._able)
        if not len(brokers):
            return
        low = int(self._count[brokers].sum()) // len(brokers)
        count = self._count
        self._drain(lambda: (count > low + 1, count < low), low + 1, low)
        self._drain(lambda: (count > low + 1, count <= low), low + 1, low + 1)
        self._drain(lambda: (count > low, count < low), low, low)
        self._level()

    def _drain(self, ends: Callable[[], tuple[Bools, Bools]], keep: int, fill: int) -> None:
        while True:
            sources, sinks = (end & self._able for end in ends())
            path = self._path(sources, sinks)
            if not path:
                return
            most = min(int(self._count[path[0]]) - keep, fill - int(self._count[path[-1]]))
            self._push(path, most)

    def _level(self) -> None:
        """Push from the broker with most leaders to the reachable one with fewest.

        Do so while they differ by two or more.
        """
        settled = ~self._able
        while not settled.all():
            fullest = int(np.argmax(np.where(settled, -1, self._count)))
            if self._count[fullest] - self._count[self._able].min() < _UNEVEN:
                return
            source = np.zeros_like(settled)
            source[fullest] = True
            reached = self._reach(source, np.zeros_like(settled))
            emptiest = int(
                np.argmin(np.where(reached != _UNREACHED, self._count, np.iinfo(np.int64).max))
            )
            gap = int(self._count[fullest] - self._count[emptiest])
            if gap < _UNEVEN:
                settled[fullest] = True
            else:
                self._push(_trace(reached, emptiest), gap // 2)

    def _path(self, sources: Bools, sinks: Bools) -> list[int]:
        reached = self._reach(sources, sinks)
        found = np.flatnonzero((reached != _UNREACHED) & sinks)
        if not len(found):
            return []
        return _trace(reached, int(found[np.argmin(self._count[found])]))

    def _reach(self, sources: Bools, sinks: Bools) -> Ints:
        """Return the predecessor of each broker in a breadth-first search, [B].

        The search ends at the first sinks.
        """
        reached = np.where(sources, _START, _UNREACHED)
        ring = np.flatnonzero(sources)
        while len(ring) and not (sinks & (reached != _UNREACHED)).any():
            fullest_first = ring[np.argsort(-self._count[ring], kind="stable")]
            leads = self.arcs[fullest_first] > 0
            ring = np.flatnonzero(leads.any(axis=0) & (reached == _UNREACHED))
            reached[ring] = fullest_first[leads[:, ring].argmax(axis=0)]
        return reached

    def _push(self, path: list[int], most: int) -> None:
        steps = list(itertools.pairwise(path))[::-1]
        for _ in range(most):
            if any(self.arcs[origin, target] == 0 for origin, target in steps):
                return
            for origin, target in steps:
                self._shift(self._pop(origin, target), origin, target)

    def _pop(self, origin: int, target: int) -> int:
        """Return a partition that `origin` leads and `target` could lead.

        One whose leader changed already, if any.
        """
        key = origin * len(self._count) + target
        shifted = self._shifted.get(key, [])
        while shifted:
            partition = shifted.pop()
            if self._leader[partition] == origin:
                return partition
        at = self._next.get(key)
        if at is None:
            at = int(np.searchsorted(self._keys, key))
        while self._leader[self._partitions[at]] != origin:
            at += 1
        self._next[key] = at + 1
        return int(self._partitions[at])

    def _shift(self, partition: int, origin: int, target: int) -> None:
        brokers = len(self._count)
        self._leader[partition] = target
        self._count[origin] -= 1
        self._count[target] += 1
        for broker in self._lists[partition].tolist():
            if broker == NONE or not self._able[broker]:
                continue
            if broker != origin:
                self.arcs[origin, broker] -= 1
            if broker != target:
                self.arcs[target, broker] += 1
                self._shifted.setdefault(target * brokers + broker, []).append(partition)


def _trace(reached: Ints, end: int) -> list[int]:
    path = [end]
    while (origin := int(reached[path[-1]])) != _START:
        path.append(origin)
    return path[::-1]
