"""Replaces brokers by their substitutes in every list, and changes nothing else.

Goals: the substitute has the place of the replaced broker in the list. Where it cannot hold the
replica (it has one already, its rack would hold too many, or its capacity is used up), the replica
goes to the broker with the fewest bytes per weight among those that may receive it.
Algorithm: small replicas first, so that the capacity of a substitute takes most of them; those that
go elsewhere follow, the largest first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.augmenting_paths import ways_out
from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.free_bytes import receivers_of
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.placement_problem import (
    NONE,
    NoPlanError,
    Solution,
    any_per_row,
    bytes_on,
    fast_nonzero,
)

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import PlacementProblem


def substitute_brokers(problem: PlacementProblem) -> tuple[PlacementProblem, Solution]:
    """Return the problem restricted to the partitions of replaced brokers, and its solution.

    Their other replicas stay: where a rack holds too many of them, too few racks hold any, or a
    broker is over its capacity, that does not get worse. Raises NoPlanError where no broker
    accepts a replica.
    """
    leaving = (problem.current != NONE) & ~problem.brokers.may_hold[problem.current]
    leaving &= problem.movable[:, None]
    moved = any_per_row(leaving)
    start = np.where(moved[:, None], problem.current, problem.start)
    placement = Placement(replace(problem, start=start))
    narrowed = replace(
        problem,
        start=start,
        movable=moved,
        rack_cap=np.maximum(problem.rack_cap, placement.per_rack.max(axis=1)),
        rack_floor=np.minimum(problem.rack_floor, np.count_nonzero(placement.per_rack, axis=1)),
        brokers=replace(
            problem.brokers,
            capacity=np.maximum(problem.brokers.capacity, bytes_on(problem, problem.current)),
        ),
    )
    placement = Placement(narrowed)
    partitions, slots = fast_nonzero(leaving)
    by_size = np.argsort(problem.size[partitions], kind="stable")
    elsewhere = [
        (partition, slot)
        for partition, slot in zip(
            partitions[by_size].tolist(), slots[by_size].tolist(), strict=True
        )
        if not _takes_over(placement, partition, slot, int(problem.start[partition, slot]))
    ]
    for partition, slot in reversed(elsewhere):
        _send_elsewhere(placement, partition, slot)
    placement.refuse_overfull()
    target = placement.slots
    bound = int(moves_per_partition(problem, target).sum())
    return narrowed, Solution(target, placement.count, bound, proved=True)


def _takes_over(placement: Placement, partition: int, slot: int, substitute: int) -> bool:
    """Move a replica to the substitute of its broker, and return whether that accepts it."""
    if not placement.accepts(partition, substitute, slot):
        return False
    placement.move(partition, slot, substitute)
    return True


def _send_elsewhere(placement: Placement, partition: int, slot: int) -> None:
    receivers = receivers_of(placement, partition, slot)
    if not receivers:
        raise NoPlanError(
            "no other broker may hold the replicas of a replaced broker",
            f"add a broker; or set spec.even: true; or {ways_out(placement.problem, partition)}",
            partitions=np.array([partition]),
        )
    brokers = placement.problem.brokers
    load, count = placement.load[receivers], placement.count[receivers]
    weight = brokers.weight[receivers]
    placement.move(partition, slot, receivers[int(np.lexsort((count, load / weight))[0])])
