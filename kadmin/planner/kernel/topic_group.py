"""One group of partitions with the same allowed brokers, and what each broker is to hold when it is placed.

Groups are placed one after the other: the restricted ones first, each even among its own brokers, the group of all
brokers last, filling up what the others left uneven.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NO_LIMIT, NONE, NoPlanError, replicas_and_bytes_on
from kadmin.planner.kernel.quotas import Demand, quotas, rack_reach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem

_FINEST = 0.001
"""A tolerance below this is taken for this: swaps would go on for bytes that the next minute writes anyway."""

_HEADROOM = 0.02
"""Goals are below capacities by no larger fraction: a large tolerance must not make room seem scarce."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicGroup:
    """A group at work.

    `members` are partition indices. `quota` [B] is how many replicas the group is to have on each broker; it changes
    hands where another broker can as well have the odd one; `most` [B] is how many may be there at all. `base` and
    `base_load` [B] are the replicas and bytes that lie there already for good; `others` and `others_load` [B] all that
    is not the group's, which stands still while the group is placed.
    """

    placement: Placement
    members: Ints
    receives: Bools
    quota: Ints
    most: Ints
    base: Ints
    base_load: Ints
    others: Ints
    others_load: Ints

    def surplus(self) -> Ints:
        """Return by how many replicas each broker is above its quota (below: negative), [B]."""
        return np.asarray(self.placement.count - self.others - self.quota)

    def room(self) -> Ints:
        """Return how many replicas each broker may get up to its quota, [B]."""
        return np.where(self.receives, np.maximum(-self.surplus(), 0), 0)

    def levels(self, change: int = 0) -> Floats:
        """Return how full each broker is for its weight, had it `change` replicas more, [B]."""
        held = self.placement.count - self.others + self.base + change
        return np.asarray(held / self.placement.problem.brokers.weight)

    def per_rack(self, values: Ints | Floats) -> Floats:
        """Return the sums over each rack's brokers, [K]."""
        brokers = self.placement.problem.brokers
        return np.bincount(brokers.rack, weights=values, minlength=brokers.racks).astype(np.float64)

    @property
    def tolerance(self) -> float:
        """Return the fraction by which a broker's bytes may be off its goal."""
        return max(self.placement.problem.tolerance, _FINEST)

    def even_load(self) -> Floats:
        """Return the bytes that each broker is to hold, [B]: the most even that racks, weights and bounds allow."""
        own = self.placement.load - self.others_load
        demand = byte_demand(self.placement.problem, self.members, own, self.base_load, slack=self.tolerance)
        return np.asarray(quotas(demand) + self.others_load, np.float64)

    def load_within_racks(self, arriving: Ints) -> Floats:
        """Return the bytes that each broker is to hold if no more change racks, [B]; `arriving` [K] are on the way.

        What a rack holds is shared by weight among its brokers that may receive; the others keep what they have.
        """
        brokers = self.placement.problem.brokers
        own = self.placement.load - self.others_load + self.base_load
        shared = np.where(self.receives, own, 0)
        weight = np.where(self.receives, brokers.weight, 0.0)
        totals = np.bincount(brokers.rack, weights=shared, minlength=brokers.racks) + arriving
        weights = np.bincount(brokers.rack, weights=weight, minlength=brokers.racks)
        level = totals / np.where(weights > 0, weights, 1)
        goal = np.where(self.receives, brokers.weight * level[brokers.rack], own)
        return np.asarray(goal - self.base_load + self.others_load)


def topic_groups(placement: Placement) -> Iterator[TopicGroup]:
    """Yield each group with its quotas, when those before it have been placed."""
    problem = placement.problem
    settled = ~problem.movable
    sizes = problem.allowed.sum(axis=1)
    for group in sorted(range(len(problem.allowed)), key=lambda each: (each == 0, sizes[each], each)):
        chosen = problem.movable & (problem.group == group)
        if chosen.any():
            yield _topic_group(placement, np.flatnonzero(chosen), settled)
        settled |= chosen


def _topic_group(placement: Placement, members: Ints, settled: Bools) -> TopicGroup:
    problem = placement.problem
    receives = problem.allowed[problem.group[members[0]]] & problem.brokers.may_receive
    _refuse_impossible(placement, members, receives)
    kept, own_load = replicas_and_bytes_on(problem, placement.slots, members)
    base, base_load = replicas_and_bytes_on(problem, placement.slots, np.flatnonzero(settled))
    demand = group_demand(problem, members, kept, base, base_load)
    return TopicGroup(
        placement=placement,
        members=members,
        receives=receives,
        quota=quotas(demand),
        most=demand.upper,
        base=base,
        base_load=base_load,
        others=placement.count - kept,
        others_load=placement.load - own_load,
    )


def group_demand(problem: PlacementProblem, members: Ints, kept: Ints, base: Ints, base_load: Ints) -> Demand:
    """Return what a group of partitions demands, `kept` [B] of it being in place beside others' replicas and bytes.

    A broker that may not receive gets no more than it has at the start, and none more than its capacity may have room
    for.
    """
    brokers, start = problem.brokers, problem.start.take(members, axis=0)
    allowed = problem.allowed[problem.group[members[0]]] & brokers.may_hold
    several = int((problem.rf[members] > 1).sum())  # a sole replica leads
    most = np.minimum(np.where(brokers.may_lead, len(members), several), most_that_fit(problem, members, base_load))
    most_kept = np.bincount(start[start != NONE], minlength=len(brokers))
    return Demand(
        total=int(problem.rf[members].sum()),
        base=base,
        kept=kept,
        upper=np.where(allowed & brokers.may_receive, most, np.where(allowed, np.minimum(most_kept, most), 0)),
        weight=brokers.weight,
        rack=brokers.rack,
        reach=rack_reach(problem.rf[members], problem.rack_cap[members], brokers.racks),
    )


def most_that_fit(problem: PlacementProblem, members: Ints, base_load: Ints) -> Ints:
    """Return how many of a group's partitions each broker has room for, the smallest ones, [B]."""
    if (problem.brokers.capacity >= NO_LIMIT).all():
        return np.full(len(problem.brokers), len(members), np.int64)
    together = np.cumsum(np.sort(problem.size[members]))
    return np.searchsorted(together, problem.brokers.capacity - base_load, side="right")


def byte_demand(problem: PlacementProblem, members: Ints, kept: Ints, base: Ints, *, slack: float = 0.0) -> Demand:
    """Return what a group demands in bytes, as `group_demand` does in replicas.

    Goals stay so far below capacities that brokers may be above them by the fraction `slack`, or by some at least.
    """
    brokers, size = problem.brokers, problem.size[members]
    allowed = problem.allowed[problem.group[members[0]]] & brokers.may_hold
    most = np.where(allowed & brokers.may_receive, int(size.sum()), np.where(allowed, kept, 0))
    reach = rack_reach(problem.rf[members], problem.rack_cap[members], brokers.racks, size)
    capacity = (brokers.capacity / (1 + min(slack, _HEADROOM))).astype(np.int64)
    return Demand(
        total=int(reach[-1]),
        base=base,
        kept=np.zeros_like(kept),  # goals must not shift with what is where, or a second run would go on
        upper=np.clip(capacity - base, 0, most),
        weight=brokers.weight,
        rack=brokers.rack,
        reach=reach,
    )


def _refuse_impossible(placement: Placement, members: Ints, receives: Bools) -> None:
    """Refuse partitions that want more replicas than brokers and racks can hold."""
    problem, brokers = placement.problem, placement.problem.brokers
    new = np.bincount(brokers.rack[receives], minlength=brokers.racks)
    cap = problem.rack_cap[members]
    least = reduce(np.add, (np.minimum(count, cap) for count in new.tolist()), np.zeros(len(members), np.int64))
    if (problem.rf[members] <= least).all():
        return
    held = placement.slots[members]
    stuck = (held != NONE) & ~receives[held]
    old = np.zeros((len(members), brokers.racks), np.int64)
    rows, columns = np.nonzero(stuck)
    np.add.at(old, (rows, brokers.rack[held[rows, columns]]), 1)
    most = np.minimum(new + old, cap[:, None]).sum(axis=1)
    if (short := problem.rf[members] > most).any():
        wished = int(problem.rf[members][short].max())
        strict = bool((problem.rack_cap[members][short] == 1).all()) and brokers.racks > 1
        places = f"{np.count_nonzero(new)} racks" if strict else f"{np.count_nonzero(receives)} brokers"
        raise NoPlanError(f"RF {wished} over {places}", members[short])
