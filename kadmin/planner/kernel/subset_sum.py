"""Selects replicas by their sizes: a given number with a sum near a target, and pairs to swap.

All functions are deterministic; ties go to the lower position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints

_EXCHANGES = 8
_MOST_COST = 1
"""The moves that giving one replica adds at most, or saves."""


def pick_exactly(sizes: Ints, count: int, wanted: float) -> Ints:
    """Return `count` positions in `sizes` [N], ascending by size, whose sum is about `wanted`.

    Starts from the best run of neighbours in order of size, then exchanges single items while that
    helps. The sum differs from `wanted` by at most the size of one item, where some choice comes
    that near.
    """
    order = stable_argsort(sizes)
    if count >= len(sizes):
        return order
    first = _best_run(sizes[order], count, wanted)
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[order[first : first + count]] = True
    for _ in range(_EXCHANGES):
        inside, outside = order[chosen[order]], order[~chosen[order]]
        error = wanted - float(sizes[inside].sum())
        pair = nearest_pair(sizes[inside], sizes[outside], error)
        if pair is None:
            break
        chosen[inside[pair[0]]], chosen[outside[pair[1]]] = False, True
    return order[chosen[order]]


def nearest_pair(inside: Ints, outside: Ints, wanted: float) -> tuple[int, int] | None:
    """Return positions (i, j) with `outside[j] - inside[i]` nearest to `wanted`.

    Both arrays ascend. None where no pair comes nearer to `wanted` than 0 does.
    """
    if not len(inside) or not len(outside):
        return None
    after = np.minimum(outside.searchsorted(inside + wanted), len(outside) - 1)
    candidates = np.array([np.maximum(after - 1, 0), after])
    errors = np.abs(outside[candidates] - inside - wanted)
    side, best = divmod(int(errors.argmin()), len(inside))
    if errors[side, best] >= abs(wanted):
        return None
    return best, int(candidates[side, best])


@dataclass(frozen=True, slots=True, eq=False)
class SwapSide:
    """The replicas that one broker may give in a swap: arrays [N], ascending by `size`.

    `at` is the caller's index of each; `cost` the moves that giving it adds: -1, 0 or 1.
    """

    at: Ints
    size: Ints
    cost: Ints

    def costing(self, cost: int, *, exactly: bool) -> Ints:
        """Return the positions of those that cost at most, or exactly, `cost`."""
        return (self.cost == cost if exactly else self.cost <= cost).nonzero()[0]


def nearest_swap(
    out: SwapSide, back: SwapSide, most_cost: int, wanted: float, *, exactly: bool = False
) -> tuple[int, int] | None:
    """Return (`at` of the one given, `at` of the one taken back).

    Theirs is the difference of sizes nearest to `wanted`. The costs of both sum to at most
    `most_cost`, or to exactly that with `exactly`. None where no such swap comes nearer to `wanted`
    than 0 does.
    """
    best, found = abs(wanted), None
    for cost in range(most_cost - _MOST_COST if exactly else -_MOST_COST, _MOST_COST + 1):
        going = out.costing(cost, exactly=exactly)
        if not len(going):
            continue
        coming = back.costing(most_cost - cost, exactly=exactly)
        pair = nearest_pair(back.size[coming], out.size[going], wanted)
        if pair is not None:
            goes, comes = going[pair[1]], coming[pair[0]]
            error = abs(float(out.size[goes] - back.size[comes]) - wanted)
            if error < best:
                best, found = error, (int(out.at[goes]), int(back.at[comes]))
    return found


def _best_run(ascending: Ints, count: int, wanted: float) -> int:
    sums = np.concatenate([[0], np.cumsum(ascending)])
    runs = sums[count:] - sums[: len(sums) - count]
    return int(np.argmin(np.abs(runs - wanted)))
