"""Evens out the load that follows replicas, such as network in, at every hour.

It does so by swapping replicas of two brokers.

Goals: no broker above the goal in any hour, then bytes within half the tolerance; few moves beyond
those of the plan.
Constraints: replica counts stay, racks, capacities and broker sets hold, and no broker's bytes
leave their tolerance.
Algorithm: heavy partitions first (heavy_partitions.py), then all; both by the descent of
load_descent.py. The partners of a broker are those with the least load in its hot hours. Free swaps
are of replicas that move anyway, or one returns to its current broker and another leaves in its
place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.heavy_partitions import best_places, heavy_partitions, with_lightest
from kadmin.planner.kernel.hourly_load import fair_shares, rates_on
from kadmin.planner.kernel.load_descent import LoadDescent
from kadmin.planner.kernel.load_levels import Columns, Exchanges, LoadLevels, weigh
from kadmin.planner.kernel.placement_problem import NONE, any_per_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.planner.kernel.heavy_partitions import BetterPlace
    from kadmin.planner.kernel.hourly_load import Rates, Resource
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_PARTNERS = 16
"""Partners tried: up to half of them in other racks, where those may get replicas, the others in
the same rack."""

_ALL_PAIRS = 20_000
"""The most pairs of replicas of two brokers that are all screened."""

_STEEPEST, _SCALES = 300, (1.0, 0.4, 0.15)
"""The screened pairs of two brokers with more: the replicas, so many, that relieve the pivot most,
each with those whose swap relieves it by about these fractions of its excess."""

_MOST_COST = 2

_MOST_COPIES = 400_000
"""The most replicas whose rates are kept by broker: as one block, they are read three times as
fast."""

_OF_HEAVY = 0.6
"""The part of the budget that heavy partitions may use up."""

_AIM, _BYTES = 0.5, 0.05
"""The fraction of their tolerance within which bytes are brought; the weight of a broker at its
end, as an excess."""


def even_out_network_in(group: TopicGroup, resources: Sequence[Resource], budget: int) -> None:
    """Swap a group's replicas until no level is above its goal, for at most `budget` moves more."""
    columns, placement = _columns(group, resources), group.placement
    heavy = heavy_partitions(group, columns)
    if heavy.any():
        before, highest = placement.slots.copy(), LoadLevels(columns).excess().max()
        left = budget - _place_heavy(group, columns, heavy, int(budget * _OF_HEAVY))
        if _descend(group, _columns(group, resources), left) <= max(highest, 0.0):
            return
        placement.restore(before)
    _descend(group, columns, budget)


def _descend(group: TopicGroup, columns: Columns, budget: int) -> float:
    """Swap replicas for at most `budget` further moves.

    Returns the most that a level is above its goal.
    """
    swaps = _ReplicaSwaps(group, columns)
    LoadDescent(swaps.levels, swaps, budget).descend()
    return float(swaps.levels.excess().max())


def _place_heavy(group: TopicGroup, columns: Columns, heavy: Rates, budget: int) -> int:
    """Swap heavy replicas as if each broker kept the lightest of the others.

    Returns the moves that were added.
    """
    lightest = with_lightest(group, columns, heavy)
    swaps, left = _ReplicaSwaps(group, lightest), budget
    if (swaps.levels.excess() <= 0).all():
        return 0
    for place in best_places(group, lightest, heavy):
        swap = swaps.cheapest(place, heavy == 0)
        if len(swap) and swap.cost[0] <= left:
            swaps.carry_out(swap)
            swaps.levels.carry_out(swap)
            left -= int(swap.cost[0])
    return budget - LoadDescent(swaps.levels, swaps, left).descend()


@dataclass(frozen=True, slots=True, eq=False)
class _BrokerReplicas:
    """Replicas of one broker that may go to another: arrays [N].

    `slope`: the descent's gain if they leave.
    """

    partition: Ints
    cost: Ints
    slope: Floats

    def only(self, which: Bools | Ints) -> _BrokerReplicas:
        return _BrokerReplicas(self.partition[which], self.cost[which], self.slope[which])


@dataclass(frozen=True, slots=True, eq=False)
class _SwapPair:
    """Replicas that a pivot and a partner may swap.

    `wanted`: the gain if the pivot's whole excess left it.
    """

    brokers: tuple[int, int]
    out: _BrokerReplicas
    back: _BrokerReplicas
    wanted: float


@dataclass(frozen=True, slots=True, eq=False)
class _RatedReplicas:
    """The replicas of one broker, [N], and a copy of their rates, [N, C]."""

    partition: Ints
    rates: Rates

    def change(self, gone: int, come: int, rates: Rates) -> None:
        """Put a partition with these rates, [C], in the place of another."""
        at = np.flatnonzero(self.partition == gone)[0]
        self.partition[at] = come
        self.rates[at] = rates


@dataclass(frozen=True, slots=True, eq=False)
class _ByteGoals:
    """The goal of each broker's bytes, and how far from it they may be, both [B].

    `aim`: a fraction of the goal.
    """

    goal: Floats
    slack: Floats
    aim: float


class _ReplicaSwaps:
    """Swaps of replicas between two brokers of a group."""

    most_cost = _MOST_COST

    def __init__(self, group: TopicGroup, columns: Columns) -> None:
        self._group, self._placement = group, group.placement
        self._problem = group.placement.problem
        self._bytes = _byte_goals(group)
        self._member = group.has()
        self._on_broker: dict[int, _RatedReplicas] = {}
        self.levels = LoadLevels(columns)

    def candidates(self, pivot: int, cost: int) -> Iterator[tuple[Exchanges, Floats]]:
        """Yield free swaps partner by partner, then the others with every partner together."""
        if not self._group.receives[pivot]:
            return
        slope, both = self.levels.slope(), []
        for partner in self._partners(pivot):
            both.append(self._swap_pair(pivot, partner, slope))
            yield self._swaps(both[-1], 0)
        found = [self._swaps(each, cost) for each in both] if cost else []
        if together := [each for each in found if len(each[0])]:
            yield (
                Exchanges.joined([each[0] for each in together]),
                np.concatenate([each[1] for each in together]),
            )

    def cheapest(self, place: BetterPlace, others: Bools) -> Exchanges:
        """Return the swap with the fewest moves that brings a partition to a place.

        None where none is possible. In return, one of the partitions `others` [P] comes.
        """
        pair, flat = (place.giver, place.taker), np.zeros(self.levels.level.shape[1], np.float32)
        out, back = self._candidates_of(*pair, flat), self._candidates_of(*pair[::-1], flat)
        out, back = out.only(out.partition == place.partition), back.only(others[back.partition])
        going, coming = len(out.partition), len(back.partition)
        swaps = np.repeat(np.arange(going), coming), np.tile(np.arange(coming), going)
        found = _exchanges(pair, out, back, self._within_slack(pair, out, back, swaps))
        return found.only(np.argsort(found.cost, kind="stable")[:1])

    def _partners(self, pivot: int) -> list[int]:
        """Return the brokers with least load in the pivot's hot hours, those of its rack first."""
        heat = weigh(self.levels.level, self.levels.above()[pivot])
        order = np.argsort(heat, kind="stable")
        order = order[self._group.receives[order] & (heat[order] < heat[pivot])]
        rack, pivot_rack = self._problem.brokers.rack[order], self._problem.brokers.rack[pivot]
        near, far = (
            order[rack == pivot_rack],
            order[(rack != pivot_rack) & self._open[rack] & self._open[pivot_rack]],
        )
        far = far[: _PARTNERS // 2]
        return [*near[: _PARTNERS - len(far)].tolist(), *far.tolist()]

    @cached_property
    def _open(self) -> Bools:
        return self._group.open_racks()  # swaps never open a rack

    def _swap_pair(self, pivot: int, partner: int, slope: Rates) -> _SwapPair:
        steep = slope[pivot] - slope[partner]
        wanted = float((self.levels.surplus(pivot) * steep).sum())
        out, back = (
            self._candidates_of(pivot, partner, steep),
            self._candidates_of(partner, pivot, steep),
        )
        return _SwapPair((pivot, partner), out, back, wanted)

    def _swaps(self, both: _SwapPair, cost: int) -> tuple[Exchanges, Floats]:
        """Return swaps of two brokers that are free, or cost up to so much."""
        pair, out, back = both.brokers, both.out, both.back
        pairs = [_pairs(out, back, both.wanted, most) for most in range(min(cost, 1), cost + 1)]
        going, coming = np.concatenate(pairs, axis=1)
        going, coming = self._within_slack(pair, out, back, (going, coming))
        return _exchanges(pair, out, back, (going, coming)), out.slope[going] - back.slope[coming]

    def _candidates_of(self, giver: int, taker: int, steep: Rates) -> _BrokerReplicas:
        held = self._on(giver)
        able = self._placement.may_cross(held.partition, giver, taker)
        partition, slope = held.partition[able], weigh(held.rates, steep)[able]
        current = self._problem.current.take(partition, axis=0)
        cost = any_per_row(current == giver).astype(np.int64) - any_per_row(current == taker)
        order = np.argsort(slope, kind="stable")
        return _BrokerReplicas(partition[order], cost[order], slope[order])

    def _on(self, broker: int) -> _RatedReplicas:
        """Return the replicas of the group on a broker."""
        if broker not in self._on_broker:
            partition = np.flatnonzero(any_per_row(self._placement.slots == broker) & self._member)
            if sum(len(each.partition) for each in self._on_broker.values()) > _MOST_COPIES:
                self._on_broker.clear()
            self._on_broker[broker] = _RatedReplicas(partition, self.levels.rates(partition))
        return self._on_broker[broker]

    def _within_slack(
        self,
        pair: tuple[int, int],
        out: _BrokerReplicas,
        back: _BrokerReplicas,
        swaps: tuple[Ints, Ints],
    ) -> tuple[Ints, Ints]:
        size, (going, coming) = self._problem.size, swaps
        shift = size[out.partition[going]] - size[back.partition[coming]]
        able = self._fit(pair[0], -shift) & self._fit(pair[1], shift)
        return going[able], coming[able]

    def _fit(self, broker: int, change: Ints) -> Bools:
        """Whether a broker's bytes may change so much, [N].

        They stay within tolerance of its goal, or come nearer to it.
        """
        load, goal = int(self._placement.load[broker]), self._bytes.goal[broker]
        off = max(float(self._bytes.slack[broker]), abs(load - goal))
        has_space = (change <= 0) | (load + change <= self._problem.brokers.capacity[broker])
        return np.asarray(has_space & (np.abs(load + change - goal) <= off))

    def fits(self, exchange: Exchanges) -> bool:
        """Whether bytes stay within their tolerance now."""
        (going, coming), (giver, taker) = (
            exchange.partitions[0].tolist(),
            exchange.brokers[0].tolist(),
        )
        shift = self._problem.size[[going]] - self._problem.size[[coming]]
        return bool((self._fit(giver, -shift) & self._fit(taker, shift))[0])

    def carry_out(self, exchange: Exchanges) -> None:
        """Swap the two replicas."""
        partitions, brokers = exchange.partitions[0].tolist(), exchange.brokers[0].tolist()
        rates = self.levels.rates(exchange.partitions[0])
        for at, (partition, giver) in enumerate(zip(partitions, brokers, strict=True)):
            slot = int(np.flatnonzero(self._placement.slots[partition] == giver)[0])
            self._placement.move(partition, slot, brokers[1 - at])
            if giver in self._on_broker:
                self._on_broker[giver].change(partition, partitions[1 - at], rates[1 - at])


def _byte_goals(group: TopicGroup) -> _ByteGoals:
    goal = group.even_load()
    slack = group.byte_slack(goal)
    return _ByteGoals(goal, slack, group.tolerance * _AIM)


def _columns(group: TopicGroup, resources: Sequence[Resource]) -> Columns:
    """Return the hours of the resources and, last, bytes above and below their goals."""
    placement, problem, byte_goals = group.placement, group.placement.problem, _byte_goals(group)
    of_replicas = [replace(resource, on_leader=None) for resource in resources]
    rates = [resource.on_replica for resource in resources if resource.on_replica is not None]
    shares = [fair_shares(resource, problem.rf) * resource.goal for resource in of_replicas]
    matrix = np.hstack(
        [*rates, np.stack([problem.size, -problem.size], axis=1)],
        dtype=np.float32,
        casting="unsafe",
    )
    load = rates_on(matrix, placement.slots, len(problem.brokers))
    off = placement.load - byte_goals.goal
    load[:, -2], load[:, -1] = off, -off
    weight = _BYTES / byte_goals.aim
    unit = np.where(byte_goals.goal > 0, weight / np.maximum(byte_goals.goal, 1.0), 0.0)[:, None]
    hours = [np.arange(each.shape[1]) for each in rates]
    return Columns(
        rates=matrix,
        load=load,
        per_share=np.hstack([*(_inverse(share) for share in shares), unit, unit]),
        slack=np.concatenate([np.zeros(matrix.shape[1] - 2), [_BYTES - 1, _BYTES - 1]]),
        hour=np.concatenate([*hours, [NONE, NONE]]),
    )


def _exchanges(
    pair: tuple[int, int], out: _BrokerReplicas, back: _BrokerReplicas, swaps: tuple[Ints, Ints]
) -> Exchanges:
    going, coming = swaps
    partitions = np.stack([out.partition[going], back.partition[coming]], axis=1)
    brokers = np.broadcast_to(np.array(pair), partitions.shape)
    return Exchanges(partitions, brokers, out.cost[going] + back.cost[coming])


def _inverse(share: Floats) -> Floats:
    return np.divide(1.0, share, out=np.zeros_like(share), where=share > 0)


def _pairs(out: _BrokerReplicas, back: _BrokerReplicas, wanted: float, cost: int) -> Ints:
    """Return pairs of positions, [2, N], of replicas to be swapped.

    The swap has this cost (0: at most) and relieves the giver.
    """
    found = [np.zeros((2, 0), np.int64)]
    for going_cost in range(cost - 1, 2):
        going = np.flatnonzero(out.cost == going_cost)
        coming = np.flatnonzero(
            back.cost == cost - going_cost if cost else back.cost <= -going_cost
        )
        if not len(going) or not len(coming):
            continue
        if len(going) * len(coming) <= _ALL_PAIRS:
            found.append(np.stack([np.repeat(going, len(coming)), np.tile(coming, len(going))]))
            continue
        going = going[-_STEEPEST:]
        for scale in _SCALES:
            after = np.searchsorted(back.slope[coming], out.slope[going] - wanted * scale)
            nearest = np.maximum(after - 1, 0), np.minimum(after, len(coming) - 1)
            found.extend(np.stack([going, coming[near]]) for near in nearest)
    pairs = np.concatenate(found, axis=1)
    return pairs[:, out.slope[pairs[0]] > back.slope[pairs[1]]]
