"""How many replicas each broker is to hold: the most even counts that racks and bounds allow.

Goals: counts as even as they can be, then as many brokers as possible keep what they hold.
Constraints: rack totals T are feasible iff every j racks together hold at most g(j) = sum_p min(rf_p, j * cap_p)
(Gale-Ryser); each broker has an upper bound.
Algorithm: water-filling on that polymatroid. Raise one level until some racks are full, fix those, raise the others;
what is left over goes one by one to the brokers at the level that already hold most.
Example: 10 replicas, brokers holding 0, 4, 6, no racks: 3, 3, 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Bools, Floats, Ints

_BISECTIONS = 64
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """What is to be shared out: `total` replicas over brokers with arrays of shape [B].

    `base` replicas lie there anyway and count for evenness; `kept` are those of this demand that lie there now;
    `upper` bounds the quota. `reach` [K + 1] is g: the most that j racks can hold.
    """

    total: int
    base: Ints
    kept: Ints
    upper: Ints
    weight: Floats
    rack: Ints
    reach: Ints


def rack_reach(rf: Ints, cap: Ints, racks: int) -> Ints:
    """Return g(0) to g(K) for partitions that want `rf` replicas, at most `cap` on one rack (both [P])."""
    return np.array([np.minimum(rf, racks_used * cap).sum() for racks_used in range(racks + 1)], np.int64)


def quotas(demand: Demand) -> Ints:
    """Return the quota of each broker, [B]; they sum to `total` unless the bounds leave no room for it."""
    quota = np.zeros(len(demand.base), np.int64)
    free = np.ones(len(demand.reach) - 1, np.bool_)
    while free.any():
        rising = free[demand.rack]
        level = _highest(demand, quota, rising)
        quota = np.where(rising, _filled(demand, level), quota)
        raised = np.where(rising, _filled(demand, level + 1 / demand.weight), quota)
        full = _full_racks(demand, raised) & free
        if not full.any():
            full = free
        quota = _top_up(demand, quota, level, np.flatnonzero(full[demand.rack]))
        free = free & ~full
    return quota


def _highest(demand: Demand, quota: Ints, rising: Bools) -> float:
    """Return the highest level to which the rising brokers can be filled, the others having their quota."""

    def fits(height: float) -> bool:
        return _feasible(demand, np.where(rising, _filled(demand, height), quota))

    low, high = 0.0, float(((demand.base + demand.upper) / demand.weight).max(initial=0.0)) + 1.0
    if fits(high):
        return high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _filled(demand: Demand, level: Floats | float) -> Ints:
    wanted = np.floor(demand.weight * level + _EPSILON).astype(np.int64) - demand.base
    return np.asarray(np.clip(wanted, 0, demand.upper))


def _totals(demand: Demand, quota: Ints) -> Floats:
    return np.bincount(demand.rack, weights=quota, minlength=len(demand.reach) - 1).astype(np.float64)


def _feasible(demand: Demand, quota: Ints) -> bool:
    fullest_first = np.sort(_totals(demand, quota))[::-1]
    return bool((np.cumsum(fullest_first) <= demand.reach[1:]).all())


def _full_racks(demand: Demand, raised: Ints) -> Bools:
    """Return the fewest racks that together cannot take the raised quotas; all of them where the total cannot."""
    totals = _totals(demand, raised)
    fullest_first = np.argsort(-totals, kind="stable")
    over = np.cumsum(totals[fullest_first]) > demand.reach[1:]
    full = np.zeros(len(totals), np.bool_)
    full[fullest_first[: len(totals) if over[-1] else int(np.argmax(over)) + 1]] = over.any()
    return full


def _top_up(demand: Demand, quota: Ints, level: float, brokers: Ints) -> Ints:
    """Give what the level left over to some brokers, one each and round by round, as far as racks and bounds allow.

    In each round those go first that are not above the level, and among them those that hold more than their quota.
    """
    left = demand.total - int(quota.sum())
    progress, rounds = True, 0
    while left > 0 and progress:
        progress = False
        for broker in _keenest_first(demand, quota, level + rounds, brokers):
            quota[broker] += 1
            if left > 0 and _feasible(demand, quota):
                left -= 1
                progress = True
            else:
                quota[broker] -= 1
        rounds += 1
    return quota


def _keenest_first(demand: Demand, quota: Ints, level: float, brokers: Ints) -> Ints:
    some = brokers[quota[brokers] < demand.upper[brokers]]
    above = demand.base[some] + quota[some] > demand.weight[some] * level + _EPSILON
    sated = demand.kept[some] <= quota[some]
    return np.asarray(some[np.lexsort((some, -demand.kept[some], sated, above))])
