"""Evens out bytes by swapping replicas between two brokers, so that counts stay as they are.

Goals: every broker's bytes within the tolerance of its share, at the fewest further moves.
Algorithm: replicas that are under way anyway are swapped first, which costs nothing, down to a fraction of the
tolerance; after that any replicas, until the tolerance is met. The broker that is furthest off swaps with one on the
other side, the two replicas chosen so that both come nearest to their shares. It ends where no such swap helps, a
state from which a second run finds none either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.problem import member
from kadmin.planner.kernel.replicas import Replicas, replicas_on, stable_order
from kadmin.planner.kernel.subset import nearest_exchange

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Bools, Floats
    from kadmin.planner.kernel.share import Share

_PARTNERS = 3
"""Brokers tried on the other side, in the same rack and again in other racks."""

_FREE_PART = 0.125
"""Swaps that cost nothing go on down to this part of the tolerance."""

_LEAST_GAIN = 0.05
"""A swap must bring the pair nearer by this part of the tolerance."""


def even_sizes(share: Share) -> None:
    """Swap replicas until bytes are within tolerance of their shares, or no swap helps."""
    problem = share.placement.problem
    if not problem.size[share.members].any():
        return
    goal = share.even_load()
    settled = goal - share.others_load + share.base_load  # groups still to be placed say nothing about what is even
    slack = share.tolerance * np.maximum(settled, 1.0)
    on = replicas_on(share.placement, share.members, np.arange(len(problem.brokers)))
    underway = on.only(~member(problem.current[on.partition], on.broker))
    _Swaps(share, underway, goal, slack * _FREE_PART).run(thorough=False)
    on = replicas_on(share.placement, share.members, np.arange(len(problem.brokers)))
    _Swaps(share, on, goal, slack).run(thorough=True)


class _Swaps:
    """One round of swaps among the replicas listed, each broker's kept in order of size."""

    def __init__(self, share: Share, listed: Replicas, goal: Floats, slack: Floats) -> None:
        self._placement = share.placement
        self._problem = share.placement.problem
        self._receives = share.receives
        strict = bool((self._problem.rack_cap[share.members] == 1).all())
        self._parted = strict and self._problem.brokers.all_lead
        self._goal, self._slack = goal, slack
        sizes = self._problem.size[listed.partition]
        by_size = np.argsort(sizes, kind="stable")
        ordered = listed.only(by_size[stable_order(listed.broker[by_size])])
        self._on = {broker: ordered.of(broker) for broker in np.flatnonzero(share.receives).tolist()}

    def run(self, *, thorough: bool) -> None:
        """Swap until every broker is within its slack or has nobody to swap with.

        `thorough` asks those that had nobody again after each swap, so that the end is a state without any swap.
        """
        stuck = np.zeros(len(self._goal), np.bool_)
        while True:
            off = np.abs(self._excess()) / self._slack
            off[~self._receives | stuck] = 0
            pivot = int(np.argmax(off))
            if off[pivot] <= 1:
                return
            if not self._swap_with_somebody(pivot):
                stuck[pivot] = True
            elif thorough:
                stuck[:] = False

    def _excess(self) -> Floats:
        return np.asarray(self._placement.load - self._goal)

    def _swap_with_somebody(self, pivot: int) -> bool:
        excess = self._excess()
        for partner in self._partners(pivot, excess):
            giver, taker = (pivot, partner) if excess[pivot] > 0 else (partner, pivot)
            if self._swap(giver, taker, float(excess[giver] - excess[taker]) / 2):
                return True
        return False

    def _partners(self, pivot: int, excess: Floats) -> list[int]:
        rack = self._problem.brokers.rack
        opposite = -np.sign(excess[pivot]) * excess
        order = np.argsort(-opposite, kind="stable")
        order = order[self._receives[order] & (opposite[order] > -abs(excess[pivot])) & (order != pivot)]
        near, far = order[rack[order] == rack[pivot]], order[rack[order] != rack[pivot]]
        return [*near[:_PARTNERS].tolist(), *far[:_PARTNERS].tolist()]

    def _swap(self, giver: int, taker: int, wanted: float) -> bool:
        """Swap the two replicas that shift nearest to `wanted` bytes from giver to taker, if that helps enough."""
        size = self._problem.size
        large, small = self._crossing(giver, taker), self._crossing(taker, giver)
        pair = nearest_exchange(size[small.partition], size[large.partition], wanted)
        if pair is None:
            return False
        back, out = small.only(np.array([pair[0]])), large.only(np.array([pair[1]]))
        shift = float(size[out.partition[0]] - size[back.partition[0]])
        gain = wanted - abs(shift - wanted)
        if gain < _LEAST_GAIN * min(self._slack[giver], self._slack[taker]):
            return False
        if self._placement.load[taker] + shift > self._problem.brokers.capacity[taker]:
            return False
        self._exchange(out, back)
        return True

    def _crossing(self, giver: int, taker: int) -> Replicas:
        """Return the replicas of one broker that may go to another, one of that broker's coming back."""
        rack, replicas = self._problem.brokers.rack, self._on[giver]
        if self._parted and rack[giver] == rack[taker]:
            return replicas
        return replicas.only(self._may_cross(replicas, taker))

    def _may_cross(self, replicas: Replicas, broker: int) -> Bools:
        placement, brokers = self._placement, self._problem.brokers
        held = placement.slots[replicas.partition]
        free = (held != broker).all(axis=1)
        if len(replicas) and brokers.rack[replicas.broker[0]] != brokers.rack[broker]:
            on_rack = placement.per_rack[replicas.partition, brokers.rack[broker]]
            free &= on_rack < self._problem.rack_cap[replicas.partition]
        if not brokers.may_lead[broker]:
            free &= replicas.may_go(placement)
        return np.asarray(free)

    def _exchange(self, out: Replicas, back: Replicas) -> None:
        giver, taker = int(out.broker[0]), int(back.broker[0])
        self._placement.move(int(out.partition[0]), int(out.slot[0]), taker)
        self._placement.move(int(back.partition[0]), int(back.slot[0]), giver)
        self._on[giver] = self._replaced(giver, out, back)
        self._on[taker] = self._replaced(taker, back, out)

    def _replaced(self, broker: int, gone: Replicas, come: Replicas) -> Replicas:
        here = self._on[broker]
        stays = here.only((here.partition != gone.partition[0]) | (here.slot != gone.slot[0]))
        size = self._problem.size[come.partition[0]]
        at = int(np.searchsorted(self._problem.size[stays.partition], size, side="right"))
        return Replicas(
            np.insert(stays.broker, at, broker),
            np.insert(stays.partition, at, come.partition[0]),
            np.insert(stays.slot, at, come.slot[0]),
        )
