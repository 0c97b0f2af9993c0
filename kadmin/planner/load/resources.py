"""Turns the hourly rates of partitions into the resources that the kernel evens out.

They are network in, network out, CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.plan.model import LOAD_LEADER_CHANGES, LOAD_MOVES, HoursOfLoad
from kadmin.planner.kernel.hourly_load import HourlyLoad, Resource, ResourceName
from kadmin.planner.load.columns import HOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.plan.model import LoadSpec, ProposalLimits
    from kadmin.planner.kernel.hourly_load import LeaderCosts
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints
    from kadmin.planner.load.join import HourlyRates
    from kadmin.planner.load.profiles import Rates

_DAY = 24
_WEEKDAYS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Carriers:
    """The brokers that carry load: `holding` [B] may hold replicas, `leading` [B] may lead besides.

    `able` has the capacity of each for a resource [B], NaN where unknown. Where any such broker's
    is unknown, all count as equal, times their `weight` [B].
    """

    holding: Bools
    leading: Bools
    able: Mapping[ResourceName, Floats]
    weight: Floats

    def knows(self, name: ResourceName) -> bool:
        """Whether the capacity of each of the brokers for a resource is known."""
        able = self.able[name][self._carrying(name)]
        return bool(np.isfinite(able).all() and able.any())

    def capacity(self, name: ResourceName) -> Floats:
        """Return each broker's part of the capacity of all for a resource, [B].

        The sum is 1 if there is a broker.
        """
        part = np.where(
            self._carrying(name), self.able[name] if self.knows(name) else self.weight, 0.0
        )
        return part / max(float(part.sum()), np.finfo(np.float64).tiny)

    def _carrying(self, name: ResourceName) -> Bools:
        return self.leading if name is ResourceName.OUT else self.holding


def resources_of(
    rates: HourlyRates, rf: Ints, carriers: Carriers, spec: LoadSpec
) -> tuple[Resource, ...]:
    """Return the resources that the request names, by hour of the week.

    `rf` [P] replicas of each partition.
    """
    out = bytes_sent(rates, rf)
    found = [
        Resource(
            ResourceName.IN, rates.bytes_in, None, carriers.capacity(ResourceName.IN), spec.most_in
        ),
        Resource(ResourceName.OUT, None, out, carriers.capacity(ResourceName.OUT), spec.most_out),
    ]
    if spec.cpu is not None:
        cost = spec.cpu
        replica, leader = (
            np.float32(cost.bytes_in) * rates.bytes_in,
            np.float32(cost.bytes_out) * out,
        )
        if rates.requests is not None:
            leader += np.float32(cost.requests) * rates.requests
        found.append(
            Resource(
                ResourceName.CPU,
                replica,
                leader,
                carriers.capacity(ResourceName.CPU),
                spec.most_out,
            )
        )
    return tuple(found)


def bytes_sent(rates: HourlyRates, rf: Ints) -> Rates:
    """Return the bytes that each partition's leader sends, [P, HOURS].

    They are those that consumers read, and those that followers read: rf - 1 times the bytes in.
    """
    out = (rf - 1).astype(np.float32)[:, None] * rates.bytes_in
    if rates.bytes_out is not None:
        out += rates.bytes_out
    return out


def is_used(resource: Resource) -> bool:
    """Whether any partition has load of a resource."""
    return any(
        rates is not None and rates.any() for rates in (resource.on_replica, resource.on_leader)
    )


def hourly_load(
    resources: tuple[Resource, ...],
    spec: LoadSpec,
    limits: ProposalLimits,
    leader_costs: LeaderCosts | None = None,
) -> HourlyLoad | None:
    """Return the kernel's input, None where there is nothing to even out."""
    if spec.hours is HoursOfLoad.WEEKDAY_WEEKEND:
        resources = tuple(
            replace(each, on_replica=_folded(each.on_replica), on_leader=_folded(each.on_leader))
            for each in resources
        )
    moves, changes = limits.load_moves, limits.load_leader_changes
    budget = (
        LOAD_MOVES if moves is None else moves,
        LOAD_LEADER_CHANGES if changes is None else changes,
    )
    return HourlyLoad(resources, *budget, leader_costs) if resources else None


def _folded(rates: Rates | None) -> Rates | None:
    """Return the mean weekday and mean weekend day, [P, 48], of the hours of a week [P, 168]."""
    if rates is None:
        return None
    by_day = rates.reshape(len(rates), HOURS // _DAY, _DAY)
    days = (by_day[:, :_WEEKDAYS], by_day[:, _WEEKDAYS:])
    return np.concatenate([part.mean(axis=1) for part in days], axis=1)
