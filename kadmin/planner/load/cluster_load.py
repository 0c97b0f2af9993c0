"""A cluster's load: its history joined to the inventory, as resources, and a plan's figures."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.errors import InvalidInputError
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.next_step import command
from kadmin.planner.figures import HeldOutResource, HoldoutFigures, LoadFigures
from kadmin.planner.kernel.hourly_load import ResourceName
from kadmin.planner.kernel.placement_problem import NONE, list_lengths
from kadmin.planner.load.columns import BYTES_OUT, HOURS, REQUESTS
from kadmin.planner.load.evenness import figures_of, hours_of, measure, rounded
from kadmin.planner.load.hours import LoadHours
from kadmin.planner.load.resources import Carriers, hourly_load, is_used, resources_of
from kadmin.planner.load.zones import ZoneTraffic
from kadmin.schema.shapes import ABSENT, Absent
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.plan.model import LoadSpec, RebalanceRequest
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.kernel.hourly_load import HourlyLoad, Resource
    from kadmin.planner.kernel.placement_problem import (
        Bools,
        Floats,
        Ints,
        PlacementProblem,
        Solution,
    )
    from kadmin.planner.load.evenness import Measured
    from kadmin.planner.load.join import HourlyRates, LoadHistory

_DIGITS = 6
_COLUMNS = {
    ResourceName.IN: "net_in_bytes_per_s",
    ResourceName.OUT: "net_out_bytes_per_s",
    ResourceName.CPU: "cpu",
}
"""The columns of an inventory's brokers with their capacity for each resource."""
_FIELDS = {ResourceName.IN: "in_", ResourceName.OUT: "out", ResourceName.CPU: "cpu"}
"""The fields of LoadFigures and HoldoutFigures."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterLoad:
    """The load of one cluster: its history, the kernel's input, and notes on the history's gaps."""

    history: LoadHistory
    spec: LoadSpec
    kernel: HourlyLoad | None
    resources: tuple[Resource, ...]
    zones: ZoneTraffic | None
    notes: tuple[str, ...]


def cluster_load(
    name: str,
    cluster: ClusterArrays,
    problem: PlacementProblem,
    request: RebalanceRequest,
    history: LoadHistory | None,
) -> ClusterLoad | None:
    """Return the load of a cluster by its history.

    None where the request asks for none, or a fleet's history has none. Raises InvalidInputError
    where the only cluster of an inventory has no history, or the history lacks what is asked.
    """
    spec = request.load
    if spec is None or history is None:
        if spec is None or name != SINGLE_CLUSTER or not len(problem):
            return None
        raise InvalidInputError(
            "The load history has no bytes in for any partition of the inventory.",
            cause=f"spec.load.from is {spec.folder}",
            next_step=command("snapshot", "--out", "DIR"),
        )
    if spec.cpu is not None and spec.cpu.requests and history.rates.requests is None:
        raise InvalidInputError(
            "spec.load.cpu counts requests, and the load history has none.",
            cause=f"its column {REQUESTS} is absent or null",
            next_step="leave spec.load.cpu.requests out",
        )
    carriers = _carriers_after(cluster, problem)
    resources = resources_of(history.rates, problem.rf, carriers, spec)
    zones = None if spec.zones is None else ZoneTraffic.of(cluster.racks, history.rates, spec.zones)
    zone_notes = () if zones is None else tuple(_zone_notes(zones, cluster))
    notes = (
        *_history_notes(history, len(problem)),
        *_resource_notes(resources, carriers, cluster),
        *zone_notes,
    )
    resources = tuple(filter(is_used, resources))
    zones = None if zones is None or (zones.zone == NONE).any() else zones
    costs = None if zones is None else zones.leader_costs()
    kernel = hourly_load(resources, spec, request.limits, costs)
    return ClusterLoad(history, spec, kernel, resources, zones, notes)


def noise_of(
    weeks: Iterable[HourlyRates], cluster: ClusterArrays, spec: LoadSpec
) -> dict[str, float]:
    """Return the mean change of each resource's worst hour from week to week, as a part of it.

    It is that of the current lists, without a plan, by the resource's name; empty for one week.
    """
    lists, every = cluster.replicas, np.ones(len(cluster.broker_ids), np.bool_)
    rf, used = list_lengths(lists), cluster.alive | _held(lists, len(every))
    carriers = _carriers(cluster, every.astype(np.float64), used, used)
    worst: dict[ResourceName, list[float]] = {}
    for rates in weeks:
        for each in filter(is_used, resources_of(rates, rf, carriers, spec)):
            worst.setdefault(each.name, []).append(rounded(measure(each, rf, lists).ratio()))
    changes = {
        name: [abs(then / now - 1) for now, then in itertools.pairwise(found) if now > 0]
        for name, found in worst.items()
    }
    return {
        str(name): round(float(np.mean(each)), _DIGITS) for name, each in changes.items() if each
    }


def load_figures(
    load: ClusterLoad,
    cluster: ClusterArrays,
    problem: PlacementProblem,
    solution: Solution,
    final: Ints,
) -> tuple[LoadFigures, LoadHours]:
    """Return the load in a cluster's figures, and the hours to draw, of a plan's lists [P, W]."""
    history = load.history
    before = _before(load, history.rates, cluster, problem)
    after = {each.name: measure(each, problem.rf, final) for each in load.resources}
    figures = LoadFigures(
        hours=HOURS,
        start=history.start,
        extra_moves=solution.extra_moves,
        extra_leader_changes=solution.extra_leader_changes,
        coverage=round(history.coverage, _DIGITS),
        holdout=_holdout(load, cluster, problem, final),
        zones=ABSENT if load.zones is None else load.zones.figures(problem.current, final),
        **{
            _FIELDS[name]: figures_of(before[name], found, cluster) for name, found in after.items()
        },
    )
    shown = problem.brokers.may_hold | _held(problem.current, len(problem.brokers))
    hours = {str(name): hours_of(before[name], found, shown) for name, found in after.items()}
    return figures, LoadHours(history.start, tuple(problem.brokers.ids[shown].tolist()), hours)


def _holdout(
    load: ClusterLoad, cluster: ClusterArrays, problem: PlacementProblem, final: Ints
) -> HoldoutFigures | Absent:
    """Return the figures of the week held out, of the resources that the plan has."""
    history = load.history
    if history.held_out is None or history.held_out_start is None:
        return ABSENT
    week = resources_of(history.held_out, problem.rf, _carriers_after(cluster, problem), load.spec)
    planned = {each.name for each in load.resources}
    then = {each.name: measure(each, problem.rf, final) for each in week if each.name in planned}
    now = _before(load, history.held_out, cluster, problem)
    figures = {
        _FIELDS[name]: HeldOutResource(rounded(now[name].ratio()), rounded(found.ratio()))
        for name, found in then.items()
    }
    return HoldoutFigures(start=history.held_out_start, **figures)


def _before(
    load: ClusterLoad, rates: HourlyRates, cluster: ClusterArrays, problem: PlacementProblem
) -> dict[ResourceName, Measured]:
    """Measure the current lists, with the brokers and replication factors of now."""
    current, brokers = problem.current, problem.brokers
    holding = brokers.may_hold | _held(current, len(brokers))
    leading = (brokers.may_hold & brokers.may_lead) | _held(current[:, 0], len(brokers))
    rf = list_lengths(current)
    found = resources_of(rates, rf, _carriers(cluster, brokers.weight, holding, leading), load.spec)
    return {each.name: measure(each, rf, current) for each in found}


def _held(lists: Ints, brokers: int) -> Bools:
    """Whether each broker is in any of these lists, [B]."""
    return np.bincount(lists[lists != NONE], minlength=brokers) > 0


def _carriers_after(cluster: ClusterArrays, problem: PlacementProblem) -> Carriers:
    brokers = problem.brokers
    return _carriers(cluster, brokers.weight, brokers.may_hold, brokers.may_hold & brokers.may_lead)


def _carriers(cluster: ClusterArrays, weight: Floats, holding: Bools, leading: Bools) -> Carriers:
    able = {name: cluster.able[column] for name, column in _COLUMNS.items()}
    return Carriers(holding, leading, able, weight)


def _history_notes(history: LoadHistory, partitions: int) -> Iterator[str]:
    if history.coverage < 1:
        coverage = (
            f"the load history covers {history.coverage:.1%} of the hours of "
            f"{count(partitions, 'partition')}"
        )
        none = f", {history.without:,} of which it lacks entirely" if history.without else ""
        yield f"{coverage}{none}; the others have the profile of their topic"
    if history.gone:
        have = "1 partition" if history.gone == 1 else f"{history.gone:,} partitions"
        yield f"the load history has {have} that the inventory does not have"
    if history.rates.bytes_out is None:
        yield f"{BYTES_OUT} is unknown for every partition: network out counts replication alone"


def _zone_notes(zones: ZoneTraffic, cluster: ClusterArrays) -> Iterator[str]:
    bare = cluster.broker_ids[zones.zone == NONE].tolist()
    if bare:
        yield f"brokers {name_some(bare)} have no rack: what crosses zones is unknown"
    absent = sorted({*zones.prices.producers, *zones.prices.consumers} - set(zones.names))
    if absent:
        yield f"spec.load.zones names {name_some(absent)}, which is the rack of no broker"


def _resource_notes(
    resources: tuple[Resource, ...], carriers: Carriers, cluster: ClusterArrays
) -> Iterator[str]:
    unknown: dict[str, list[str]] = {}
    for each in resources:
        column = _COLUMNS[each.name]
        if not is_used(each):
            yield f"no partition has any load of {each.name}"
        elif not carriers.knows(each.name):
            ids = cluster.broker_ids[carriers.holding & ~np.isfinite(cluster.able[column])].tolist()
            unknown.setdefault(name_some(ids), []).append(column)
    for ids, columns in unknown.items():
        are = "is unknown" if len(columns) == 1 else "are unknown"
        yield (
            f"{', '.join(columns)} {are} of brokers {ids}: all brokers count as equal, times "
            "their weight"
        )
