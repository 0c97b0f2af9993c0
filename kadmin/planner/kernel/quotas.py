"""How many replicas each broker is to hold: the most even counts that racks and bounds allow.

Goals: counts as even as they can be, then as many brokers as possible keep what they hold.
Constraints: rack totals T are feasible iff every j racks together hold at most g(j) = sum_p min(rf_p, j * cap_p)
(Gale-Ryser); each broker has an upper bound.
Algorithm: greedy on that polymatroid, which is exact there (Federgruen and Groenevelt, 1986): always one more for the
broker that is emptiest then, among equals for one that keeps a replica by it; who cannot take one more is done. All
that can be filled together are raised to one level at once.
Example: 10 replicas, brokers holding 0, 4, 6, no racks: 3, 3, 4.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

_SECTIONS, _SECTIONINGS = 16, 14
"""Levels are tried so many at a time, so often: down to the spacing of floats."""

_EPSILON = 1e-9
_SPACINGS = 4


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


def rack_reach(rf: Ints, cap: Ints, racks: int, size: Ints | None = None) -> Ints:
    """Return g(0) to g(K) for partitions that want `rf` replicas of one `size`, at most `cap` on one rack (all [P])."""
    kinds = 1 + int(rf.max(initial=0))
    kind = rf * kinds + np.minimum(cap, rf)
    total = np.zeros(kinds * kinds, np.int64)
    np.add.at(total, kind, 1 if size is None else size)
    wanted, most = np.divmod(np.arange(len(total)), kinds)
    return np.array([(total * np.minimum(wanted, used * most)).sum() for used in range(racks + 1)], np.int64)


def quotas(demand: Demand) -> Ints:
    """Return the quota of each broker, [B]; they sum to `total` unless the bounds leave no room for it.

    Of all vectors within the bounds these are the most even for their weights, and among those, as even, that with
    most of what is `kept`.
    """
    quota = np.zeros(len(demand.base), np.int64)
    rising = np.ones(len(demand.base), np.bool_)
    while rising.any() and quota.sum() < demand.total:
        level = _highest(demand, quota, rising)
        margin = 2 * _EPSILON + _SPACINGS * float(np.spacing(level))  # floats tell levels within it apart at random
        quota = np.where(rising, _filled(demand, level - margin), quota)
        _top_up(demand, quota, rising, level + margin)
    return quota


def _highest(demand: Demand, quota: Ints, rising: Bools) -> float:
    """Return the highest level to which the rising brokers can be filled, the others having their quota."""
    low, high = 0.0, float(((demand.base + demand.upper) / demand.weight).max(initial=0.0)) + 1.0
    for _ in range(_SECTIONINGS):
        heights = np.linspace(low, high, _SECTIONS + 1)
        filled = np.where(rising, _filled(demand, heights[:, None]), quota)
        most = int(np.flatnonzero(_reachable(demand, _totals(demand, filled))).max(initial=0))
        if most == _SECTIONS:
            return high
        low, high = float(heights[most]), float(heights[most + 1])
    return low


def _filled(demand: Demand, level: Floats | float) -> Ints:
    wanted = np.floor(demand.weight * (level + _EPSILON)).astype(np.int64) - demand.base
    return np.asarray(np.clip(wanted, 0, demand.upper))


def _totals(demand: Demand, vectors: Ints) -> Ints:
    """Return the rack totals of some vectors of quotas, [N, B] to [N, K]."""
    racks = len(demand.reach) - 1
    cell = np.arange(len(vectors))[:, None] * racks + demand.rack
    totals = np.bincount(cell.ravel(), weights=vectors.ravel(), minlength=len(vectors) * racks)
    return np.asarray(totals.reshape(-1, racks), np.int64)


def _reachable(demand: Demand, totals: Ints) -> Bools:
    """Whether racks can hold these totals, [..., K] to [...]."""
    fullest_first = np.sort(totals)[..., ::-1]
    return np.asarray((np.cumsum(fullest_first, axis=-1) <= demand.reach[1:]).all(axis=-1))


def _top_up(demand: Demand, quota: Ints, rising: Bools, last: float) -> None:
    """Give rising brokers replicas up to a last level where the bounds let it, and take the others off the rising ones.

    The emptiest for its weight comes first, then one that holds more than its quota now, then the one that holds most.
    """

    def keenness(broker: int) -> tuple[float, bool, int, int]:
        held, kept = int(quota[broker]), int(demand.kept[broker])
        level = (int(demand.base[broker]) + held + 1) / float(demand.weight[broker])
        return (level, kept <= held, -kept, broker)

    left = demand.total - int(quota.sum())
    (totals,) = _totals(demand, quota[None])
    waiting = [keenness(broker) for broker in np.flatnonzero(rising).tolist()]
    heapq.heapify(waiting)
    last = max(last, waiting[0][0])
    while waiting and left > 0 and (waiting[0][0] <= last or rising.all()):
        broker = heapq.heappop(waiting)[-1]
        rack = demand.rack[broker]
        totals[rack] += 1
        if quota[broker] < demand.upper[broker] and _reachable(demand, totals):
            quota[broker] += 1
            left -= 1
            heapq.heappush(waiting, keenness(broker))
        else:
            totals[rack] -= 1
            rising[broker] = False
