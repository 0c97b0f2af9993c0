"""Load by hour: what each partition asks of the brokers that hold it, and the fair share of each broker.

Dimensions as in placement_problem, and H hours: 168 for a week, Monday 00:00 UTC first, or 48 for a weekday and a day
of the weekend. A resource is what brokers run out of: network in, network out, CPU. The bytes that arrive depend on
replicas alone, the bytes that leave on leaders alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Floats, Ints

QUIET = 0.6
"""Hours with less than this part of the busiest hour's load count as if they had it: an idle hour hurts nobody."""


class ResourceName(StrEnum):
    """The name of a resource in requests, figures and pages."""

    IN = "in"
    OUT = "out"
    CPU = "cpu"


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One resource, in its own unit: bytes per second, or weighted units of CPU.

    `on_replica` [P, H] is asked of every broker that holds a replica, `on_leader` [P, H] of the leader besides; None is
    nothing. `capacity` [B] is each broker's part of what all brokers that may hold replicas have together: it sums to
    1. `goal` is the most that a broker should carry in any hour, in fair shares.
    """

    name: ResourceName
    on_replica: Floats | None
    on_leader: Floats | None
    capacity: Floats
    goal: float


@dataclass(frozen=True, slots=True)
class LoadBudget:
    """What evenness of load may cost beyond the plan without it: replicas moved, and leaders changed."""

    moves: int
    leader_changes: int


@dataclass(frozen=True, slots=True, eq=False)
class HourlyLoad:
    """The resources to even out, and the rules of the budget.

    `moves` and `leader_changes` are a fraction of those of the plan without load (a float), or a number (an int).
    """

    resources: tuple[Resource, ...]
    moves: float | int
    leader_changes: float | int


def load_on(resource: Resource, lists: Ints, brokers: int) -> Floats:
    """Return the load of each broker in each hour, [B, H]; the first broker of each list [P, W] leads."""
    known = resource.on_replica if resource.on_replica is not None else resource.on_leader
    load = np.zeros((brokers, 0 if known is None else known.shape[1]))
    if resource.on_replica is not None:
        for column in lists.T:
            held = np.flatnonzero(column != NONE)
            np.add.at(load, column[held], resource.on_replica[held])
    if resource.on_leader is not None:
        np.add.at(load, lists[:, 0], resource.on_leader)
    return load


def fair_shares(resource: Resource, rf: Ints, quiet: float = QUIET) -> Floats:
    """Return the fair share of each broker in each hour, [B, H], with `rf` [P] replicas of each partition.

    A broker's capacity times the load of all, quiet hours raised; or the load of the largest partition where that is
    more, because no plan can split it.
    """
    nothing = np.zeros((len(rf), 1))
    on_replica = nothing if resource.on_replica is None else resource.on_replica
    on_leader = nothing if resource.on_leader is None else resource.on_leader
    total = np.asarray(rf @ on_replica + on_leader.sum(axis=0), np.float64)
    raised = np.maximum(total, quiet * total.max(initial=0.0))
    largest = (on_replica + on_leader).max(axis=0, initial=0.0)
    return np.asarray(np.maximum(resource.capacity[:, None] * raised, largest))
