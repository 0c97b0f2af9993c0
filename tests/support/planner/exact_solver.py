"""Solves the planner's problem exactly (HiGHS, by scipy): the most even counts, then the fewest
moves.

Binary variables: whether a broker holds a partition, and whether a broker holds a k-th replica. The
latter costs k / weight, the broker's level with it. The kernel's quotas minimize the same sum: they
give one replica at a time to the broker with the lowest level. Costs are scaled to integers, so
that they are compared exactly; one step of unevenness outweighs all moves.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    model = _Model(problem)
    unit = len(model.held) + 1
    cost = [float(each) for each in model.new] + [float(unit * each) for each in model.steps]
    chosen = model.solve(cost)
    if chosen is None:
        return None
    lists = np.array([broker for _, broker in chosen], np.int64)
    return Optimum(
        unevenness(problem, lists), sum(broker not in problem.current[at] for at, broker in chosen)
    )


def exact_leaders(problem: PlacementProblem, optimum: Optimum) -> list[int] | None:
    """Return the most even counts of leaders, ascending, of plans with that optimum."""
    model = _Model(problem)
    model.reach(optimum)
    leads = model.add_leaders()
    if model.solve(model.leader_cost) is None:
        return None
    counts = Counter(broker for (_, broker), at in leads.items() if model.value(at))
    may_lead = problem.brokers.may_lead & problem.brokers.may_hold
    return sorted(counts[broker] for broker in np.flatnonzero(may_lead).tolist())


def exact_topics(problem: PlacementProblem, optimum: Optimum, kept: int) -> int | None:
    """Return the fewest replicas above the shares of topics, of plans with that optimum.

    At least `kept` preferred leaders keep their replica.
    """
    model = _Model(problem)
    model.reach(optimum)
    leads = [int(broker == problem.current[at, 0]) for at, broker in model.held]
    model.require(leads, kept, np.inf, 0)
    cost = model.add_topics()
    chosen = model.solve(cost)
    return None if chosen is None else model.cost_of(cost)


class _Model:
    """The variables and constraints of one problem.

    `held` numbers pairs of partition and broker; `new` has 1 where such a pair is a move; `steps`
    has the cost of each k-th replica on each broker.
    """

    def __init__(self, problem: PlacementProblem) -> None:
        self._problem, self._rows = problem, _Rows()
        self.held = _choices(problem)
        numbered = product(range(len(problem.brokers)), range(1, len(problem) + 1))
        steps = {step: len(self.held) + at for at, step in enumerate(numbered)}
        _partition_rows(problem, self.held, self._rows)
        _broker_rows(problem, self.held, steps, self._rows)
        racks = _rack_rows(problem, self.held, len(self.held) + len(steps), self._rows)
        prices = _prices(problem)
        self.new = [int(broker not in problem.current[at]) for at, broker in self.held]
        self.steps = [nth * prices[broker] for broker, nth in steps]
        self._variables = len(self.new) + len(self.steps) + racks
        self.leader_cost: list[float] = []
        self._found: Ints | None = None

    def require(self, factors: Sequence[int], low: float, high: float, first: int) -> None:
        """Bound the sum of variables from `first` on, each times its factor."""
        self._rows.add({first + at: float(factor) for at, factor in enumerate(factors)}, low, high)

    def reach(self, optimum: Optimum) -> None:
        """Require the least unevenness and the fewest moves."""
        self.require(self.new, 0, optimum.moves, 0)
        self.require(self.steps, optimum.unevenness, optimum.unevenness, len(self.held))

    def add_leaders(self) -> Mapping[tuple[int, int], int]:
        """Add one leader for each partition, and the cost of each k-th leader on each broker."""
        may_lead, count = self._problem.brokers.may_lead, len(self._problem)
        pairs = [
            pair for pair in self.held if may_lead[pair[1]] or not self._problem.movable[pair[0]]
        ]
        leads = {pair: self._variables + at for at, pair in enumerate(pairs)}
        for pair, at in leads.items():
            self._rows.add({at: 1.0, self.held[pair]: -1.0}, -np.inf, 0)
        for partition in range(count):
            own = {at: 1.0 for (which, _), at in leads.items() if which == partition}
            self._rows.add(own, 1, 1)
            if not self._problem.movable[partition]:
                first = leads[partition, int(self._problem.start[partition, 0])]
                self._rows.add({first: 1.0}, 1, 1)
        first = self._variables + len(leads)
        self.leader_cost = [0.0] * first
        for broker in range(len(self._problem.brokers)):
            led = {at: 1.0 for (_, which), at in leads.items() if which == broker}
            climbed = {first + broker * count + nth: -1.0 for nth in range(count)}
            self._rows.add({**led, **climbed}, 0, 0)
            self.leader_cost += [float(nth + 1) for nth in range(count)]
        self._variables = len(self.leader_cost)
        return leads

    def add_topics(self) -> list[float]:
        """Add the replicas of each topic on each broker above its share; return their cost."""
        problem, first = self._problem, self._variables
        brokers, topics = len(problem.brokers), int(problem.topic.max()) + 1
        spread = int(problem.brokers.may_hold.sum())
        for topic, broker in product(range(topics), range(brokers)):
            here = {
                at: 1.0
                for (which, on), at in self.held.items()
                if on == broker and problem.topic[which] == topic
            }
            share = -(-int(problem.rf[problem.topic == topic].sum()) // spread)
            above = range(self._variables, self._variables + len(here))
            self._rows.add({**here, **dict.fromkeys(above, -1.0)}, -np.inf, share)
            self._variables += len(here)
        return [*[0.0] * first, *[1.0] * (self._variables - first)]

    def cost_of(self, cost: Sequence[float]) -> int:
        """Return the cost of the solution, in whole units."""
        return round(sum(each for at, each in enumerate(cost) if self.value(at)))

    def solve(self, cost: Sequence[float]) -> list[tuple[int, int]] | None:
        """Return the pairs of partition and broker of the least cost; None where there are none."""
        found = milp(
            [*cost, *[0.0] * (self._variables - len(cost))],
            integrality=np.ones(self._variables),
            bounds=Bounds(0, 1),
            constraints=self._rows.constraint(self._variables),
            options={"mip_rel_gap": 0.0},
        )
        self._found = found.x
        if found.x is None:
            return None
        return [pair for pair, at in self.held.items() if self.value(at)]

    def value(self, variable: int) -> bool:
        """Whether a variable of the solution is 1."""
        return self._found is not None and bool(self._found[variable] > 1 / 2)


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


def _rack_rows(
    problem: PlacementProblem, held: Mapping[tuple[int, int], int], first: int, rows: _Rows
) -> int:
    """Require the floor of racks; returns the variables from `first` on: racks of partitions."""
    brokers, number = problem.brokers, first
    for partition in np.flatnonzero(problem.movable & (problem.rack_floor > 1)).tolist():
        for rack in range(brokers.racks):
            on_rack = {
                at: 1.0
                for (which, broker), at in held.items()
                if which == partition and brokers.rack[broker] == rack
            }
            rows.add({**on_rack, number + rack: -1.0}, 0, np.inf)
        used = dict.fromkeys(range(number, number + brokers.racks), 1.0)
        rows.add(used, problem.rack_floor[partition], np.inf)
        number += brokers.racks
    return number - first


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
