"""Evens out the bytes that brokers lead.

It does so by swapping the leadership of two partitions on the same two brokers.

Goals: every broker leads about as many bytes as the others.
Constraints: no replica moves, leader counts stay, and at most one leader change is added for every
twenty that the plan contains. A second run, which changes no leader, therefore swaps nothing.
Algorithm: the broker furthest from the mean swaps with one on the other side of it; the two
partitions are chosen so that both brokers come nearest to the mean. Swaps that add no leader change
come first. It ends when all brokers are near the mean, no swap helps, or no change may be added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.failed_swaps import FailedSwaps
from kadmin.planner.kernel.leader_candidates import added_leader_changes, leader_candidates
from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.replicas import stable_argsort
from kadmin.planner.kernel.subset_sum import SwapSide, nearest_swap

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Floats, Ints, PlacementProblem

_NEAR = 0.01
"""The distance from the mean, as a fraction of it, that needs no swap."""

_LEAST_GAIN = 0.001
"""The least approach of a pair to the mean by a swap, as a fraction of the mean."""

_PARTNERS = 12
"""Partners tried for a swap."""

_CHANGES_FOR_ONE = 20
"""The leader changes in the plan for each one that may be added."""

_MOST_COST = 2
"""The most leader changes that a swap adds: both partitions keep their leaders otherwise."""


def balance_leader_bytes(problem: PlacementProblem, lists: Ints, leader: Ints) -> None:
    """Swap leaders in place in `leader` [P], within `lists` [P, W]."""
    changes = int((leader != problem.current[:, 0]).sum())
    if changes and problem.size.any():
        _LeaderSwaps(problem, lists, leader, changes // _CHANGES_FOR_ONE).even_out()


class _LeaderSwaps:
    """The swaps in progress.

    `_arcs`, `_partitions`: leader_candidates at the start; `_came`: added since, by arc.
    """

    def __init__(self, problem: PlacementProblem, lists: Ints, leader: Ints, left: int) -> None:
        brokers = len(problem.brokers)
        self._problem, self._lists, self._leader = problem, lists, leader
        self._able = problem.brokers.may_lead & problem.brokers.may_hold
        self._load: Floats = np.bincount(leader, weights=problem.size, minlength=brokers).astype(
            np.float64
        )
        self._mean = float(self._load[self._able].mean()) if self._able.any() else 0.0
        self._left = left
        self._first = leader.copy()
        self._arcs, self._partitions = leader_candidates(
            problem, lists, leader, stable_argsort(problem.size)
        )
        self._size = problem.size[self._partitions]
        self._cost = added_leader_changes(
            problem, self._partitions, *np.divmod(self._arcs, brokers)
        )
        self._came: dict[int, list[int]] = {}
        self._failed_swaps = FailedSwaps(brokers)

    def even_out(self) -> None:
        """Swap until every broker is near the mean or has no partner."""
        mean, stuck = self._mean, ~self._able
        while True:
            excess = np.asarray(self._load - mean, np.float64)
            pivot = int(np.argmax(np.where(stuck, 0.0, np.abs(excess))))
            if stuck[pivot] or abs(excess[pivot]) <= _NEAR * mean:
                return
            partners = self._partners(pivot, excess)
            if not any(self._swap(pivot, partner, excess) for partner in partners):
                stuck[pivot] = True

    def _partners(self, pivot: int, excess: Floats) -> list[int]:
        opposite = np.where(self._able, -np.sign(excess[pivot]) * excess, -np.inf)
        order = np.argsort(-opposite, kind="stable")[:_PARTNERS]
        return [broker for broker in order.tolist() if opposite[broker] > -abs(excess[pivot])]

    def _swap(self, pivot: int, partner: int, excess: Floats) -> bool:
        """Swap two roles so that both brokers come nearest to the mean.

        The swap adds as few leader changes as help enough.
        """
        giver, taker = (pivot, partner) if excess[pivot] > 0 else (partner, pivot)
        if self._failed_swaps.contains(giver, taker, self._left):
            return False
        wanted = float(excess[giver] - excess[taker]) / 2
        sides = self._candidates_of(giver, taker), self._candidates_of(taker, giver)
        for cost in range(min(_MOST_COST, self._left) + 1):
            # Cheaper swaps were tried before and did not help enough: only those of exactly this
            # cost are tried.
            pair = nearest_swap(*sides, cost, wanted, exactly=cost > 0)
            if pair is not None:
                shift = float(self._problem.size[pair[0]] - self._problem.size[pair[1]])
                if wanted - abs(shift - wanted) >= _LEAST_GAIN * self._mean:
                    self._exchange((giver, taker), pair, shift)
                    return True
        self._failed_swaps.add(giver, taker, self._left)
        return False

    def _exchange(self, brokers: tuple[int, int], pair: tuple[int, int], shift: float) -> None:
        for leads, other, gone in zip(brokers, brokers[::-1], pair, strict=True):
            self._left -= int(
                added_leader_changes(self._problem, np.array([gone]), leads, other)[0]
            )
            self._leader[gone] = other
            if self._first[gone] != other:
                row = self._lists[gone]
                for broker in row[row != NONE].tolist():
                    self._came.setdefault(other * len(self._able) + broker, []).append(gone)
        self._load[list(brokers)] += np.array([-shift, shift])
        self._failed_swaps.forget(*brokers)

    def _candidates_of(self, leads: int, other: int) -> SwapSide:
        """Return the partitions that one broker leads and another could lead."""
        arc = leads * len(self._able) + other
        low, high = self._arcs.searchsorted((arc, arc + 1))
        led, came = self._partitions[low:high], self._came.get(arc, [])
        still = self._leader[led] == leads
        if not came and still.all():
            return SwapSide(led, self._size[low:high], self._cost[low:high])
        led = np.concatenate([led, np.array(came, np.int64)])
        led = led[self._leader[led] == leads]
        led = led[np.argsort(self._problem.size[led], kind="stable")]
        return SwapSide(
            led, self._problem.size[led], added_leader_changes(self._problem, led, leads, other)
        )
