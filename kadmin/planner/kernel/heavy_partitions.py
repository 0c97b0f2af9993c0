"""Assigns heavy partitions to brokers before lighter ones are swapped.

A broker that takes a heavy partition has too much load until others have left it; so swaps that
must gain one by one never take it there. Here each broker's load counts as if, of its lighter
replicas, it kept the lightest: as many as the plan gives it, and of those that are on it now, so
that no further move is needed.
Algorithm: in each rack, the heaviest partitions are assigned to brokers, one each, with the least
squares of what is above the goal and the fewest moves: each to the best broker left, then negative
cycles are cancelled (Klein, 1967).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kadmin.planner.kernel.hourly_load import rates_on
from kadmin.planner.kernel.load_levels import weigh
from kadmin.planner.kernel.negative_cycles import negative_cycle
from kadmin.planner.kernel.placement_problem import any_per_row, fast_nonzero

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import Rates
    from kadmin.planner.kernel.load_levels import Columns
    from kadmin.planner.kernel.placement_problem import Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_HEAVY = 0.1
"""The least load of a heavy partition, in any hour, as a fraction of an average broker's goal."""

_MOST = 0.25
"""The most partitions of a group that may be heavy, as a part of all."""

_MOVE, _STAY = 1e-3, 1e-6
"""The squared excess that a move is worth, and that of leaving a replica where the plan has it."""

_UNITS, _TAKEN = 1e9, 2**60
"""The integer cost of a squared excess of 1, and that of a column that is taken, which exceeds any
other."""

_BEYOND_HELP = 1000.0
"""The highest excess that adds to costs: a broker of hardly any weight may have any level."""


class BetterPlace(NamedTuple):
    """A partition that is better on the broker `taker` than on `giver`, which has it."""

    partition: int
    giver: int
    taker: int


def heavy_partitions(group: TopicGroup, columns: Columns) -> Rates:
    """Return the highest level that each partition makes on an average broker, [P].

    0 where it is light. Where so many are heavy that brokers have few light ones to choose from,
    all count as light.
    """
    peak = np.zeros(len(columns.rates), np.float32)
    unit = _mean_unit(columns)
    for column in np.flatnonzero(columns.hour >= 0).tolist():
        np.maximum(peak, columns.rates[:, column] * unit[column], out=peak)
    heavy = (peak >= _HEAVY) & group.has()
    return np.where(heavy & (heavy.sum() <= len(group.members) * _MOST), peak, 0)


def with_lightest(group: TopicGroup, columns: Columns, heavy: Rates) -> Columns:
    """Return the columns with each broker's lightest replicas.

    They are in place of its light ones, which have no rates any more. Bytes stay as they are.
    """
    of_hours, placement = columns.hour >= 0, group.placement
    light = group.has() & (heavy == 0)
    rates = columns.rates.copy()
    rates[np.ix_(light, of_hours)] = 0
    load = rates_on(rates, placement.slots, len(columns.load))
    weight = weigh(columns.rates, _mean_unit(columns))
    for broker in range(len(load)):
        now = np.flatnonzero(any_per_row(placement.problem.current == broker) & light)
        planned = int((any_per_row(placement.slots == broker) & light).sum())
        lightest = now[np.argsort(weight[now], kind="stable")[:planned]]
        load[broker] += columns.rates[lightest].sum(axis=0)
    load[:, ~of_hours] = columns.load[:, ~of_hours]
    return replace(columns, rates=rates, load=load)


def best_places(group: TopicGroup, columns: Columns, heavy: Rates) -> list[BetterPlace]:
    """Return the heavy partitions that are better on another broker of their rack.

    `columns` are of `with_lightest`.
    """
    placement, rack = group.placement, group.placement.problem.brokers.rack
    found = []
    for each in range(placement.problem.brokers.racks):
        brokers = np.flatnonzero((rack == each) & group.receives)
        partitions, slots = fast_nonzero(np.isin(placement.slots, brokers) & (heavy > 0)[:, None])
        holders = placement.slots[partitions, slots]
        rest = columns.load.copy()
        np.subtract.at(rest, holders, columns.rates[partitions])
        heaviest = np.argsort(-heavy[partitions], kind="stable")[: len(brokers)]
        partitions, holders = partitions[heaviest], holders[heaviest]
        costs = _costs(group, replace(columns, load=rest), (partitions, holders), brokers)
        takers = brokers[assigned(costs)]
        found += [
            BetterPlace(*place)
            for place in zip(*(a.tolist() for a in (partitions, holders, takers)), strict=True)
        ]
    return [place for place in found if place.giver != place.taker]


def _costs(group: TopicGroup, columns: Columns, replicas: tuple[Ints, Ints], brokers: Ints) -> Ints:
    """Return the cost of each replica (partitions and holders) on each broker.

    It is a cost beside the load of `columns`, [N, M].
    """
    of_hours, (partitions, holders) = columns.hour >= 0, replicas
    unit = columns.per_share[brokers][:, of_hours]
    rest = columns.load[brokers][:, of_hours] * unit
    costs = np.zeros((len(partitions), len(brokers)))
    for at, (partition, holder) in enumerate(
        zip(partitions.tolist(), holders.tolist(), strict=True)
    ):
        level = (rest + columns.rates[partition, of_hours] * unit).max(axis=1, initial=0.0)
        moves = ~np.isin(brokers, group.placement.problem.current[partition])
        costs[at] = (
            np.clip(level - 1.0, 0.0, _BEYOND_HELP) ** 2
            + _MOVE * moves
            + _STAY * (brokers != holder)
        )
    return (costs * _UNITS).astype(np.int64)


def assigned(costs: Ints) -> Ints:
    """Return the assignment of least cost.

    Each row of costs [N, M], N <= M, gets a different column.
    """
    rows, columns = costs.shape
    # Rows that may have any column.
    every = np.vstack([costs, np.zeros((columns - rows, columns), np.int64)])
    column = np.zeros(columns, np.int64)
    taken = np.zeros(columns, np.bool_)
    for row in range(columns):
        column[row] = np.where(taken, _TAKEN, every[row]).argmin()
        taken[column[row]] = True
    while (
        cycle := negative_cycle(every[:, column] - every[np.arange(columns), column][:, None])
    ) is not None:
        column[cycle] = column[np.roll(cycle, -1)]
    return column[:rows]


def _mean_unit(columns: Columns) -> Rates:
    """Return the level that a unit of load makes on an average broker, [C]; 0 for bytes."""
    return np.where(columns.hour >= 0, columns.per_share.mean(axis=0), 0.0).astype(np.float32)
