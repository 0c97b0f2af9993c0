"""Evens out bytes by swapping replicas between two brokers, which leaves replica counts unchanged.

Goals: every broker's bytes within the tolerance of its goal, at the fewest further moves.
Algorithm: 1. Swaps that add no move, down to a fraction of the tolerance: both replicas move
anyway, or one returns to its current broker and another leaves in its place. The broker furthest
from its goal swaps with one on the other side of its own goal; the two replicas are chosen so that
both brokers come nearest to their goals. 2. On a small cluster, a broker that few replicas leave or
reach may still be off. It is brought to its goal for one move; swaps without a move then distribute
the bytes that its partner has too much. 3. Any swaps, the cheapest first, until all brokers are
within the tolerance or no swap helps. A second run finds no swap either.
Example: a broker at its count with 5 % too many bytes gives a large replica to a new broker and
keeps a small one that would have moved there; the new broker's other replicas are swapped with
those that move elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.failed_swaps import FailedSwaps
from kadmin.planner.kernel.placement_problem import NONE, any_per_row
from kadmin.planner.kernel.replicas import replicas_on, stable_argsort
from kadmin.planner.kernel.subset_sum import SwapSide, nearest_swap

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints
    from kadmin.planner.kernel.replicas import Replicas
    from kadmin.planner.kernel.topic_group import TopicGroup

_PARTNERS, _PARTNERS_IF_FEW = 2, 8
"""Partners tried for a swap, in the same rack and again in other racks."""

_FEW = 1_000_000
"""The most pairs of partition and broker for which a longer search is cheap."""

_FREE_PART = 0.25
"""The fraction of the tolerance down to which swaps without a move continue."""

_LEAST_GAIN = 0.05
"""The least approach of a pair to its goals by a swap, as a fraction of the tolerance."""

_ANY_COST = 2
"""The most moves that a swap adds: both replicas leave their current brokers."""


def balance_bytes(group: TopicGroup) -> None:
    """Swap a group's replicas until all bytes are within tolerance of their goals.

    Stop where no swap helps.
    """
    if not group.placement.problem.size[group.members].any():
        return
    goal = group.even_load()
    slack = group.byte_slack(goal)
    swaps = _Swaps(group, goal)
    if not np.array_equal(group.placement.slots, group.placement.problem.current):
        swaps.even_out(slack * _FREE_PART, most_cost=0)
        if swaps.few:
            swaps.swap_for_one_move(slack)
    swaps.even_out(slack, most_cost=_ANY_COST)


@dataclass(frozen=True, slots=True, eq=False)
class _BrokerReplicas:
    """The replicas of one broker, ascending by size: arrays [N].

    `current` [N, W] are their current lists.
    """

    partition: Ints
    slot: Ints
    size: Ints
    current: Ints

    def only(self, which: Bools | Ints) -> _BrokerReplicas:
        return _BrokerReplicas(
            self.partition[which], self.slot[which], self.size[which], self.current[which]
        )

    def exchanged(self, gone: int, other: _BrokerReplicas, come: int) -> _BrokerReplicas:
        """Return the replicas without position `gone`.

        Position `come` of another broker is inserted by size.
        """
        last = len(self.size)
        place = int(self.size.searchsorted(other.size[come], side="right"))
        order = np.concatenate([np.arange(place), [last], np.arange(place, last)])
        order = order[order != gone]
        return _BrokerReplicas(
            np.append(self.partition, other.partition[come])[order],
            np.append(self.slot, other.slot[come])[order],
            np.append(self.size, other.size[come])[order],
            np.concatenate([self.current, other.current[come : come + 1]])[order],
        )


class _Swaps:
    """The swaps of one group.

    Each broker's replicas are sorted by size when first needed, and kept sorted.
    """

    def __init__(self, group: TopicGroup, goal: Floats) -> None:
        self._group, self._goal = group, goal
        self._placement = group.placement
        self._problem = group.placement.problem
        strict = bool((self._problem.rack_cap[group.members] == 1).all())
        self._one_per_rack = strict and self._problem.brokers.all_lead
        self.few = len(group.members) * len(goal) <= _FEW
        self._most_partners = _PARTNERS_IF_FEW if self.few else _PARTNERS
        self._listed: Replicas | None = None
        self._by_broker: dict[int, _BrokerReplicas] = {}
        self._failed_swaps = FailedSwaps(len(goal))

    def even_out(self, slack: Floats, *, most_cost: int) -> None:
        """Swap until every broker is within its slack [B] (bytes) or has no partner.

        `most_cost`: moves per swap. With _ANY_COST, brokers without a partner are tried again after
        each swap, so that no swap is left at the end.
        """
        stuck = np.zeros(len(self._goal), np.bool_)
        while True:
            off = np.where(stuck, 0.0, self._off(slack))
            pivot = int(np.argmax(off))
            if off[pivot] <= 1:
                return
            if not any(self._swap_with_any(pivot, slack, cost) for cost in range(most_cost + 1)):
                stuck[pivot] = True
            elif most_cost == _ANY_COST:
                stuck[:] = False

    def swap_for_one_move(self, slack: Floats) -> None:
        """Bring each broker beyond its slack to its goal for one move; swap for none after each.

        A broker for which that does not reduce the total excess over slack is not tried again.
        """
        stuck = np.zeros(len(self._goal), np.bool_)
        while True:
            off = self._off(slack)
            pivot = int(np.argmax(np.where(stuck, 0.0, off)))
            if stuck[pivot] or off[pivot] <= 1:
                return
            if self._swap_for_one_move(pivot, slack):
                self.even_out(slack * _FREE_PART, most_cost=0)
            stuck[pivot] = _beyond(off) - _beyond(self._off(slack)) < _LEAST_GAIN

    def _swap_for_one_move(self, pivot: int, slack: Floats) -> bool:
        """Swap for one move so that the pivot comes nearest to its goal, whatever its partner's."""
        excess = float(self._excess()[pivot])
        wanted, nearest, chosen = abs(excess), abs(excess) - _LEAST_GAIN * float(slack[pivot]), None
        for partner in self._absorbers(pivot):
            pair = (pivot, partner) if excess > 0 else (partner, pivot)
            found = nearest_swap(
                self._candidates_of(*pair), self._candidates_of(*pair[::-1]), 1, wanted
            )
            if found is None:
                continue
            left = abs(wanted - self._shift(pair, found))
            if left < nearest and self._fits(pair, found):
                nearest, chosen = left, (pair, found)
            if nearest <= slack[pivot] * _FREE_PART:
                break
        if chosen is not None:
            self._exchange(*chosen)
        return chosen is not None

    def _absorbers(self, pivot: int) -> list[int]:
        """Return the partners that gain most replicas in the plan."""
        return self._first(
            pivot, np.argsort(self._count_before - self._placement.count, kind="stable")
        )

    @cached_property
    def _count_before(self) -> Ints:
        current = self._problem.current
        return np.bincount(current[current != NONE], minlength=len(self._goal))

    def _off(self, slack: Floats) -> Floats:
        """Return the distance of each broker from its goal in units of its slack, [B].

        0 if it may not receive.
        """
        return np.where(self._group.receives, np.abs(self._excess()) / slack, 0.0)

    def _excess(self) -> Floats:
        return np.asarray(self._placement.load - self._goal)

    def _swap_with_any(self, pivot: int, slack: Floats, cost: int) -> bool:
        excess = self._excess()
        for partner in self._partners(pivot, excess):
            giver, taker = (pivot, partner) if excess[pivot] > 0 else (partner, pivot)
            least = _LEAST_GAIN * float(min(slack[giver], slack[taker]))
            if self._swap((giver, taker), float(excess[giver] - excess[taker]) / 2, least, cost):
                return True
        return False

    def _partners(self, pivot: int, excess: Floats) -> list[int]:
        """Return the partners furthest off on the other side of their goals."""
        opposite = -np.sign(excess[pivot]) * excess
        order = np.argsort(-opposite, kind="stable")
        return self._first(pivot, order[opposite[order] > -abs(excess[pivot])])

    def _first(self, pivot: int, order: Ints) -> list[int]:
        """Return the first few brokers of `order` that may receive in the pivot's rack.

        Then return those in other racks.
        """
        order = order[self._group.receives[order] & (order != pivot)]
        rack, pivot_rack = self._problem.brokers.rack[order], self._problem.brokers.rack[pivot]
        near, far = (
            order[rack == pivot_rack],
            order[(rack != pivot_rack) & self._open[rack] & self._open[pivot_rack]],
        )
        return [*near[: self._most_partners].tolist(), *far[: self._most_partners].tolist()]

    @cached_property
    def _open(self) -> Bools:
        return self._group.open_racks()  # swaps never open a rack

    def _swap(self, pair: tuple[int, int], wanted: float, least: float, cost: int) -> bool:
        """Swap the two replicas that shift nearest to `wanted` bytes from giver to taker.

        Do so if that gains `least`.
        """
        if self._failed_swaps.contains(*pair, cost, least):
            return False
        found = nearest_swap(
            self._candidates_of(*pair), self._candidates_of(*pair[::-1]), cost, wanted
        )
        if (
            found is None
            or wanted - abs(self._shift(pair, found) - wanted) < least
            or not self._fits(pair, found)
        ):
            if self._unhindered(*pair):
                self._failed_swaps.add(*pair, cost, least)
            return False
        self._exchange(pair, found)
        return True

    def _shift(self, pair: tuple[int, int], found: tuple[int, int]) -> int:
        """Return the bytes that a swap shifts from giver to taker."""
        return int(
            self._replicas_of(pair[0]).size[found[0]] - self._replicas_of(pair[1]).size[found[1]]
        )

    def _fits(self, pair: tuple[int, int], found: tuple[int, int]) -> bool:
        """Whether the taker has capacity for a swap."""
        taker, shift = pair[1], self._shift(pair, found)
        return bool(self._placement.load[taker] + shift <= self._problem.brokers.capacity[taker])

    def _exchange(self, pair: tuple[int, int], found: tuple[int, int]) -> None:
        out, back, (gone, come) = self._replicas_of(pair[0]), self._replicas_of(pair[1]), found
        self._placement.move(int(out.partition[gone]), int(out.slot[gone]), pair[1])
        self._placement.move(int(back.partition[come]), int(back.slot[come]), pair[0])
        self._failed_swaps.forget(*pair)
        self._by_broker[pair[0]] = out.exchanged(gone, back, come)
        self._by_broker[pair[1]] = back.exchanged(come, out, gone)

    def _replicas_of(self, broker: int) -> _BrokerReplicas:
        if self._listed is None:
            self._listed = replicas_on(
                self._placement, self._group.members, np.arange(len(self._goal))
            )
        if broker not in self._by_broker:
            held = self._listed.on_broker(broker)
            held = held.only(stable_argsort(self._problem.size[held.partition]))
            size, current = (
                self._problem.size[held.partition],
                self._problem.current.take(held.partition, axis=0),
            )
            self._by_broker[broker] = _BrokerReplicas(held.partition, held.slot, size, current)
        return self._by_broker[broker]

    def _candidates_of(self, giver: int, taker: int) -> SwapSide:
        held = self._replicas_of(giver)
        cost = any_per_row(held.current == giver).astype(np.int64) - any_per_row(
            held.current == taker
        )
        if self._unhindered(giver, taker):
            return SwapSide(np.arange(len(cost)), held.size, cost)
        able = np.flatnonzero(self._placement.may_cross(held.partition, giver, taker))
        return SwapSide(able, held.size[able], cost[able])

    def _unhindered(self, giver: int, taker: int) -> bool:
        """Whether every replica of either broker may go to the other.

        That is so for the same rack, one replica per rack, all may lead.
        """
        rack = self._problem.brokers.rack
        return self._one_per_rack and bool(rack[giver] == rack[taker])


def _beyond(off: Floats) -> float:
    """Return the sum over brokers of their excess beyond their slack, in slacks."""
    return float(np.maximum(off - 1, 0).sum())
