"""Lowers the highest level of any broker in any hour by exchanges between brokers.

Goals: no level above the goal, or as low as exchanges within the budget reach; few exchanges that
cost.
Algorithm: steepest descent on the sum of squares above a limit, which falls in steps to the goal:
the broker that is furthest above it exchanges with others, as long as that sum falls. The limit
falls no further once most brokers, or almost all, stay above it: the noise of single hours is then
what is left. A low limit can make the highest level worse while the sum falls; so the assignment
with the lowest highest level is what remains at the end. Exchanges that cost nothing go first.
Those that cost start at the last limit that most brokers came to without them, because higher ones
would spend the budget before it counts; the greatest gain for its cost is first. As long as that
lowers the highest level, all of it is done again from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.load_levels import Exchanges, LoadLevels
    from kadmin.planner.kernel.placement_problem import Floats

_STEPS = (0.5, 0.75, 0.85)
"""Fraction of the excess over the goal that each step of the limit keeps, one for each descent from
the best so far."""

_LAST = 0.002
"""The fraction above the goal within which the goal itself is the next limit."""

_KEPT = 256
"""Exchanges of a batch whose gain is computed exactly."""

_LEAST_FREE, _LEAST_PAID = 0.02, 0.02
"""The least gain, as a fraction of the broker's part of the sum: of a free exchange, and for each
unit of cost."""

_DIGITS = 5
"""Decimal digits to which levels are compared."""

_MOST, _ALMOST_ALL = 0.5, 0.9
"""The largest fraction of brokers above a limit that may still fall: in free exchanges, and in
those with cost."""

_ROUND, _FREE_ROUND, _PAID_ROUND = 200, 0.2, 0.1
"""A descent leaves a limit once 200 exchanges, free ones or any, lower the sum by less than this
fraction: load then only passes through brokers that have no capacity left for it."""

_MOST_EXCHANGES = 6_000_000
"""The most exchanges, times the partitions of each broker: each exchange scans a broker's
partitions. A bound on time that only some of the largest clusters reach."""


class Exchanger(Protocol):
    """Finds and makes exchanges of replicas, or of partitions' leadership, between brokers."""

    @property
    def most_cost(self) -> int:
        """The most that one exchange costs."""

    def candidates(self, pivot: int, cost: int) -> Iterator[tuple[Exchanges, Floats]]:
        """Yield batches of exchanges that relieve the pivot.

        Each comes with upper bounds of their gains by the slope, [N]. Batches of free ones come
        first; then, unless `cost` is 0, those that cost up to so much.
        """

    def fits(self, exchange: Exchanges) -> bool:
        """Whether one exchange is possible now."""

    def carry_out(self, exchange: Exchanges) -> None:
        """Make one exchange."""


class LoadDescent:
    """Descents within one budget, which exchanges of negative cost give back."""

    def __init__(self, levels: LoadLevels, exchanger: Exchanger, budget: int) -> None:
        self._levels, self._exchanger, self._left = levels, exchanger, budget
        self._made: list[Exchanges] = []
        self._best, self._best_at = self._worst_first(), 0
        self._exchanges_left = _MOST_EXCHANGES * len(levels.level) // max(levels.partitions, 1)

    def descend(self) -> int:
        """Descend, and again from the best assignment while that helps; keeps the best.

        Returns the unused budget.
        """
        for step in _STEPS:
            before = self._best
            reached = self._lower_limit(0, self._best[0] * step, step)
            self._return_to_best()
            if self._left > 0:
                self._lower_limit(self._exchanger.most_cost, reached, step)
                self._return_to_best()
            if self._best[0] > before[0] - _LAST:
                break
        return self._left

    def _worst_first(self) -> list[float]:
        """Return each broker's excess over the goal, largest first: some may keep theirs."""
        return sorted(np.maximum(self._levels.excess(), 0.0).round(_DIGITS).tolist(), reverse=True)

    def _lower_limit(self, cost: int, left: float, step: float) -> float:
        """Lower the limit from `left` above the goal, step by step.

        Returns the last one that most brokers came to.
        """
        reached = left
        while self._best[0] > 0 and self._exchanges_left > 0:
            left = left if left > _LAST else 0.0
            self._levels.set_limit(1.0 + left)
            self._level_out(cost)
            above = float((self._levels.over() > 0).mean())
            reached = left if above <= _MOST else reached
            if left == 0 or above > (_ALMOST_ALL if cost else _MOST):
                return reached
            left = min(left, self._best[0]) * step
        return reached

    def _level_out(self, cost: int) -> None:
        """Exchange until no broker is above the limit.

        Stop where none of them finds an exchange, or the sum hardly falls.
        """
        stuck = np.zeros(len(self._levels.level), np.bool_)
        begun, total, least = (
            len(self._made),
            self._levels.squares().sum(),
            _PAID_ROUND if cost else _FREE_ROUND,
        )
        while self._exchanges_left > 0:
            if len(self._made) >= begun + _ROUND:
                begun, earlier, total = len(self._made), total, self._levels.squares().sum()
                if total > earlier * (1 - least):
                    return
            over = np.where(stuck, -np.inf, self._levels.over())
            pivot = int(np.argmax(over))
            if over[pivot] <= 0:
                return
            before = len(self._made)
            self._relieve(pivot, cost)
            stuck[pivot] = len(self._made) == before
            for made in self._made[before:]:
                stuck[made.brokers[0]] = False

    def _relieve(self, pivot: int, cost: int) -> None:
        """Make the best exchanges of the first batch that has any."""
        for found, slope_gain in self._exchanger.candidates(pivot, max(min(cost, self._left), 0)):
            if len(found) and self._make_best(pivot, found, slope_gain):
                return

    def _make_best(self, pivot: int, found: Exchanges, slope_gain: Floats) -> bool:
        """Make the exchanges of a batch that gain enough, the best first.

        Returns whether there was one.
        """
        levels, before = self._levels, len(self._made)
        own = float(levels.squares()[pivot])
        if not (
            slope_gain > _least(found, own)
        ).any():  # squares are convex: the slope bounds the gain from above
            return False
        some = found.only(levels.screen(found, slope_gain, _KEPT))
        while len(some):
            gains = levels.gains(some)
            paid = some.cost > 0
            enough = gains > _least(some, own)
            enough &= some.cost <= max(self._left, 0)
            if not enough.any():
                break
            value = np.where(enough, gains / np.maximum(some.cost, 1), -np.inf)
            best = int(np.argmax(value))
            chosen = some.only(np.array([best]))
            used = np.isin(some.partitions, chosen.partitions).any(axis=1)
            used |= ~enough
            if self._exchanger.fits(chosen):
                self._make(chosen)
                if paid[best]:
                    break
            some = some.only(~used)
        return len(self._made) > before

    def _make(self, exchange: Exchanges) -> None:
        self._carry_out(exchange)
        self._made.append(exchange)
        self._exchanges_left -= 1
        worst = self._worst_first()
        if worst < self._best:
            self._best, self._best_at = worst, len(self._made)

    def _carry_out(self, exchange: Exchanges) -> None:
        self._exchanger.carry_out(exchange)
        self._levels.carry_out(exchange)
        self._left -= int(exchange.cost[0])

    def _return_to_best(self) -> None:
        while len(self._made) > self._best_at:
            self._carry_out(self._made.pop().reversed())


def _least(exchanges: Exchanges, own: float) -> Floats:
    """Return the least gain of each exchange, [N], for a broker that adds `own` to the sum."""
    return np.where(exchanges.cost > 0, own * _LEAST_PAID * exchanges.cost, own * _LEAST_FREE)
