"""Exchanges replicas between brokers so that leaders can be more even, without a further move.

Goals: leader counts within one of each other also where whole partitions are on brokers that lead
too many, as small capacities leave them.
Constraints: replica counts, moves, racks and capacities stay as they are; the bytes of a broker
stay within their tolerance, or as near to their goal as before.
Algorithm: brokers are closed where every partition that one of them leads has all its replicas that
may lead among them: no leader can leave. A replica of such a partition exchanges brokers with a
replica of another partition outside, and one more leader can. As many exchanges as the counts need
come first, then single ones; each is kept if leaders are more even by it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.bounds import even_load, moves_per_partition
from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.leaders import even_leaders, leaders_within_one
from kadmin.planner.kernel.placement_problem import any_per_row
from kadmin.planner.kernel.replicas import replicas_on, stable_argsort

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints
    from kadmin.planner.kernel.replicas import Replicas

_SINGLE, _PARTITIONS = 64, 200_000
"""The most single exchanges that are tried after those that the counts need, and the most
partitions whose leaders are chosen for them all."""

_TAKERS = 16
"""The most outside brokers to which a leader is passed at once."""

_Exchange = tuple[tuple[int, int], tuple[int, int]]
"""Two replicas that exchange brokers, each as partition and slot."""


def open_ways(placement: Placement, leader: Ints) -> Ints:
    """Exchange replicas until leaders are within one of each other, or no exchange helps.

    Return the new leaders, [P].
    """
    problem = placement.problem
    while (
        not leaders_within_one(problem, leader)
        and moves_per_partition(problem, placement.slots).any()
    ):
        better = _after_exchanges(placement, leader)
        if better is None:
            break
        leader = better
    return leader


def _after_exchanges(placement: Placement, leader: Ints) -> Ints | None:
    """Make the first exchanges that make leaders more even; None where none do."""
    ways = _Ways(placement, leader)
    single = max(min(_PARTITIONS // max(len(leader), 1), _SINGLE), 1)
    exchanges = list(islice(ways.exchanges(), single + ways.needed))
    together = _disjoint(exchanges, ways.needed)
    for attempt in (together, *([each] for each in exchanges[:single])):
        before = placement.slots.copy()
        for each in attempt:
            if ways.suits(each):
                _exchange(placement, each)
        free = ~reorders_only(placement.problem, placement.slots)
        found = even_leaders(placement.problem, placement.slots, free)
        if _unevenness(placement, found) < _unevenness(placement, leader):
            return found
        placement.restore(before)
    return None


def _unevenness(placement: Placement, leader: Ints) -> int:
    counts = np.bincount(leader, minlength=len(placement.count))
    return int((counts * counts).sum())


def _disjoint(exchanges: list[_Exchange], most: int) -> list[_Exchange]:
    """Return the first exchanges that share no partition."""
    taken, found = set[int](), list[_Exchange]()
    for one, other in exchanges:
        if len(found) < most and not taken & {one[0], other[0]}:
            taken |= {one[0], other[0]}
            found.append((one, other))
    return found


def _exchange(placement: Placement, exchange: _Exchange) -> None:
    (one, slot), (other, place) = exchange
    giver, taker = int(placement.slots[one, slot]), int(placement.slots[other, place])
    placement.take(one, slot)
    placement.take(other, place)
    placement.put(one, slot, taker)
    placement.put(other, place, giver)


class _Ways:
    """The exchanges that let a leader leave closed brokers."""

    def __init__(self, placement: Placement, leader: Ints) -> None:
        self._placement, self._problem, self._leader = placement, placement.problem, leader
        brokers = placement.problem.brokers
        self._count = np.bincount(leader, minlength=len(brokers))
        able = brokers.may_lead & brokers.may_hold
        self._closed = self._closed_brokers(able)
        self._outside = able & ~self._closed
        goal = even_load(placement.problem)
        self._goal = placement.load.astype(np.float64) if goal is None else goal
        self._slack = (0.0 if goal is None else placement.problem.tolerance) * self._goal

    @property
    def needed(self) -> int:
        """How many leaders have to leave the closed brokers until both sides are as full."""
        inside, outside = int(self._closed.sum()), int(self._outside.sum())
        led, leads = int(self._count[self._closed].sum()), int(self._count[self._outside].sum())
        return max((led * outside - leads * inside) // max(inside + outside, 1), 1)

    def exchanges(self) -> Iterator[_Exchange]:
        """Yield exchanges, to the outside brokers that lead fewest first."""
        movable = np.flatnonzero(self._problem.movable)
        held = replicas_on(self._placement, movable, np.arange(len(self._count)))
        outside = np.flatnonzero(self._outside)
        fewest_first = outside[np.argsort(self._count[outside], kind="stable")]
        for taker in fewest_first[:_TAKERS].tolist():
            coming = held.on_broker(taker)
            for giver in np.flatnonzero(self._closed).tolist():
                going = held.on_broker(giver)
                going = going.only(self._closed[self._leader[going.partition]])
                yield from self._between(going, coming, (giver, taker))

    def suits(self, exchange: _Exchange) -> bool:
        """Whether both brokers still have the bytes and the capacity for an exchange."""
        slots, load, size = self._placement.slots, self._placement.load, self._problem.size
        giver, taker = (int(slots[each]) for each in exchange)
        shift = int(size[exchange[0][0]] - size[exchange[1][0]])
        then = np.array([load[giver] - shift, load[taker] + shift])
        pair = [giver, taker]
        far = np.maximum(np.abs(load[pair] - self._goal[pair]), self._slack[pair])
        near = (np.abs(then - self._goal[pair]) <= far).all()
        return bool(near and (then <= self._problem.brokers.capacity[pair]).all())

    def _between(
        self, going: Replicas, coming: Replicas, pair: tuple[int, int]
    ) -> Iterator[_Exchange]:
        """Yield exchanges of the replicas of two brokers, of replicas of about one size."""
        going, coming = self._able(going, *pair), self._able(coming, *pair[::-1])
        costs = self._cost(going, *pair), self._cost(coming, *pair[::-1])
        for cost in (-1, 0, 1):
            ones, others = going.only(costs[0] == cost), coming.only(costs[1] <= -cost)
            if len(ones) and len(others):
                yield from filter(self.suits, self._nearest(ones, others))

    def _able(self, replicas: Replicas, giver: int, taker: int) -> Replicas:
        """Return the replicas that may go from giver to taker in an exchange."""
        problem, partition = self._problem, replicas.partition
        able = self._placement.may_cross(partition, giver, taker)
        able &= problem.allowed[problem.group[partition], taker]
        if not problem.brokers.may_receive[taker]:
            able &= any_per_row(problem.start.take(partition, axis=0) == taker)
        return replicas.only(able)

    def _nearest(self, ones: Replicas, others: Replicas) -> Iterator[_Exchange]:
        """Pair each of some replicas with one of others of about its size."""
        size = self._problem.size
        others = others.only(stable_argsort(size[others.partition]))
        at = np.searchsorted(size[others.partition], size[ones.partition])
        for shift in (0, -1, 1):
            place = np.clip(at + shift, 0, len(others) - 1)
            for one, other in enumerate(place.tolist()):
                if ones.partition[one] != others.partition[other]:
                    yield (
                        (int(ones.partition[one]), int(ones.slot[one])),
                        (int(others.partition[other]), int(others.slot[other])),
                    )

    def _cost(self, replicas: Replicas, giver: int, taker: int) -> Ints:
        """Return the moves that each replica adds if it goes from giver to taker, [N]."""
        current = self._problem.current.take(replicas.partition, axis=0)
        here, there = any_per_row(current == giver), any_per_row(current == taker)
        return np.asarray(here.astype(np.int64) - there)

    def _closed_brokers(self, able: Bools) -> Bools:
        """Return the brokers that leaders of the fullest brokers can reach, [B]."""
        problem, slots = self._problem, self._placement.slots
        most = int(self._count[able].max(initial=0))
        closed: Bools = able & (self._count == most)
        while True:
            led = closed[self._leader] & problem.movable
            reached = np.unique(slots[led])
            more = able & np.isin(np.arange(len(able)), reached) & ~closed
            if not more.any():
                return closed
            closed = np.asarray(closed | more)
