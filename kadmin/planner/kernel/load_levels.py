"""The load of brokers by hour while a plan is improved.

It has levels, their excess, and the gains of exchanges. A level is a broker's load in one hour,
divided by its fair share and by the goal: at most 1 is wanted. C columns are the hours of every
resource that an exchange can change, and two for bytes where replicas move: too many, and too few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import Rates
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

_NEAR = 0.02
"""Hours whose level is this near below the limit count as hot where exchanges are screened."""

_AT_ONCE = 2048
"""The exchanges that are screened at once; more of them leave the processor's cache, and take three
times as long."""

_DAY, _WORKDAYS, _BLOCK = 24, 5, 3
"""Hours of a day; days of a week before the weekend; hours that are screened together."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchanges:
    """Exchanges of N x K partitions in a circle of K brokers: arrays [N, K], `cost` [N].

    The partition at k leaves the broker at k for the broker at k + 1, the last one for the first.
    `cost` is what each exchange adds to the plan: moves, or leader changes.
    """

    partitions: Ints
    brokers: Ints
    cost: Ints

    def __len__(self) -> int:
        """Return N."""
        return len(self.cost)

    def only(self, which: Bools | Ints) -> Exchanges:
        """Return those selected by a mask or by positions."""
        return Exchanges(self.partitions[which], self.brokers[which], self.cost[which])

    def reversed(self) -> Exchanges:
        """Return the exchanges that undo these."""
        receivers = np.roll(self.brokers, -1, axis=1)
        return Exchanges(self.partitions[:, ::-1], receivers[:, ::-1], -self.cost)

    @classmethod
    def joined(cls, parts: list[Exchanges]) -> Exchanges:
        """Concatenate exchanges of the same K."""
        return cls(
            np.concatenate([part.partitions for part in parts]),
            np.concatenate([part.brokers for part in parts]),
            np.concatenate([part.cost for part in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Rates of the partitions, [P, C], with load and level.

    `load` [B, C] is that of the brokers, `per_share` [B, C] the level per unit of load. `slack` [C]
    is added to the limit of each column. `hour` [C] is the hour of the week, or -1 for bytes, whose
    limit is always the goal.
    """

    rates: Rates
    load: Floats
    per_share: Floats
    slack: Floats
    hour: Ints


class LoadLevels:
    """Levels of brokers, and the sum over brokers and hours of the squared excess over a limit.

    The limit is the same for all hours; 1 is the goal.
    """

    def __init__(self, columns: Columns) -> None:
        self._rates, self._slack = columns.rates, columns.slack
        self._load, self._per_share = columns.load, columns.per_share
        self._per_share32 = columns.per_share.astype(np.float32)
        self.level: Floats = self._load * self._per_share
        self._blocks = _block_of(columns.hour)
        self._in_block = np.eye(int(self._blocks.max(initial=-1)) + 1, dtype=np.float32)[
            self._blocks
        ]
        self._coarse = self._averages(columns)
        self._of_bytes = columns.hour < 0
        self._top = self._slack + 1.0

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return len(self._rates)

    def set_limit(self, limit: float) -> None:
        """Set the limit of all hours."""
        self._top = self._slack + np.where(self._of_bytes, 1.0, limit)

    def _averages(self, columns: Columns) -> Rates:
        """Return each partition's levels on an average broker, by block of hours, [P, blocks]."""
        mean = columns.per_share.mean(axis=0)
        size = self._in_block.sum(axis=0)
        coarse = np.zeros((len(self._rates), len(size)), np.float32)
        for column, block in enumerate(self._blocks.tolist()):
            coarse[:, block] += self._rates[:, column] * np.float32(mean[column] / size[block])
        return coarse

    def excess(self) -> Floats:
        """Return how far the highest level of each broker is above the goal, [B].

        Negative below it.
        """
        return np.asarray((self.level - self._slack).max(axis=1, initial=-np.inf) - 1.0)

    def over(self) -> Floats:
        """Return how far the highest level of each broker is above the limit, [B].

        Negative below it.
        """
        return np.asarray((self.level - self._top).max(axis=1, initial=-np.inf), np.float64)

    def above(self) -> Floats:
        """Return the excess over the limit, [B, C]."""
        return np.asarray(np.maximum(self.level - self._top, 0.0), np.float64)

    def squares(self) -> Floats:
        """Return the sum of squared excess over the limit of each broker, [B]."""
        above = self.above()
        return np.asarray(np.einsum("bc,bc->b", above, above), np.float64)

    def surplus(self, broker: int) -> Floats:
        """Return the load of a broker that is above the limit, in units of load, [C]."""
        above, unit = self.above()[broker], self._per_share[broker]
        return np.asarray(
            np.divide(above, unit, out=np.zeros_like(above), where=unit > 0), np.float64
        )

    def slope(self) -> Rates:
        """Return the gain of one unit of load less on each broker in each column, [B, C]."""
        return np.asarray(2.0 * self.above() * self._per_share, np.float32)

    def rates(self, partitions: Ints) -> Rates:
        """Return the rates of partitions, [N, C]."""
        return self._rates.take(partitions, axis=0)

    def screen(self, exchanges: Exchanges, slope_gain: Floats, keep: int) -> Ints:
        """Return the positions of the `keep` exchanges with the best gain for cost.

        Gains are estimated by blocks of hours. `slope_gain` [N] is the gain to first order: the sum
        of `weigh` over the partitions that leave and arrive.
        """
        hot = self.level > self._top - _NEAR
        weight = hot.astype(np.float32) @ self._in_block
        lost = np.zeros(len(exchanges))
        for first in range(0, len(lost), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            coarse = self._coarse.take(exchanges.partitions[some], axis=0)
            for at, broker in enumerate(exchanges.brokers[some].T):
                change = coarse[:, at - 1] - coarse[:, at]
                change *= change
                lost[some] += np.einsum("nk,nk->n", change, weight.take(broker, axis=0))
        promise = (slope_gain - lost) / np.maximum(exchanges.cost, 1)
        if len(promise) <= keep:
            return np.flatnonzero(promise > -np.inf)
        return np.sort(np.argpartition(-promise, keep)[:keep])

    def gains(self, exchanges: Exchanges) -> Floats:
        """Return the exact decrease by each exchange of the sum of squares above the limit, [N]."""
        gains = np.zeros(len(exchanges))
        rates = self._rates[exchanges.partitions]
        margin = (self.level - self._top).astype(np.float32)
        now = self.squares()
        for at, broker in enumerate(exchanges.brokers.T):
            change = rates[:, at - 1] - rates[:, at]
            change *= self._per_share32[broker]
            change += margin[broker]
            np.maximum(change, 0.0, out=change)
            gains += now[broker] - np.einsum("nc,nc->n", change, change)
        return gains

    def carry_out(self, exchange: Exchanges) -> None:
        """Change the levels by one exchange (N is 1)."""
        partitions, brokers = exchange.partitions[0], exchange.brokers[0]
        rates = self._rates[partitions].astype(np.float64)
        for at, broker in enumerate(brokers.tolist()):
            self._load[broker] += rates[at - 1] - rates[at]
            self.level[broker] = self._load[broker] * self._per_share[broker]


def weigh(rates: Rates, slope: Rates) -> Floats:
    """Return the sum over columns of rates [N, C] times `slope`, [C] or [N, C].

    The result is [N].
    """
    to = "nc,c->n" if slope.ndim == 1 else "nc,nc->n"
    return np.asarray(np.einsum(to, rates, slope), np.float64)


def _block_of(hour: Ints) -> Ints:
    """Return the block of each column, [C]: hours of days of one kind that follow each other.

    Each other column alone. The resources of the same block come apart, because each starts again
    at hour 0.
    """
    weekend = hour // _DAY >= (_WORKDAYS if hour.max(initial=0) >= 2 * _DAY else 1)
    resource = np.cumsum(hour == 0)
    key = np.where(
        hour < 0, -1 - np.arange(len(hour)), (resource * 2 + weekend) * _DAY + hour % _DAY // _BLOCK
    )
    return np.unique(key, return_inverse=True)[1]
