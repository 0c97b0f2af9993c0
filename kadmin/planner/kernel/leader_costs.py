"""Lowers the cost of leaders, where a partition costs more in one zone than in another.

Goals: the least cost of all leaders; with few leader changes, those that save most.
Constraints: no replica moves, immovable partitions keep their leaders, leader counts stay between
the lowest and the highest that there are, and stay as they are where these are further than one
apart.
Algorithm: min-cost flow on the brokers. The arc a -> b costs what the partition adds that adds
least, of those that a leads and b may lead. The hub is a further node: a broker above the lowest
count may end with a leader less, one below the highest with one more. Negative cycles are cancelled
(Klein, 1967), each as often as it stays one; where none is left, the cost is the least that these
counts allow. A leader change has a price, at first so high that only those which save most are
worth it; it falls to nothing, or until the budget of changes is used up.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.leader_candidates import added_leader_changes, leader_candidates
from kadmin.planner.kernel.negative_cycles import NO_ARC, negative_cycle
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import LeaderCosts
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_PRICES = 10
"""The number of times that the price of a leader change is halved before it is 0."""


def leader_costs(lists: Ints, costs: LeaderCosts) -> Ints:
    """Return the cost of each partition with the leader in each slot of `lists`, [P, W].

    0 in empty slots.
    """
    held = lists != NONE
    zones = costs.zone[np.where(held, lists, 0)]
    clients = np.take_along_axis(costs.client, zones, axis=1)
    apart = np.stack(
        [((zones != zones[:, [slot]]) & held).sum(axis=1) for slot in range(lists.shape[1])], axis=1
    )
    return np.asarray(np.where(held, clients + apart * costs.copy[:, None], 0))


def lower_leader_costs(
    problem: PlacementProblem, lists: Ints, leader: Ints, costs: LeaderCosts, budget: int
) -> None:
    """Choose cheaper leaders in place in `leader` [P], within `lists` [P, W].

    Make at most `budget` further changes.
    """
    cost = leader_costs(lists, costs)
    dearest = cost.max(axis=1, initial=0)
    spread = int(
        (dearest - np.where(lists == NONE, dearest[:, None], cost).min(axis=1)).max(initial=0)
    )
    prices = [spread >> halved for halved in range(1, _PRICES + 1)]
    for price in (*dict.fromkeys(prices), 0):
        network = _LeaderNetwork(problem, lists, leader, cost, price)
        budget = network.lower(budget)


class _LeaderNetwork:
    """The flow of leaders between brokers at one price of a leader change.

    `_arcs` [B + 1, B + 1]: the cost of each arc, the last node is the hub; `_heaps`: what each
    arc's partitions add, with entries of partitions that another broker leads by now.
    """

    def __init__(
        self, problem: PlacementProblem, lists: Ints, leader: Ints, cost: Ints, price: int
    ) -> None:
        self._problem, self._lists, self._leader, self._cost, self._price = (
            problem,
            lists,
            leader,
            cost,
            price,
        )
        self._able = problem.brokers.may_lead & problem.brokers.may_hold
        self._hub = len(problem.brokers)
        self._count = np.bincount(leader, minlength=self._hub)
        self._heaps: dict[int, list[tuple[int, int]]] = {}
        self._arcs = np.full((self._hub + 1, self._hub + 1), NO_ARC, np.int64)
        keys, partitions = leader_candidates(problem, lists, leader, np.arange(len(leader)))
        added = self._added(partitions, *np.divmod(keys, self._hub))
        order = np.lexsort((partitions, added, keys))
        firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        for low, high in itertools.pairwise([*firsts.tolist(), len(order)]):
            at = order[low:high]  # ascending, which is a heap
            self._heaps[int(keys[at[0]])] = list(
                zip(added[at].tolist(), partitions[at].tolist(), strict=True)
            )
            self._arcs[np.divmod(keys[at[0]], self._hub)] = added[at[0]]

    def lower(self, budget: int) -> int:
        """Cancel negative cycles; returns the unused budget of leader changes."""
        while (cycle := self._negative_cycle()) is not None:
            if (left := self._cancel(_steps(cycle, self._hub), budget)) is None:
                return 0
            budget = left
        return budget

    def _negative_cycle(self) -> list[int] | None:
        count = self._count[self._able]
        low, high = int(count.min(initial=len(self._leader))), int(count.max(initial=0))
        open_ = self._able & (high - low == 1)
        self._arcs[self._hub, : self._hub] = np.where(open_ & (self._count > low), 0, NO_ARC)
        self._arcs[: self._hub, self._hub] = np.where(open_ & (self._count < high), 0, NO_ARC)
        return negative_cycle(self._arcs)

    def _cancel(self, steps: list[tuple[int, int]], budget: int) -> int | None:
        """Pass on leaders along a cycle as long as that saves something.

        Returns the budget left, None: too small.
        """
        givers, takers = (np.array(ends) for ends in zip(*steps, strict=True))
        while True:
            found = [self._top(giver, taker) for giver, taker in steps]
            if NONE in found or sum(int(self._arcs[step]) for step in steps) >= 0:
                return budget
            changes = int(
                added_leader_changes(self._problem, np.array(found), givers, takers).sum()
            )
            if changes > budget:
                return None
            budget -= changes
            for partition, (giver, taker) in zip(found, steps, strict=True):
                self._shift(partition, giver, taker)
            for giver, taker in itertools.product(
                {*givers.tolist(), *takers.tolist()}, range(self._hub)
            ):
                self._top(giver, taker)
            if givers[0] != takers[-1]:  # a path: its ends have the counts that they may have
                return budget

    def _top(self, giver: int, taker: int) -> int:
        """Return the partition of an arc that adds least, NONE where there is none.

        Updates the arc's cost.
        """
        heap = self._heaps.get(giver * self._hub + taker, [])
        while heap and self._leader[heap[0][1]] != giver:
            heapq.heappop(heap)
        self._arcs[giver, taker] = heap[0][0] if heap else NO_ARC
        return heap[0][1] if heap else NONE

    def _shift(self, partition: int, giver: int, taker: int) -> None:
        self._leader[partition] = taker
        self._count[giver] -= 1
        self._count[taker] += 1
        others = [
            each
            for each in self._lists[partition].tolist()
            if each not in (NONE, taker) and self._able[each]
        ]
        rows, takers = np.full(len(others), partition), np.array(others, np.int64)
        for other, added in zip(others, self._added(rows, taker, takers).tolist(), strict=True):
            heapq.heappush(
                self._heaps.setdefault(taker * self._hub + other, []), (added, partition)
            )

    def _added(self, partitions: Ints, giver: Ints | int, taker: Ints) -> Ints:
        """Return the cost that is added if `taker` leads each partition instead of `giver`, [N]."""
        saved = self._cost_with(partitions, np.broadcast_to(giver, taker.shape))
        changes = added_leader_changes(self._problem, partitions, giver, taker)
        return self._cost_with(partitions, taker) - saved + self._price * changes

    def _cost_with(self, partitions: Ints, leader: Ints) -> Ints:
        slot = (self._lists[partitions] == leader[:, None]).argmax(axis=1)
        return np.asarray(self._cost[partitions, slot])


def _steps(cycle: list[int], hub: int) -> list[tuple[int, int]]:
    """Return the arcs of a cycle between brokers."""
    if hub not in cycle:
        return list(itertools.pairwise([*cycle, cycle[0]]))
    at = cycle.index(hub)
    return list(itertools.pairwise([*cycle[at + 1 :], *cycle[:at]]))
