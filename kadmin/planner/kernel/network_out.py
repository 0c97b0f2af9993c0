"""Evens out the load that follows leaders, such as network out, at every hour.

It does so by exchanging leaderships.

Goals: no broker above the goal in any hour; few leader changes beyond those of the plan.
Constraints: no replica moves, leader counts stay, immovable partitions keep their leaders.
Algorithm: the descent of load_descent.py. Two brokers swap the leadership of two partitions that
are on both. Where no swap helps, three brokers pass on one each in a ring: the hot broker to a
second one, that to a third one, and the third one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.hourly_load import fair_shares, load_on
from kadmin.planner.kernel.leader_candidates import added_leader_changes
from kadmin.planner.kernel.load_descent import LoadDescent
from kadmin.planner.kernel.load_levels import Columns, Exchanges, LoadLevels, weigh
from kadmin.planner.kernel.placement_problem import NONE, any_per_row, fast_nonzero
from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.planner.kernel.hourly_load import Rates, Resource
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem

_ENDS = 36
"""Partitions tried in rings: so many that leave the hot broker, and so many that come to it."""

_MOST_COST = 3


def even_out_network_out(
    problem: PlacementProblem, lists: Ints, leader: Ints, resources: Sequence[Resource], budget: int
) -> None:
    """Exchange leaders in place in `leader` [P], within `lists` [P, W].

    Make at most `budget` further leader changes.
    """
    roles = _LeaderRoles(problem, lists, leader, resources)
    LoadDescent(roles.levels, roles, budget).descend()


@dataclass(frozen=True, slots=True, eq=False)
class _Arcs:
    """Partitions whose leadership may pass from one broker to another: arrays [N].

    `slope`: the descent's gain by the slope; `cost`: the leader changes that are added.
    """

    partition: Ints
    giver: Ints
    taker: Ints
    slope: Floats
    cost: Ints

    def only(self, which: Bools | Ints) -> _Arcs:
        return _Arcs(
            self.partition[which],
            self.giver[which],
            self.taker[which],
            self.slope[which],
            self.cost[which],
        )

    def steepest(self, count: int) -> _Arcs:
        """Return the `count` arcs with the largest slopes."""
        return self.only(np.argsort(-self.slope, kind="stable")[:count])


class _LeaderRoles:
    """Exchanges of leadership. `_lists` [P, W] do not change, `_leader` [P] does."""

    most_cost = _MOST_COST

    def __init__(
        self, problem: PlacementProblem, lists: Ints, leader: Ints, resources: Sequence[Resource]
    ) -> None:
        self._problem, self._lists, self._leader = problem, lists, leader
        able = problem.brokers.may_lead & problem.brokers.may_hold
        self._able = np.append(able, np.False_)  # the last element is for NONE
        self.levels = LoadLevels(_columns(problem, lists, leader, resources))

    def candidates(self, pivot: int, cost: int) -> Iterator[tuple[Exchanges, Floats]]:
        """Yield swaps with brokers of less load in the hot hours, then rings of three brokers."""
        if not self._able[pivot]:
            return
        cool, slope = self._cool(pivot), self.levels.slope()
        out, back = self._from(pivot, cool, slope), self._to(pivot, cool, slope)
        swaps = _swaps(pivot, out, back)
        yield _within(0, *swaps)
        rings = self._rings(pivot, out, back, slope)
        yield _within(0, *rings)
        if cost:
            yield _within(cost, *swaps)
            yield _within(cost, *rings)

    def _cool(self, pivot: int) -> Bools:
        """Whether each broker has less load than the pivot in the pivot's hot hours, [B + 1]."""
        heat = weigh(self.levels.level, self.levels.above()[pivot])
        return np.append(heat < heat[pivot], np.False_) & self._able

    def _from(self, pivot: int, takers: Bools, slope: Rates) -> _Arcs:
        """Return the leaderships that the pivot may pass to some brokers."""
        return self._arcs(
            np.flatnonzero((self._leader == pivot) & self._problem.movable), takers, slope
        )

    def _to(self, pivot: int, givers: Bools, slope: Rates) -> _Arcs:
        """Return the leaderships that some brokers may pass to the pivot."""
        on_pivot = any_per_row(self._lists == pivot) & givers[self._leader] & self._problem.movable
        only_pivot = np.zeros_like(self._able)
        only_pivot[pivot] = True
        return self._arcs(np.flatnonzero(on_pivot), only_pivot, slope)

    def _arcs(self, partitions: Ints, takers: Bools, slope: Rates) -> _Arcs:
        """Return the leaderships of partitions [N] that may pass to some brokers."""
        listed, leads = self._lists.take(partitions, axis=0), self._leader[partitions]
        others = takers[listed]
        others &= listed != leads[:, None]
        rows, columns = fast_nonzero(others)
        taker, giver, partition = listed[rows, columns], leads[rows], partitions[rows]
        rates = self.levels.rates(partition)
        gain = weigh(rates, slope[giver]) - weigh(rates, slope[taker])
        return _Arcs(
            partition,
            giver,
            taker,
            gain,
            added_leader_changes(self._problem, partition, giver, taker),
        )

    def _rings(self, pivot: int, out: _Arcs, back: _Arcs, slope: Rates) -> tuple[Exchanges, Floats]:
        """Return rings: one of `out`, one between the two other brokers, one of `back`."""
        brokers = len(self._able)
        out, back = out.steepest(_ENDS), back.steepest(_ENDS)
        second, third = np.zeros_like(self._able), np.zeros_like(self._able)
        second[out.taker], third[back.giver] = True, True
        between = self._arcs(
            np.flatnonzero(second[self._leader] & self._problem.movable), third, slope
        )
        between = between.only(stable_argsort(between.giver * brokers + between.taker))
        first, last = np.divmod(
            np.arange(len(out.slope) * len(back.slope)), max(len(back.slope), 1)
        )
        ends, middle = _matching(
            out.taker[first] * brokers + back.giver[last], between.giver * brokers + between.taker
        )
        first, last = first[ends], last[ends]
        partitions = np.stack(
            [out.partition[first], between.partition[middle], back.partition[last]], axis=1
        )
        which = np.stack(
            [np.full(len(first), pivot), between.giver[middle], between.taker[middle]], axis=1
        )
        cost = out.cost[first] + between.cost[middle] + back.cost[last]
        return Exchanges(partitions, which, cost), out.slope[first] + between.slope[
            middle
        ] + back.slope[last]

    def fits(self, exchange: Exchanges) -> bool:
        """Whether the partitions are still led by their brokers."""
        return bool((self._leader[exchange.partitions[0]] == exchange.brokers[0]).all())

    def carry_out(self, exchange: Exchanges) -> None:
        """Pass on the leadership of each partition."""
        self._leader[exchange.partitions[0]] = np.roll(exchange.brokers[0], -1)


def _columns(
    problem: PlacementProblem, lists: Ints, leader: Ints, resources: Sequence[Resource]
) -> Columns:
    ordered = np.hstack([leader[:, None], np.where(lists == leader[:, None], NONE, lists)])
    rates = [resource.on_leader for resource in resources if resource.on_leader is not None]
    shares = [fair_shares(resource, problem.rf) * resource.goal for resource in resources]
    matrix = rates[0] if len(rates) == 1 else np.hstack(rates)
    return Columns(
        rates=matrix,
        load=np.hstack(
            [load_on(resource, ordered, len(problem.brokers)) for resource in resources]
        ),
        per_share=np.hstack(
            [np.divide(1.0, each, out=np.zeros_like(each), where=each > 0) for each in shares]
        ),
        slack=np.zeros(matrix.shape[1]),
        hour=np.concatenate([np.arange(each.shape[1]) for each in rates]),
    )


def _swaps(pivot: int, out: _Arcs, back: _Arcs) -> tuple[Exchanges, Floats]:
    """Return swaps: one of `out`, one of `back`, with the same other broker."""
    back = back.only(stable_argsort(back.giver))
    going, coming = _matching(out.taker, back.giver)
    partitions = np.stack([out.partition[going], back.partition[coming]], axis=1)
    brokers = np.stack([np.full(len(going), pivot), out.taker[going]], axis=1)
    return Exchanges(partitions, brokers, out.cost[going] + back.cost[coming]), out.slope[
        going
    ] + back.slope[coming]


def _within(cost: int, found: Exchanges, slope_gain: Floats) -> tuple[Exchanges, Floats]:
    """Return the exchanges that promise a gain for at most this cost."""
    able = (found.cost <= cost) & (slope_gain > 0)
    return found.only(able), slope_gain[able]


def _matching(keys: Ints, ascending: Ints) -> tuple[Ints, Ints]:
    """Return positions in `keys` [N] and in `ascending` [M] of all pairs of equal keys."""
    low, high = (np.searchsorted(ascending, keys, side=side) for side in ("left", "right"))
    times = high - low
    left = np.repeat(np.arange(len(keys)), times)
    right = (
        np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times) + np.repeat(low, times)
    )
    return left, right
