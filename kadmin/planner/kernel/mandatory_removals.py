"""Removes the replicas that no plan can keep: the first step of every plan.

A replica is removed from a broker that may not hold it, from a rack with too many replicas of its
partition, from one of several on a rack where the partition is on too few racks, from a partition
above its replication factor, and from a partition none of whose replicas may lead. Where there is a
choice, it is removed from the broker with most replicas per weight; on a tie the preferred leader
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, any_per_row, fast_nonzero

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem


def remove_replicas(placement: Placement) -> None:
    """Open the slot of every replica that must go; immovable partitions keep theirs."""
    problem = placement.problem
    placement.take_all(*fast_nonzero(~can_stay(problem, problem.start) & (problem.start != NONE)))
    crowded = any_per_row(placement.per_rack > problem.rack_cap[:, None]) | (
        placement.missing() < 0
    )
    if placement.floored:
        crowded |= placement.spare_replicas(np.arange(len(problem))) < 0
    for partition in np.flatnonzero(crowded & problem.movable).tolist():
        while (choice := _removable_slots(placement, partition)).size:
            placement.take(partition, _heaviest(placement, partition, choice))
    if not problem.brokers.may_lead.all():
        _open_slot_for_leader(placement)


def can_stay(problem: PlacementProblem, lists: Ints) -> Bools:
    """Whether each replica may stay on its broker, its partition's other replicas aside, [P, W]."""
    allowed = problem.allowed[problem.group[:, None], lists] & problem.brokers.may_hold[lists]
    return np.asarray(allowed | ~problem.movable[:, None])


def _removable_slots(placement: Placement, partition: int) -> Ints:
    problem, row = placement.problem, placement.slots[partition]
    filled = np.flatnonzero(row != NONE)
    crowded = (
        placement.per_rack[partition, problem.brokers.rack[row[filled]]]
        > problem.rack_cap[partition]
    )
    if not crowded.any() and placement.floored:
        shared = placement.per_rack[partition, problem.brokers.rack[row[filled]]] > 1
        crowded = shared & (placement.spare_replicas(partition) < 0)
    if not crowded.any():
        crowded = np.full(len(filled), len(filled) > problem.rf[partition])
    return np.asarray(filled[crowded])


def _heaviest(placement: Placement, partition: int, slots: Ints) -> int:
    brokers = placement.slots[partition, slots]
    weight = placement.count[brokers] / placement.problem.brokers.weight[brokers]
    return int(slots[np.lexsort((-slots, -weight))[0]])


def _open_slot_for_leader(placement: Placement) -> None:
    """Open a slot of each partition that has no replica that may lead, nor a slot for a leader."""
    problem = placement.problem
    may_lead = np.append(problem.brokers.may_lead, False)  # the last element is for NONE
    leaders = np.flatnonzero(problem.brokers.may_lead).tolist()
    missing = placement.missing()
    for partition in np.flatnonzero(
        problem.movable & ~any_per_row(may_lead[placement.slots])
    ).tolist():
        if missing[partition] and _fits_one(placement, partition, leaders):
            continue
        filled = np.flatnonzero(placement.slots[partition] != NONE)
        fitting = [
            slot for slot in filled.tolist() if _fits_one(placement, partition, leaders, slot)
        ]
        if fitting or not missing[partition]:
            placement.take(
                partition, _heaviest(placement, partition, np.array(fitting or filled, np.int64))
            )


def _fits_one(
    placement: Placement, partition: int, brokers: Iterable[int], instead: int = NONE
) -> bool:
    return any(placement.accepts(partition, broker, instead) for broker in brokers)
