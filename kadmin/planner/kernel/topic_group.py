"""Groups of topics with the same allowed brokers.

Each has the replica quota and the byte goal of each broker. Groups are placed one after the other:
first those restricted to a broker set, each even over its own brokers; last the group that may use
every broker, which evens out what the others left uneven.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import (
    NO_LIMIT,
    NONE,
    NoPlanError,
    replicas_and_bytes_on,
)
from kadmin.planner.kernel.quotas import Demand, RackRule, quotas, rack_reach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem

_FINEST = 0.001
"""The smallest tolerance: below it, swaps would correct fewer bytes than producers write in the
next minute."""

_HEADROOM = 0.02
"""The largest fraction by which byte goals stay below capacities: a large tolerance must not use up
all of that."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicGroup:
    """One group while it is being placed.

    `members` are partition indices. `receives` [B]: the brokers that may get replicas of the group.
    `quota` [B] is the goal of the group's replicas on each broker; one unit may pass to another
    broker that is equally full. `most` [B] is the upper limit of the quota. `base` and `base_load`
    [B] are the replicas and bytes of groups already placed and of immovable partitions; `others`
    and `others_load` [B] those of all partitions outside the group, which do not change while the
    group is placed.
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
        """Return the replicas of each broker above its quota, negative below it, [B]."""
        return np.asarray(self.placement.count - self.others - self.quota)

    def has(self) -> Bools:
        """Whether each partition is a member, [P]."""
        has = np.zeros(len(self.placement.problem), np.bool_)
        has[self.members] = True
        return has

    def deficit(self) -> Ints:
        """Return the number of replicas that each broker can receive up to its quota, [B]."""
        return np.where(self.receives, np.maximum(-self.surplus(), 0), 0)

    def levels(self, change: int = 0) -> Floats:
        """Return each broker's replicas per unit of weight, [B], with `change` more on each."""
        held = self.placement.count - self.others + self.base + change
        return np.asarray(held / self.placement.problem.brokers.weight)

    def per_rack(self, values: Ints | Floats) -> Floats:
        """Sum `values` [B] over the brokers of each rack, [K]."""
        brokers = self.placement.problem.brokers
        return np.bincount(brokers.rack, weights=values, minlength=brokers.racks).astype(np.float64)

    def open_racks(self) -> Bools:
        """Whether each rack may get a further replica of some partition, [K]."""
        per_rack, cap = self.placement.per_rack, self.placement.problem.rack_cap[self.members]
        racks = range(self.placement.problem.brokers.racks)
        return np.array([(per_rack[self.members, rack] < cap).any() for rack in racks], np.bool_)

    @property
    def tolerance(self) -> float:
        """Return the fraction by which a broker's bytes may differ from its goal."""
        return max(self.placement.problem.tolerance, _FINEST)

    def even_load(self) -> Floats:
        """Return each broker's byte goal, [B]: as even as racks, weights and capacities allow."""
        own = self.placement.load - self.others_load
        demand = byte_demand(
            self.placement.problem, self.members, own, self.base_load, slack=self.tolerance
        )
        return np.asarray(quotas(demand) + self.others_load, np.float64)

    def byte_slack(self, goal: Floats) -> Floats:
        """Return the bytes by which each broker may differ from its goal, [B]."""
        settled = goal - self.others_load + self.base_load  # without groups that are not placed yet
        below = np.maximum(self.placement.problem.brokers.capacity - goal, 1.0)
        return np.minimum(self.tolerance * np.maximum(settled, 1.0), below)

    def load_within_racks(self, arriving: Ints) -> Floats:
        """Return the byte goal of each broker if no more replicas change racks, [B].

        `arriving` [K] bytes are pending. A rack's bytes are divided by weight among its brokers
        that may receive; the others keep what they have.
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
    """Yield each group with its quotas; the caller places it before it asks for the next one."""
    problem = placement.problem
    settled = ~problem.movable
    sizes = problem.allowed.sum(axis=1)
    for group in sorted(
        range(len(problem.allowed)), key=lambda each: (each == 0, sizes[each], each)
    ):
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


def group_demand(
    problem: PlacementProblem, members: Ints, kept: Ints, base: Ints, base_load: Ints
) -> Demand:
    """Return the replicas that a group distributes and the limits of each broker.

    `kept`, `base` (replicas) and `base_load` (bytes) are [B]: the group's replicas in place, and
    those of others. The limit of a broker that may not receive is what it has at the start; no
    limit exceeds what fits its capacity.
    """
    brokers, start = problem.brokers, problem.start.take(members, axis=0)
    allowed = problem.allowed[problem.group[members[0]]] & brokers.may_hold
    several = int((problem.rf[members] > 1).sum())  # the only replica of a partition is its leader
    most = np.minimum(
        np.where(brokers.may_lead, len(members), several),
        most_that_fit(problem, members, base_load),
    )
    most_kept = np.bincount(start[start != NONE], minlength=len(brokers))
    return Demand(
        total=int(problem.rf[members].sum()),
        base=base,
        kept=kept,
        upper=np.where(
            allowed & brokers.may_receive, most, np.where(allowed, np.minimum(most_kept, most), 0)
        ),
        weight=brokers.weight,
        rack=brokers.rack,
        reach=rack_reach(rack_rule(problem, members), brokers.racks),
    )


def rack_rule(problem: PlacementProblem, members: Ints) -> RackRule:
    """Return the rack rule of some partitions."""
    return RackRule(problem.rf[members], problem.rack_cap[members], problem.rack_floor[members])


def most_that_fit(problem: PlacementProblem, members: Ints, base_load: Ints) -> Ints:
    """Return how many of a group's partitions fit each broker's capacity, smallest first, [B]."""
    if (problem.brokers.capacity >= NO_LIMIT).all():
        return np.full(len(problem.brokers), len(members), np.int64)
    together = np.cumsum(np.sort(problem.size[members]))
    return np.searchsorted(together, problem.brokers.capacity - base_load, side="right")


def byte_demand(
    problem: PlacementProblem, members: Ints, kept: Ints, base: Ints, *, slack: float = 0.0
) -> Demand:
    """Return the same as `group_demand` in bytes.

    Goals stay below capacities by the fraction `slack`, at most _HEADROOM, because bytes may exceed
    their goal.
    """
    brokers, size = problem.brokers, problem.size[members]
    allowed = problem.allowed[problem.group[members[0]]] & brokers.may_hold
    most = np.where(allowed & brokers.may_receive, int(size.sum()), np.where(allowed, kept, 0))
    reach = rack_reach(rack_rule(problem, members), brokers.racks, size)
    capacity = (brokers.capacity / (1 + min(slack, _HEADROOM))).astype(np.int64)
    return Demand(
        total=int(reach[-1]),
        base=base,
        # Goals must not depend on the current placement, or a second run would propose more.
        kept=np.zeros_like(kept),
        upper=np.clip(capacity - base, 0, most),
        weight=brokers.weight,
        rack=brokers.rack,
        reach=reach,
    )


def _refuse_impossible(placement: Placement, members: Ints, receives: Bools) -> None:
    """Raise NoPlanError for partitions with more replicas than allowed brokers and racks hold."""
    problem, brokers = placement.problem, placement.problem.brokers
    new = np.bincount(brokers.rack[receives], minlength=brokers.racks)
    cap, floor = problem.rack_cap[members], problem.rack_floor[members]
    least = reduce(
        np.add, (np.minimum(count, cap) for count in new.tolist()), np.zeros(len(members), np.int64)
    )
    if ((problem.rf[members] <= least) & (floor <= np.count_nonzero(new))).all():
        return
    held = placement.slots[members]
    stuck = (held != NONE) & ~receives[held]
    old = np.zeros((len(members), brokers.racks), np.int64)
    rows, columns = np.nonzero(stuck)
    np.add.at(old, (rows, brokers.rack[held[rows, columns]]), 1)
    most = np.minimum(new + old, cap[:, None]).sum(axis=1)
    few = floor > np.count_nonzero(new + old, axis=1)
    if (short := few | (problem.rf[members] > most)).any():
        factor = int(problem.rf[members][short].max())
        by_racks = bool((few | (cap == 1))[short].all()) and brokers.racks > 1
        places, count = (
            ("rack", np.count_nonzero(new)) if by_racks else ("broker", np.count_nonzero(receives))
        )
        least_racks = int(floor[short].max())
        on = f" on at least {least_racks} racks," if few.any() and least_racks < factor else ""
        other_racks = "set spec.racks: relaxed (or ignore), add or allow a broker of another rack"
        way_out = other_racks if by_racks else "add or allow another broker"
        raise NoPlanError(
            f"RF {factor}{on} over {count} {places}{'s' if count != 1 else ''}",
            f"{way_out} (spec.brokers, spec.broker_sets), or lower spec.replication_factor",
            partitions=members[short],
        )
