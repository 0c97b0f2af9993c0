"""Load by hour.

It has the load of each partition on the brokers that hold it, and the fair share of each broker.
Dimensions as in placement_problem, and H hours: 168 for a week, Monday 00:00 UTC first, or 48 for a
weekday and a day of the weekend. The resources are network in, network out and CPU. The bytes that
arrive depend on replicas alone, the bytes that leave on leaders alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Rates: TypeAlias = npt.NDArray[np.floating[Any]]
"""Rates of partitions by hour: 32 bits are enough, and halve the memory of the largest arrays."""

QUIET = 0.6
"""Least load of an hour, as a fraction of the busiest hour's: quieter hours count as this, for they
need no balance."""

_BLOCK = 4096
"""Partitions of which two matrices are added at a time."""


class ResourceName(StrEnum):
    """The name of a resource in requests, figures and pages."""

    IN = "in"
    OUT = "out"
    CPU = "cpu"


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One resource, in its own unit: bytes per second, or weighted units of CPU.

    `on_replica` [P, H] is the load on every broker that holds a replica, `on_leader` [P, H] further
    load on the leader; None is no load. `capacity` [B] is each broker's part of the capacity of all
    brokers that may hold replicas: it sums to 1. `goal` is the most that a broker should carry in
    any hour, in fair shares.
    """

    name: ResourceName
    on_replica: Rates | None
    on_leader: Rates | None
    capacity: Floats
    goal: float


@dataclass(frozen=True, slots=True, eq=False)
class LeaderCosts:
    """Costs of partitions by the zone of their leader.

    The unit is a thousandth of a byte per second that crosses zones. `zone` [B], from 0 on;
    `client` [P, Z]: the cost of clients with a leader in each zone; `copy` [P]: the cost of each
    follower in another zone than the leader.
    """

    zone: Ints
    client: Ints
    copy: Ints


@dataclass(frozen=True, slots=True, eq=False)
class HourlyLoad:
    """The resources to even out, and the rules of the budget.

    `moves` and `leader_changes` are a fraction of those of the plan without load (a float), or a
    number (an int). `leader_costs` are to be low, None where leaders cost the same everywhere.
    """

    resources: tuple[Resource, ...]
    moves: float | int
    leader_changes: float | int
    leader_costs: LeaderCosts | None = None

    @property
    def on_replicas(self) -> tuple[Resource, ...]:
        """The resources with a load on replicas."""
        return tuple(each for each in self.resources if each.on_replica is not None)

    @property
    def on_leaders(self) -> tuple[Resource, ...]:
        """The resources with a load on leaders."""
        return tuple(each for each in self.resources if each.on_leader is not None)


def load_on(resource: Resource, lists: Ints, brokers: int) -> Floats:
    """Return the load of each broker in each hour, [B, H].

    The first broker of each list [P, W] leads.
    """
    sample_rates = resource.on_replica if resource.on_replica is not None else resource.on_leader
    load = np.zeros((brokers, 0 if sample_rates is None else sample_rates.shape[1]))
    for rates, holders in ((resource.on_replica, lists), (resource.on_leader, lists[:, :1])):
        if rates is not None:
            load += rates_on(rates, holders, brokers)
    return load


def rates_on(rates: Rates, lists: Ints, brokers: int) -> Floats:
    """Return the sum of the rates [P, H] of each broker's partitions by lists [P, W], [B, H]."""
    held = lists.ravel()
    order = np.argsort(held, kind="stable")
    ends = np.searchsorted(held[order], np.arange(brokers + 1))
    order //= max(lists.shape[1], 1)
    load = np.zeros((brokers, rates.shape[1]))
    for broker, (first, end) in enumerate(itertools.pairwise(ends.tolist())):
        rates[order[first:end]].sum(axis=0, dtype=np.float64, out=load[broker])
    return load


def fair_shares(resource: Resource, rf: Ints) -> Floats:
    """Return the fair share of each broker by hour, [B, H], with `rf` [P] replicas of partitions.

    A broker's capacity times the load of all, quiet hours raised; or the load of the largest
    partition where that is more, because no plan can split it.
    """
    even = resource.capacity[:, None] * _raised(_total(resource, rf), QUIET)
    return np.asarray(np.maximum(even, _largest(resource)), np.float64)


def load_bound(resource: Resource, rf: Ints, quiet: float = QUIET) -> float:
    """Return the lower bound of every plan on the highest load of a broker in an hour.

    It is in shares of all load. Shares here are those of capacities alone: a partition that is
    larger than the share of the broker with the largest capacity makes more than 1.
    """
    most, total = resource.capacity.max(initial=0.0), _raised(_total(resource, rf), quiet)
    share = most * np.where(total > 0, total, 1.0)
    return float(np.maximum(1.0, _largest(resource) / share).max(initial=1.0)) if most > 0 else 1.0


def _total(resource: Resource, rf: Ints) -> Floats:
    """Return the load of all brokers together in each hour, [H]: the same in every plan."""
    parts = []
    if resource.on_replica is not None:
        parts.append(np.einsum("p,ph->h", rf.astype(np.float64), resource.on_replica))
    if resource.on_leader is not None:
        parts.append(resource.on_leader.sum(axis=0, dtype=np.float64))
    return np.asarray(sum(parts), np.float64)


def _raised(total: Floats, quiet: float) -> Floats:
    return np.asarray(np.maximum(total, quiet * total.max(initial=0.0)), np.float64)


def _largest(resource: Resource) -> Floats:
    """Return the load of the largest partition on its leader in each hour, [H]."""
    on_replica, on_leader = resource.on_replica, resource.on_leader
    if on_replica is None or on_leader is None:
        sample_rates = on_replica if on_leader is None else on_leader
        return np.asarray(
            0.0 if sample_rates is None else sample_rates.max(axis=0, initial=0.0), np.float64
        )
    blocks = range(0, len(on_replica), _BLOCK)
    both = (on_replica[at : at + _BLOCK] + on_leader[at : at + _BLOCK] for at in blocks)
    return np.asarray(
        np.max([block.max(axis=0) for block in both], axis=0, initial=0.0), np.float64
    )
