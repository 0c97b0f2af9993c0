"""Frees bytes on one broker that is too full, and touches nothing else.

Goals: the fewest bytes that free as much as is asked for, then the fewest replicas; each goes to the broker that has
least for its weight among those that may take it.
Algorithm: the best subset of some two dozen replicas is found by looking at all of them. Where there are more, replicas
are taken largest first as long as they fit in what is still to be freed, and the last and the smallest are tried anew.
Example: to free 10 of 7, 6 and 4: the last two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.leaders import keep_leaders
from kadmin.planner.kernel.next_leaders import order_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import NONE, NoPlanError, Solution

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_TRIED = 18
"""Replicas of which every subset is tried."""


def free_bytes(problem: PlacementProblem, broker: int, size_bytes: int) -> tuple[PlacementProblem, Solution]:
    """Return the problem narrowed to the partitions that leave the broker, and their target lists.

    A broker that is over its capacity already may stay so, but gets nothing. The solution is `proved` where no other
    choice of replicas that may go frees as much with fewer bytes, and with as few in fewer moves than its `bound`.
    Raises ObstacleError where the broker cannot give away so much.
    """
    placement = Placement(problem)
    slots = np.argmax(placement.slots == broker, axis=1)
    candidates = np.flatnonzero((placement.slots == broker).any(axis=1) & problem.movable & (problem.size > 0))
    candidates = np.array([each for each in candidates.tolist() if _takers(placement, each, slots[each])], np.int64)
    while True:
        if problem.size[candidates].sum() < size_bytes:
            room = int(problem.size[candidates].sum())
            raise NoPlanError(f"only {room} bytes could go elsewhere", brokers=np.array([broker]))
        chosen, proved = smallest_cover(problem.size[candidates], size_bytes)
        stuck = _send_away(placement, candidates[chosen], slots)
        if stuck == NONE:
            break
        candidates = candidates[candidates != stuck]
        placement = Placement(problem)
    moved = np.zeros(len(problem), np.bool_)
    moved[candidates[chosen]] = True
    capacity = np.maximum(problem.brokers.capacity, Placement(problem).load)
    narrowed = replace(problem, movable=moved, brokers=replace(problem.brokers, capacity=capacity))
    target = order_replicas(narrowed, placement.slots, keep_leaders(narrowed, placement.slots), moved)
    largest_first = np.sort(problem.size[candidates])[::-1].cumsum()
    fewest = int(np.searchsorted(largest_first, size_bytes)) + 1 if size_bytes else 0
    bound = len(chosen) if len(candidates) <= _TRIED else fewest
    return narrowed, Solution(target, placement.count, bound, proved)


def smallest_cover(sizes: Ints, wanted: int) -> tuple[Ints, bool]:
    """Return positions whose sizes sum to at least `wanted`, as few bytes as possible, and whether none sums to less.

    All sizes together must be at least `wanted`.
    """
    if wanted <= 0:
        return np.zeros(0, np.int64), True
    firm, tried = _split(sizes, wanted)
    best = _best_subset(sizes[tried], wanted - int(sizes[firm].sum()))
    chosen = np.sort(np.concatenate([firm, tried[best]]))
    return chosen, len(sizes) <= _TRIED or int(sizes[chosen].sum()) == wanted


def _split(sizes: Ints, wanted: int) -> tuple[Ints, Ints]:
    """Return the positions that are taken for certain, and those of which every subset is to be tried."""
    descending = np.lexsort((np.arange(len(sizes)), -sizes))
    if len(sizes) <= _TRIED:
        return descending[:0], np.sort(descending)
    left, fits = wanted, np.zeros(len(sizes), np.bool_)
    for each in descending.tolist():
        if sizes[each] < left:
            fits[each] = True
            left -= int(sizes[each])
    taken, smallest = descending[fits[descending]], descending[~fits[descending]][::-1]
    firm, last = np.split(taken, [max(len(taken) - _TRIED // 2, 0)])
    # What was passed over did not fit, so that the first of the smallest already covers what is left.
    return firm, np.sort(np.concatenate([last, smallest[: _TRIED - len(last)]]))


def _best_subset(sizes: Ints, wanted: int) -> Ints:
    """Return the positions of the subset with the least sum that is at least `wanted`, of the fewest among equals."""
    sums, members = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for size in sizes.tolist():
        sums, members = np.concatenate([sums, sums + size]), np.concatenate([members, members + 1])
    enough = np.flatnonzero(sums >= wanted)
    best = int(enough[np.lexsort((enough, members[enough], sums[enough]))[0]])
    return np.flatnonzero([(best >> at) & 1 for at in range(len(sizes))])


def _takers(placement: Placement, partition: int, slot: int) -> list[int]:
    brokers = range(len(placement.problem.brokers))
    return [broker for broker in brokers if placement.accepts(partition, broker, slot)]


def _send_away(placement: Placement, partitions: Ints, slots: Ints) -> int:
    """Move each partition, the largest first, to the emptiest broker; return the first that finds none, or NONE."""
    weight = placement.problem.brokers.weight
    for partition in partitions[np.argsort(-placement.problem.size[partitions], kind="stable")].tolist():
        takers = _takers(placement, partition, slots[partition])
        if not takers:
            return int(partition)
        load = placement.load[takers] / weight[takers]
        placement.move(partition, int(slots[partition]), takers[int(np.argmin(load))])
    return NONE
