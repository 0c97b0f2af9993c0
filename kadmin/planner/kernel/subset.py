"""Exactly so many items with a sum near a wish: which replicas a broker gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Ints

_EXCHANGES = 8


def pick_exactly(sizes: Ints, count: int, wanted: float) -> Ints:
    """Return `count` positions (ascending by size) whose sizes sum to about `wanted`.

    The best run of neighbours in order of size comes first; then single items are exchanged while that helps. The sum
    is off by at most the size of one item, where any choice comes that near. Ties go to the lower position.
    """
    order = np.argsort(sizes, kind="stable")
    if count >= len(sizes):
        return order
    first = _best_run(sizes[order], count, wanted)
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[order[first : first + count]] = True
    for _ in range(_EXCHANGES):
        inside, outside = order[chosen[order]], order[~chosen[order]]
        error = wanted - float(sizes[inside].sum())
        pair = nearest_exchange(sizes[inside], sizes[outside], error)
        if pair is None:
            break
        chosen[inside[pair[0]]], chosen[outside[pair[1]]] = False, True
    return order[chosen[order]]


def nearest_exchange(inside: Ints, outside: Ints, wanted: float) -> tuple[int, int] | None:
    """Return positions (i, j) with `outside[j] - inside[i]` nearest to `wanted`; both ascend by size.

    None where every exchange leaves the sum as far off as before.
    """
    if not len(inside) or not len(outside):
        return None
    after = np.minimum(np.searchsorted(outside, inside + wanted), len(outside) - 1)
    before = np.maximum(after - 1, 0)
    candidates = np.concatenate([before, after])
    errors = np.abs(outside[candidates] - np.tile(inside, 2) - wanted)
    best = int(np.argmin(errors))
    if errors[best] >= abs(wanted):
        return None
    return best % len(inside), int(candidates[best])


def _best_run(ascending: Ints, count: int, wanted: float) -> int:
    sums = np.concatenate([[0], np.cumsum(ascending)])
    runs = sums[count:] - sums[: len(sums) - count]
    return int(np.argmin(np.abs(runs - wanted)))
