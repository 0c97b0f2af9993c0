"""Computes quotas: the most even replica counts per broker that racks and limits allow.

Goals: the most even counts per unit of weight; among those, the counts that let brokers keep most
replicas.
Constraints: rack totals T are feasible iff every j racks together hold at most g(j) = sum_p
min(rf_p - max(0, floor_p - j), j * cap_p) for j > 0 (Gale-Ryser; a partition on at least floor_p
racks has as many replicas outside of j racks as it lacks racks there); each broker has an upper
limit.
Algorithm: greedy on that polymatroid, which is exact (Federgruen and Groenevelt, 1986). Give one
replica at a time to the broker with the lowest level afterwards, on a tie to one that keeps a
replica by it; drop a broker that cannot take one more. Brokers that can rise together are raised to
a common level at once (water-filling).
Example: 10 replicas on brokers that hold 0, 4 and 6, without racks: quotas 3, 3 and 4.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

_SECTIONS, _SECTIONINGS = 16, 14
"""The search for a level tries 16 at a time, 14 times: down to the spacing of floats."""

_EPSILON = 1e-9
_SPACINGS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The replicas (or bytes) to distribute: `total` over brokers, whose arrays have shape [B].

    `base`: replicas outside the demand, which count for evenness. `kept`: replicas of the demand
    that are in place. `upper`: the limit of the quota. `reach` [K + 1] is g: the most that any j
    racks can hold.
    """

    total: int
    base: Ints
    kept: Ints
    upper: Ints
    weight: Floats
    rack: Ints
    reach: Ints


@dataclass(frozen=True, slots=True, eq=False)
class RackRule:
    """The replicas of each partition, the most on one rack, and the fewest racks; all [P]."""

    rf: Ints
    cap: Ints
    floor: Ints


def rack_reach(rule: RackRule, racks: int, size: Ints | None = None) -> Ints:
    """Return g(0) to g(K) for partitions with replicas of `size` [P]."""
    kinds, floors = 1 + int(rule.rf.max(initial=0)), 1 + int(rule.floor.max(initial=0))
    kind = (rule.rf * kinds + np.minimum(rule.cap, rule.rf)) * floors + rule.floor
    total = np.zeros(kinds * kinds * floors, np.int64)
    np.add.at(total, kind, 1 if size is None else size)
    wanted, most = np.divmod(np.arange(len(total)) // floors, kinds)
    fewest = np.arange(len(total)) % floors
    return np.array(
        [
            (total * np.minimum(wanted - np.maximum(fewest - used, 0), used * most)).sum()
            for used in range(racks + 1)
        ],
        np.int64,
    )


def quotas(demand: Demand) -> Ints:
    """Return the quota of each broker, [B].

    Quotas sum to `total`, or to less where the limits do not allow it. No vector within the limits
    is more even for the weights, and none as even keeps more of `kept`.
    """
    quota = np.zeros(len(demand.base), np.int64)
    rising = np.ones(len(demand.base), np.bool_)
    while rising.any() and quota.sum() < demand.total:
        level = _highest(demand, quota, rising)
        # Rounding errors decide between levels this close.
        margin = 2 * _EPSILON + _SPACINGS * float(np.spacing(level))
        quota = np.where(rising, _filled(demand, level - margin), quota)
        _top_up(demand, quota, rising, level + margin)
    return quota


def _highest(demand: Demand, quota: Ints, rising: Bools) -> float:
    """Return the highest level to which all rising brokers can be filled.

    Meanwhile the others keep their quota.
    """
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
    """Return the rack totals of N vectors of quotas: [N, B] to [N, K]."""
    racks = len(demand.reach) - 1
    cell = np.arange(len(vectors))[:, None] * racks + demand.rack
    totals = np.bincount(cell.ravel(), weights=vectors.ravel(), minlength=len(vectors) * racks)
    return np.asarray(totals.reshape(-1, racks), np.int64)


def _reachable(demand: Demand, totals: Ints) -> Bools:
    """Whether rack totals [..., K] are feasible, [...]."""
    fullest_first = np.sort(totals)[..., ::-1]
    return np.asarray((np.cumsum(fullest_first, axis=-1) <= demand.reach[1:]).all(axis=-1))


def _top_up(demand: Demand, quota: Ints, rising: Bools, last: float) -> None:
    """Add single replicas to rising brokers up to a last level; brokers at a limit stop rising.

    Order: the lowest level afterwards, then a broker that keeps a replica by it, then the one that
    holds most.
    """

    def priority(broker: int) -> tuple[float, bool, int, int]:
        held, kept = int(quota[broker]), int(demand.kept[broker])
        level = (int(demand.base[broker]) + held + 1) / float(demand.weight[broker])
        return (level, kept <= held, -kept, broker)

    left = demand.total - int(quota.sum())
    (totals,) = _totals(demand, quota[None])
    waiting = [priority(broker) for broker in np.flatnonzero(rising).tolist()]
    heapq.heapify(waiting)
    last = max(last, waiting[0][0])
    while waiting and left > 0 and (waiting[0][0] <= last or rising.all()):
        broker = heapq.heappop(waiting)[-1]
        rack = demand.rack[broker]
        totals[rack] += 1
        if quota[broker] < demand.upper[broker] and _reachable(demand, totals):
            quota[broker] += 1
            left -= 1
            heapq.heappush(waiting, priority(broker))
        else:
            totals[rack] -= 1
            rising[broker] = False
