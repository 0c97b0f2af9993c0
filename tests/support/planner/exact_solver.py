"""Solves the planner's problem exactly (HiGHS, by scipy): the most even counts, then the fewest
moves.

Binary variables: whether a broker holds a partition, and whether a broker holds a k-th replica. The
latter costs k / weight, the broker's level with it. The kernel's quotas minimize the same sum: they
give one replica at a time to the broker with the lowest level. Costs are scaled to integers, so
that they are compared exactly; one step of unevenness outweighs all moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem


@dataclass(frozen=True)
class Optimum:
    """The least unevenness of replica counts over the brokers, and the fewest moves that reach
    it.
    """

    unevenness: int
    moves: int


class _Rows:
    """Linear constraints, row by row: the sum of coefficients times variables lies between two
    bounds.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, float]] = []
        self._bounds: list[tuple[float, float]] = []

    def add(self, terms: Mapping[int, float], low: float, high: float) -> None:
        self._entries += [
            (len(self._bounds), variable, factor) for variable, factor in terms.items()
        ]
        self._bounds.append((low, high))

    def constraint(self, variables: int) -> LinearConstraint:
        rows, columns, factors = zip(*self._entries, strict=True)
        matrix = coo_array((factors, (rows, columns)), shape=(len(self._bounds), variables)).tocsr()
        low, high = zip(*self._bounds, strict=True)
        return LinearConstraint(matrix, low, high)


def unevenness(problem: PlacementProblem, lists: Ints) -> int:
    """Return the sum of levels over all replicas, scaled to integers; it is least where counts are
    most even.
    """
    counts = np.bincount(lists[lists != NONE], minlength=len(problem.brokers)).tolist()
    return sum(
        price * count * (count + 1) // 2
        for price, count in zip(_prices(problem), counts, strict=True)
    )


def _prices(problem: PlacementProblem) -> list[int]:
    """Return the cost of the first replica on each broker, 1 / weight, scaled to the smallest
    integers.
    """
    weights = [Fraction(weight) for weight in problem.brokers.weight.tolist()]
    unit = math.lcm(*(weight.numerator for weight in weights))
    return [int(unit / weight) for weight in weights]


def exact_optimum(problem: PlacementProblem) -> Optimum | None:
    """Solve one small problem exactly; None where no assignment satisfies it."""
    held = _choices(problem)
    steps = {
        (broker, nth): len(held) + at
        for at, (broker, nth) in enumerate(
            product(range(len(problem.brokers)), range(1, len(problem) + 1))
        )
    }
    rows = _Rows()
    _partition_rows(problem, held, rows)
    _broker_rows(problem, held, steps, rows)
    new = {pair: pair[1] not in problem.current[pair[0]] for pair in held}
    unit, prices = len(held) + 1, _prices(problem)
    cost = [float(new[pair]) for pair in held] + [
        float(unit * nth * prices[broker]) for broker, nth in steps
    ]
    variables = len(cost)
    found = milp(
        cost,
        integrality=np.ones(variables),
        bounds=Bounds(0, 1),
        constraints=rows.constraint(variables),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    chosen = [pair for pair, at in held.items() if found.x[at] > 1 / 2]
    lists = np.array([broker for _, broker in chosen], np.int64)
    return Optimum(unevenness(problem, lists), sum(new[pair] for pair in chosen))


def _choices(problem: PlacementProblem) -> dict[tuple[int, int], int]:
    """Number the pairs of partition and broker that the rules allow."""
    brokers, pairs = problem.brokers, []
    for partition, broker in product(range(len(problem)), range(len(brokers))):
        stays = broker in problem.start[partition]
        allowed = problem.allowed[problem.group[partition], broker] and brokers.may_hold[broker]
        if (
            stays
            if not problem.movable[partition]
            else allowed and (stays or brokers.may_receive[broker])
        ):
            pairs.append((partition, broker))
    return {pair: at for at, pair in enumerate(pairs)}


def _partition_rows(
    problem: PlacementProblem, held: Mapping[tuple[int, int], int], rows: _Rows
) -> None:
    brokers = problem.brokers
    for partition in range(len(problem)):
        own = {broker: at for (which, broker), at in held.items() if which == partition}
        factor = problem.rf[partition]
        rows.add(dict.fromkeys(own.values(), 1.0), factor, factor)
        if problem.movable[partition]:
            rows.add({at: float(brokers.may_lead[broker]) for broker, at in own.items()}, 1, np.inf)
            for rack in range(brokers.racks):
                on_rack = {at: 1.0 for broker, at in own.items() if brokers.rack[broker] == rack}
                rows.add(on_rack, 0, problem.rack_cap[partition])


def _broker_rows(
    problem: PlacementProblem,
    held: Mapping[tuple[int, int], int],
    steps: Mapping[tuple[int, int], int],
    rows: _Rows,
) -> None:
    for broker in range(len(problem.brokers)):
        here = {at: 1.0 for (_, which), at in held.items() if which == broker}
        climbed = {at: -1.0 for (which, _), at in steps.items() if which == broker}
        rows.add({**here, **climbed}, 0, 0)
        if (capacity := problem.brokers.capacity[broker]) < NO_LIMIT:
            sizes = {
                at: float(problem.size[p]) for (p, which), at in held.items() if which == broker
            }
            rows.add(sizes, 0, float(capacity))
