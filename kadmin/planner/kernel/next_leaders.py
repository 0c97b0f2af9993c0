"""Orders the replicas behind the leader, which determines the leaders after the loss of a broker.

Goals: after the loss of any broker, no other leads more than a few percent above the mean of those
left.
Constraints: partitions that are reassigned anyway are reordered first, which adds no entry to the
plan; others only where a broker would still lead more than that.
Algorithm: Kafka elects the first live in-sync replica of the list, so the second replica is the
next leader. In rounds, each partition whose next leader would lead more after the loss than another
of its replicas would takes that one instead; per round at most as many as even the two out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, any_per_row, list_lengths
from kadmin.planner.kernel.replicas import running_count

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem

_ROUNDS = 32
_UNEVEN = 2
"""The smallest difference of two counts that passing one partition reduces."""

_CHOICES = 2
"""The longest list without a choice of the next leader."""

_ABOVE_FAIR, _BESIDES = 0.03, 3
"""The excess of leaders after a loss that adds no entry: this fraction above the mean, and so many
leaders more."""


def order_replicas(problem: PlacementProblem, lists: Ints, leader: Ints, free: Bools) -> Ints:
    """Return ordered replicas [P, W]: leader, kept replicas in their order, new ones by broker id.

    The next leader is chosen where `free` [P] marks a partition that is reassigned anyway, and
    where the load after a loss requires it.
    """
    ordered = _leader_first(problem, lists, leader)
    if ordered.shape[1] > _CHOICES:
        choosable = problem.movable & (list_lengths(ordered) > _CHOICES)
        listed = free | (leader != problem.current[:, 0])
        next_leaders = _NextLeaders(problem, ordered)
        next_leaders.choose(np.flatnonzero(choosable & listed))
        next_leaders.reduce_overload(choosable & ~listed)
    return ordered


def _leader_first(problem: PlacementProblem, lists: Ints, leader: Ints) -> Ints:
    start, brokers, width = problem.start, len(problem.brokers), lists.shape[1]
    changed = np.flatnonzero(
        (any_per_row(lists != start) | (leader != start[:, 0])) & problem.movable
    )
    before, keys = start.take(changed, axis=0), lists.take(changed, axis=0)
    for column in range(width):
        held = keys[:, column]
        place = np.full(len(changed), width)
        for earlier in reversed(range(width)):
            place[held == before[:, earlier]] = earlier
        place[held == leader[changed]] = -1
        place[held == NONE] = width + 1
        keys[:, column] = (place + 1) * (brokers + 1) + held + 1  # by place, then by broker
    keys.sort(axis=1)
    ordered = start.copy()
    ordered[changed] = keys % (brokers + 1) - 1
    return ordered


class _NextLeaders:
    """Ordered lists in progress.

    `_after` [B, B]: partitions that the column leads after the loss of the row.
    """

    def __init__(self, problem: PlacementProblem, ordered: Ints) -> None:
        brokers = len(problem.brokers)
        self._ordered = ordered
        self._may_hold = problem.brokers.may_hold
        # The last element is for NONE.
        self._may_lead = np.append(problem.brokers.may_lead, np.False_)
        has_next = np.flatnonzero(ordered[:, 1] != NONE)
        pairs = ordered[has_next, 0] * brokers + ordered[has_next, 1]
        self._after = np.bincount(pairs, minlength=brokers * brokers).reshape(brokers, brokers)
        self._after += np.bincount(ordered[:, 0], minlength=brokers)

    def choose(self, partitions: Ints) -> None:
        """Choose the next leaders of some partitions, in rounds."""
        leader = self._ordered[partitions, 0]
        for _ in range(_ROUNDS):
            next_leaders = self._ordered.take(partitions, axis=0)[:, 1:]
            now = self._after[leader, next_leaders[:, 0]]
            best, least = self._best(leader, next_leaders)
            which = np.flatnonzero(now - least >= _UNEVEN)
            gain = (now - least)[which] // _UNEVEN
            brokers = len(self._after)
            which = which[running_count(leader[which] * brokers + next_leaders[which, 0]) < gain]
            gain = (now - least)[which] // _UNEVEN
            which = which[
                running_count(leader[which] * brokers + next_leaders[which, best[which]]) < gain
            ]
            if not len(which):
                return
            self._promote(partitions[which], best[which])

    def _best(self, leader: Ints, next_leaders: Ints) -> tuple[Ints, Ints]:
        """Return the column of the replica that would lead least after each leader's loss.

        Also return its count, both [N].
        """
        best = np.zeros(len(next_leaders), np.int64)
        least = np.full(len(next_leaders), np.iinfo(np.int64).max)
        for column, next_leader in enumerate(next_leaders.T):
            count = self._after[leader, next_leader]
            lower = np.flatnonzero(self._may_lead[next_leader] & (count < least))
            best[lower], least[lower] = column, count[lower]
        return best, least

    def _promote(self, partitions: Ints, column: Ints) -> None:
        """Make the replica in a column (0: the next leader itself) each partition's next leader."""
        leader, old = self._ordered[partitions, 0], self._ordered[partitions, 1]
        next_leader = self._ordered[partitions, 1 + column]
        self._ordered[partitions, 1 + column] = old
        self._ordered[partitions, 1] = next_leader
        np.subtract.at(self._after, (leader, old), 1)
        np.add.at(self._after, (leader, next_leader), 1)

    def reduce_overload(self, others: Bools) -> None:
        """Choose other next leaders where a broker would lead too many.

        Only `others` [P] are reordered.
        """
        left = int(self._may_hold.sum()) - 1
        if left < _CHOICES:
            return
        most = math.ceil(len(self._ordered) / left * (1 + _ABOVE_FAIR)) + _BESIDES
        over = self._after > most
        np.fill_diagonal(over, val=False)
        over &= self._may_hold & self._may_hold[:, None]
        partitions = np.flatnonzero(others)
        partitions = partitions[over[self._ordered[partitions, 0], self._ordered[partitions, 1]]]
        for partition in np.split(partitions, len(partitions)) if len(partitions) else []:
            row = self._ordered[partition]
            now = self._after[row[:, 0], row[:, 1]]
            best, least = self._best(row[:, 0], row[:, 1:])
            if now > most and now > least + 1:
                self._promote(partition, best)
