"""The order behind the leader: who takes over when it dies.

Goals: whichever broker is lost, its partitions are led by many others evenly: no broker comes to lead more than a
small part above the fair share of those left. First only partitions are ordered anew that are reassigned anyway,
which costs no entry of the plan; others only where a broker would still come to lead more than that.
Algorithm: Kafka elects the first live in-sync replica of the list, so the second replica is the heir. Partition after
partition takes the heir that would lead least after the loss of its leader, one of every leader at once; a few further
rounds mend early choices.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.problem import NONE, any_of, lengths

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Bools, Ints, Problem

_ROUNDS = 3
_HEIRS = 2
"""With fewer replicas behind the leader there is nothing to choose."""

_ABOVE_FAIR, _BESIDES = 0.03, 3
"""The part above the fair share, and the leaders besides, up to which no entry is made for the heir alone."""


def order_lists(problem: Problem, lists: Ints, leader: Ints, free: Bools) -> Ints:
    """Return ordered replicas [P, W]: the leader, then as before, new ones last; heirs chosen where `free` [P]."""
    ordered = _leader_first(problem, lists, leader)
    if ordered.shape[1] > _HEIRS:
        choosable = problem.movable & (lengths(ordered) > _HEIRS)
        listed = free | (leader != problem.current[:, 0])
        heirs = _Heirs(problem, ordered)
        heirs.choose(np.flatnonzero(choosable & listed))
        heirs.relieve(choosable & ~listed)
    return ordered


def _leader_first(problem: Problem, lists: Ints, leader: Ints) -> Ints:
    width = lists.shape[1]
    place = np.full(lists.shape, width, np.int64)
    for column in range(width):
        before = problem.start[:, column : column + 1]
        place = np.where((lists == before) & (lists != NONE), column, place)
    place[lists == leader[:, None]] = -1
    place[lists == NONE] = width + 1
    changed = np.flatnonzero(any_of(lists != problem.start) | (leader != problem.start[:, 0]))
    ordered = problem.start.copy()
    by_place = np.lexsort((lists[changed], place[changed]), axis=1)
    ordered[changed] = np.take_along_axis(lists[changed], by_place, axis=1)
    return np.where(problem.movable[:, None], ordered, problem.start)


class _Heirs:
    """Ordered lists at work. `after` [B, B]: the partitions that each broker leads once the first one is lost."""

    def __init__(self, problem: Problem, ordered: Ints) -> None:
        brokers = len(problem.brokers)
        self._ordered = ordered
        self._may_hold = problem.brokers.may_hold
        self._may_lead = np.append(problem.brokers.may_lead, np.False_)  # the last one answers for NONE
        has_heir = np.flatnonzero(ordered[:, 1] != NONE)
        pairs = ordered[has_heir, 0] * brokers + ordered[has_heir, 1]
        self._after = np.bincount(pairs, minlength=brokers * brokers).reshape(brokers, brokers)
        self._after += np.bincount(ordered[:, 0], minlength=brokers)

    def choose(self, partitions: Ints) -> None:
        """Give each partition the heir that leads least then, one partition of every leader at a time."""
        leaders = self._ordered[partitions, 0]
        by_leader = np.argsort(leaders, kind="stable")
        ascending = leaders[by_leader]
        turn = np.arange(len(partitions)) - np.searchsorted(ascending, ascending)
        by_turn = by_leader[np.argsort(turn, kind="stable")]
        turns = np.split(partitions[by_turn], np.cumsum(np.bincount(turn))[:-1]) if len(partitions) else []
        for _ in range(_ROUNDS):
            for each in turns:
                self._choose_once(each)

    def _choose_once(self, partitions: Ints) -> None:
        """Choose the heirs of partitions that all have different leaders."""
        rows = self._ordered[partitions]
        every = np.arange(len(rows))
        self._after[rows[:, 0], rows[:, 1]] -= 1
        count = self._after[rows[:, 0, None], rows[:, 1:]]
        count = np.where(self._may_lead[rows[:, 1:]], count, np.iinfo(np.int64).max)
        best = 1 + count.argmin(axis=1)
        heir = rows[every, best]
        self._ordered[partitions, best] = rows[:, 1]
        self._ordered[partitions, 1] = heir
        self._after[rows[:, 0], heir] += 1

    def relieve(self, others: Bools) -> None:
        """Choose other heirs where a broker would come to lead too many; `others` [P] may get an entry for it."""
        left = int(self._may_hold.sum()) - 1
        if left < _HEIRS:
            return
        most = math.ceil(len(self._ordered) / left * (1 + _ABOVE_FAIR)) + _BESIDES
        over = self._after > most
        np.fill_diagonal(over, val=False)
        over &= self._may_hold & self._may_hold[:, None]
        partitions = np.flatnonzero(others)
        partitions = partitions[over[self._ordered[partitions, 0], self._ordered[partitions, 1]]]
        for partition in partitions.tolist():
            leader, heir = self._ordered[partition, :_HEIRS].tolist()
            row = self._ordered[partition]
            count = np.where(self._may_lead[row[_HEIRS:]], self._after[leader, row[_HEIRS:]], np.iinfo(np.int64).max)
            if self._after[leader, heir] > max(most, int(count.min()) + 1):
                self._choose_once(np.array([partition]))
