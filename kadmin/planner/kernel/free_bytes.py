"""Frees bytes on one broker that is too full, and changes nothing else.

Goals: the fewest bytes that free the requested amount, then the fewest replicas; each goes to the
broker with the fewest bytes per weight among those that may receive it.
Algorithm: all subsets of up to _TRIED replicas are compared. Of more replicas, the largest that fit
the remaining amount are taken one after the other; then all subsets of the last ones taken and the
smallest left are compared.
Example: to free 10 of 7, 6 and 4, take 6 and 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.plan.units import readable_size
from kadmin.planner.kernel.leaders import keep_leaders
from kadmin.planner.kernel.next_leaders import order_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import NONE, NoPlanError, Solution

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_TRIED = 18
"""The most replicas of which every subset is tried."""


def free_bytes(
    problem: PlacementProblem, broker: int, size_bytes: int
) -> tuple[PlacementProblem, Solution]:
    """Return the problem restricted to the partitions that leave `broker`, and its solution.

    A broker that is over its capacity already may stay over it, but receives nothing. Partitions
    whose other replicas exceed a rack's cap already do not move. The solution is `proved` where no
    other choice of replicas frees `size_bytes` with fewer bytes, or with as few bytes in fewer
    moves than its `bound`. Raises NoPlanError where fewer bytes than that can leave the broker.
    """
    placement = Placement(problem)
    slots = np.argmax(placement.slots == broker, axis=1)
    candidates = np.flatnonzero(
        (placement.slots == broker).any(axis=1) & problem.movable & (problem.size > 0)
    )
    candidates = np.array(
        [each for each in candidates.tolist() if _receivers(placement, each, slots[each])], np.int64
    )
    while True:
        if problem.size[candidates].sum() < size_bytes:
            most = int(problem.size[candidates].sum())
            next_step = (
                f"set spec.free.bytes: {most}B"
                if most
                else "allow more in spec.topics or spec.brokers.no_receive"
            )
            raise NoPlanError(
                f"only {readable_size(most)} could go elsewhere",
                next_step,
                brokers=np.array([broker]),
            )
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
    target = order_replicas(
        narrowed, placement.slots, keep_leaders(narrowed, placement.slots), moved
    )
    largest_first = np.sort(problem.size[candidates])[::-1].cumsum()
    fewest = int(np.searchsorted(largest_first, size_bytes)) + 1 if size_bytes else 0
    bound = len(chosen) if len(candidates) <= _TRIED else fewest
    return narrowed, Solution(target, placement.count, bound, proved)


def smallest_cover(sizes: Ints, wanted: int) -> tuple[Ints, bool]:
    """Return positions in `sizes` [N] whose sum is the least that is at least `wanted`.

    Also return whether that is proved. The sum of all sizes must be at least `wanted`.
    """
    if wanted <= 0:
        return np.zeros(0, np.int64), True
    fixed, tried = _split(sizes, wanted)
    best = _best_subset(sizes[tried], wanted - int(sizes[fixed].sum()))
    chosen = np.sort(np.concatenate([fixed, tried[best]]))
    return chosen, len(sizes) <= _TRIED or int(sizes[chosen].sum()) == wanted


def _split(sizes: Ints, wanted: int) -> tuple[Ints, Ints]:
    """Return the positions that are taken in any case, and those of which every subset is tried."""
    descending = np.lexsort((np.arange(len(sizes)), -sizes))
    if len(sizes) <= _TRIED:
        return descending[:0], np.sort(descending)
    left, fits = wanted, np.zeros(len(sizes), np.bool_)
    for each in descending.tolist():
        if sizes[each] < left:
            fits[each] = True
            left -= int(sizes[each])
    taken, smallest = descending[fits[descending]], descending[~fits[descending]][::-1]
    fixed, last = np.split(taken, [max(len(taken) - _TRIED // 2, 0)])
    # None of the smallest fitted the remaining amount, so a single one of them covers it.
    return fixed, np.sort(np.concatenate([last, smallest[: _TRIED - len(last)]]))


def _best_subset(sizes: Ints, wanted: int) -> Ints:
    """Return the positions of the subset with the least sum of at least `wanted`.

    On a tie the fewest positions.
    """
    sums, members = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for size in sizes.tolist():
        sums, members = np.concatenate([sums, sums + size]), np.concatenate([members, members + 1])
    enough = np.flatnonzero(sums >= wanted)
    best = int(enough[np.lexsort((enough, members[enough], sums[enough]))[0]])
    return np.flatnonzero([(best >> at) & 1 for at in range(len(sizes))])


def _receivers(placement: Placement, partition: int, slot: int) -> list[int]:
    """Return the brokers that accept the replica of a slot.

    None where another rack holds too many of the partition.
    """
    problem = placement.problem
    others = placement.per_rack[partition].copy()
    others[problem.brokers.rack[placement.slots[partition, slot]]] -= 1
    if (others > problem.rack_cap[partition]).any():
        return []
    brokers = range(len(problem.brokers))
    return [broker for broker in brokers if placement.accepts(partition, broker, slot)]


def _send_away(placement: Placement, partitions: Ints, slots: Ints) -> int:
    """Move each partition's replica, the largest first, to the emptiest broker.

    Returns the first partition that no broker accepts, or NONE.
    """
    weight = placement.problem.brokers.weight
    for partition in partitions[
        np.argsort(-placement.problem.size[partitions], kind="stable")
    ].tolist():
        receivers = _receivers(placement, partition, slots[partition])
        if not receivers:
            return int(partition)
        load = placement.load[receivers] / weight[receivers]
        placement.move(partition, int(slots[partition]), receivers[int(np.argmin(load))])
    return NONE
