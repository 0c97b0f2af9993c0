"""Frees bytes on one broker that is too full, and changes nothing else.

Goals: the fewest bytes that free the requested amount, then the fewest replicas; each goes to the
broker with the fewest bytes per weight among those that may receive it.
The entries are ordered by size, the largest first: a plan that is stopped early has freed most.
Algorithm: smallest_cover.py.
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
from kadmin.planner.kernel.smallest_cover import smallest_cover

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem


def free_bytes(
    problem: PlacementProblem, broker: int, size_bytes: int
) -> tuple[PlacementProblem, Solution]:
    """Return the problem restricted to the partitions that leave `broker`, and its solution.

    A broker that is over its capacity already may stay over it, but receives nothing. Partitions
    whose other replicas exceed a rack's cap already, or are on too few racks, do not move. The
    solution is `proved` where no other choice of replicas frees `size_bytes` with fewer bytes, or
    with as few bytes in fewer moves than its `bound`; not where replicas stay because others use up
    the capacities. Raises NoPlanError where fewer bytes than that can leave the broker.
    """
    placement = Placement(problem)
    slots = np.argmax(placement.slots == broker, axis=1)
    candidates = np.flatnonzero(
        (placement.slots == broker).any(axis=1) & problem.movable & (problem.size > 0)
    )
    candidates = np.array(
        [each for each in candidates.tolist() if receivers_of(placement, each, slots[each])],
        np.int64,
    )
    placed = True
    while True:
        if problem.size[candidates].sum() < size_bytes:
            raise _too_few(int(problem.size[candidates].sum()), broker)
        cover = smallest_cover(problem.size[candidates], size_bytes)
        chosen = candidates[cover.positions]
        stuck = _send_away(placement, chosen, slots)
        if stuck == NONE:
            break
        placed = False
        candidates = candidates[candidates != stuck]
        placement = Placement(problem)
    moved = np.zeros(len(problem), np.bool_)
    moved[chosen] = True
    capacity = np.maximum(problem.brokers.capacity, Placement(problem).load)
    narrowed = replace(problem, movable=moved, brokers=replace(problem.brokers, capacity=capacity))
    target = order_replicas(
        narrowed, placement.slots, keep_leaders(narrowed, placement.slots), moved
    )
    solution = Solution(target, placement.count, cover.fewest, cover.proved and placed)
    return narrowed, solution


def _too_few(most: int, broker: int) -> NoPlanError:
    """Return the error of a broker of which `most` bytes could leave."""
    next_step = (
        f"set spec.free.bytes: {most}B"
        if most
        else "allow more in spec.topics or spec.brokers.no_receive"
    )
    reason = f"only {readable_size(most)} could go elsewhere"
    return NoPlanError(reason, next_step, brokers=np.array([broker]))


def largest_first(problem: PlacementProblem) -> Ints:
    """Return the partitions that leave the broker, the largest first, [N]."""
    moved = np.flatnonzero(problem.movable)
    return moved[np.argsort(-problem.size[moved], kind="stable")]


def receivers_of(placement: Placement, partition: int, slot: int) -> list[int]:
    """Return the brokers that accept the replica of a slot.

    None where another rack holds too many of the partition, or too few racks hold it.
    """
    problem = placement.problem
    others = placement.per_rack[partition].copy()
    leaving = problem.brokers.rack[placement.slots[partition, slot]]
    others[leaving] -= 1
    if (others > problem.rack_cap[partition]).any():
        return []
    if placement.floored and placement.spare_replicas(partition, leaving) < 0:
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
        receivers = receivers_of(placement, partition, slots[partition])
        if not receivers:
            return int(partition)
        load = placement.load[receivers] / weight[receivers]
        placement.move(partition, int(slots[partition]), receivers[int(np.argmin(load))])
    return NONE
