"""Selects sizes whose sum is the least that is at least a given number.

Algorithm: a size that covers the number alone needs no other, so only the smallest of those takes
part. Of up to _COMPARED smaller sizes all sums are compared, half of them against the other half
(Horowitz and Sahni, 1974). Of more, the largest that fit the remaining number are taken one after
the other; then all sums of the last ones taken and the smallest left are compared.
Example: to cover 10 of 7, 6, 4 and 30, take 6 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints

_HALF = 18
_COMPARED = 2 * _HALF


class Cover(NamedTuple):
    """Positions in ascending order.

    `proved`: no other choice has a lower sum. None with that sum has fewer positions than `fewest`.
    """

    positions: Ints
    proved: bool
    fewest: int


def smallest_cover(sizes: Ints, wanted: int) -> Cover:
    """Return positions in `sizes` [N] whose sum is the least that is at least `wanted`.

    Among sums as small, the fewest positions. The sum of all sizes must be at least `wanted`.
    """
    if wanted <= 0:
        return Cover(np.zeros(0, np.int64), proved=True, fewest=0)
    smaller, larger = np.flatnonzero(sizes < wanted), np.flatnonzero(sizes >= wanted)
    alone = larger[np.argsort(sizes[larger], kind="stable")[:1]]
    if int(sizes[smaller].sum()) < wanted:
        return Cover(alone, proved=True, fewest=1)
    fixed, compared = _split(sizes[smaller], wanted)
    least = _least_sum(sizes[smaller[compared]], wanted - int(sizes[smaller[fixed]].sum()))
    chosen = np.sort(smaller[np.concatenate([fixed, compared[least]])])
    if len(alone) and sizes[alone[0]] <= sizes[chosen].sum():
        chosen = alone
    if len(smaller) <= _COMPARED:
        return Cover(chosen, proved=True, fewest=len(chosen))
    largest_first = np.sort(sizes)[::-1].cumsum()
    fewest = 1 + int(largest_first.searchsorted(wanted))
    return Cover(chosen, int(sizes[chosen].sum()) == wanted, fewest)


def _split(sizes: Ints, wanted: int) -> tuple[Ints, Ints]:
    """Return the positions that are taken in any case, and those of which all sums are compared."""
    descending = np.lexsort((np.arange(len(sizes)), -sizes))
    if len(sizes) <= _COMPARED:
        return descending[:0], np.sort(descending)
    left, fits = wanted, np.zeros(len(sizes), np.bool_)
    for each in descending.tolist():
        if sizes[each] < left:
            fits[each] = True
            left -= int(sizes[each])
    taken, smallest = descending[fits[descending]], descending[~fits[descending]][::-1]
    fixed, last = np.split(taken, [max(len(taken) - _HALF, 0)])
    # None of the smallest fitted the remaining number, so a single one of them covers it.
    return fixed, np.sort(np.concatenate([last, smallest[: _COMPARED - len(last)]]))


def _least_sum(sizes: Ints, wanted: int) -> Ints:
    """Return the positions of the subset with the least sum of at least `wanted`.

    On a tie the fewest positions, then the lower ones.
    """
    low, high = (_subsets(part) for part in np.split(sizes, [len(sizes) // 2]))
    order = np.lexsort((high[1], high[0]))
    found = high[0][order].searchsorted(wanted - low[0])
    covers = np.flatnonzero(found < len(order))
    other = order[found[covers]]
    total, members = low[0][covers] + high[0][other], low[1][covers] + high[1][other]
    best = int(np.lexsort((covers, other, members, total))[0])
    chosen = int(covers[best]) | int(other[best]) << (len(sizes) // 2)
    return np.flatnonzero([(chosen >> at) & 1 for at in range(len(sizes))])


def _subsets(sizes: Ints) -> tuple[Ints, Ints]:
    """Return the sum and the number of members of each subset, by the bits of its index."""
    sums, members = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for size in sizes.tolist():
        sums, members = np.concatenate([sums, sums + size]), np.concatenate([members, members + 1])
    return sums, members
