"""Builds seeded small clusters that are hard to plan: unequal racks, mixed factors, as many racks
as replicas.

Each family adds one kind of constraint to such a cluster, `mixed` some of all kinds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from support.planner.exact_solver import exact_leaders, exact_optimum, unevenness
from support.planner.small_clusters import request

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InfeasibleError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Pin, RackFloor, Racks
from kadmin.planner.assessment import proved_optimal
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.placement_problem import NoPlanError
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.verifier import broken_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from support.planner.exact_solver import Optimum

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem, Solution

Case: TypeAlias = "tuple[ClusterInventory, RebalanceRequest]"


def exact_case(seed: int, family: str = "plain") -> Case:
    """Return a cluster and a request for it, feasible most of the time."""
    draw = np.random.default_rng(seed)
    case = _plain(draw)
    for change in FAMILIES[family]:
        if family != "mixed" or draw.random() < _PART_OF_MIXED:
            case = change(draw, *case)
    return case


def _plain(draw: np.random.Generator) -> Case:
    racks = int(draw.integers(1, 5))
    list_lengths = (
        draw.integers(1, 5, racks)
        if draw.random() < 0.8
        else np.full(racks, int(draw.integers(1, 4)))
    )
    rack = np.repeat(np.arange(racks), list_lengths)
    brokers = tuple(
        BrokerRow(at + 1, f"r{where}" if racks > 1 else None) for at, where in enumerate(rack)
    )
    new = int(draw.integers(0, 1 + len(rack) // 3)) if draw.random() < 0.5 else 0
    holders = draw.permutation(len(rack))[: len(rack) - new]
    skew = draw.uniform(0.2, 3.0, len(holders))
    rows = []
    most = min(racks if racks > 1 and draw.random() < 0.8 else len(holders), len(holders), 4)
    for number in range(int(draw.integers(2, 16))):
        factor = most if draw.random() < 0.5 else int(draw.integers(1, most + 1))
        found = draw.choice(holders, factor, replace=False, p=skew / skew.sum()) + 1
        rows.append(PartitionRow(f"t{number % 3}", number, tuple(int(each) for each in found)))
    return ClusterInventory("exact", brokers, tuple(rows)), _request(draw, len(rack), racks)


def _weights(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    weights = {
        broker: float(draw.choice([0.5, 1.5, 2.0, 3.0])) for broker in _some(draw, cluster, 3)
    }
    return cluster, replace(requested, weights=weights)


def _sets(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    """Add broker sets for one or two topics, mostly large enough, perhaps overlapping."""
    sets = {}
    for topic in ("t0", "t1")[: int(draw.integers(1, 3))]:
        count = int(draw.integers(min(3, len(cluster.brokers)), len(cluster.brokers) + 1))
        sets[topic] = tuple(
            int(each) + 1 for each in draw.permutation(len(cluster.brokers))[:count]
        )
    return cluster, replace(requested, broker_sets=sets)


def _pins(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    """Pin up to three partitions to brokers on different racks."""
    pins = []
    for at in draw.permutation(len(cluster.partitions))[: int(draw.integers(1, 4))]:
        row, first = cluster.partitions[at], dict[str | int, int]()
        for broker in (cluster.brokers[which] for which in draw.permutation(len(cluster.brokers))):
            if broker.broker_id not in requested.drain:
                first.setdefault(broker.rack or broker.broker_id, broker.broker_id)
        ids = [broker for broker in first.values() if broker not in requested.never_lead]
        if ids:
            pins.append(
                Pin(TopicPartition(row.topic, row.partition), tuple(ids[: len(row.replicas)]))
            )
    return cluster, replace(requested, pins=tuple(pins))


def _roles(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    return cluster, replace(
        requested, no_receive=_some(draw, cluster, 2), never_lead=_some(draw, cluster, 2)
    )


def _floors(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    """Set a floor of racks, or relax them, and larger replication factors for one topic."""
    racks = len({row.rack for row in cluster.brokers})
    floor = RackFloor(int(draw.integers(2, racks + 1))) if racks > 1 else Racks.RELAXED
    factor = int(draw.integers(2, max(3, len(cluster.brokers))))
    return cluster, replace(
        requested,
        racks=Racks.RELAXED if draw.random() < _PART_OF_MIXED else floor,
        replication_factor={"t0": factor},
    )


def _few_leaders(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    return cluster, replace(requested, never_lead=_some(draw, cluster, 4))


def _capacities(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    """Set one size for all partitions, and small capacities on some brokers."""
    return _sized(draw, cluster, requested, np.full(len(cluster.partitions), 10))


def _bins(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest
) -> Case:
    """Set different sizes, and small capacities on some brokers, which makes it a bin-packing
    problem.
    """
    return _sized(draw, cluster, requested, draw.choice([1, 2, 5, 10], len(cluster.partitions)))


def _sized(
    draw: np.random.Generator, cluster: ClusterInventory, requested: RebalanceRequest, sizes: Ints
) -> Case:
    """Set sizes and capacities with a tolerance so large that bytes cause no moves."""
    rows = tuple(
        replace(row, size_bytes=int(size))
        for row, size in zip(cluster.partitions, sizes, strict=True)
    )
    mean = sum((row.size_bytes or 0) * len(row.replicas) for row in rows) / len(cluster.brokers)
    tight = {broker: int(mean * draw.uniform(0.8, 1.6)) + 1 for broker in _some(draw, cluster, 3)}
    brokers = tuple(
        replace(row, capacity_bytes=tight.get(row.broker_id)) for row in cluster.brokers
    )
    return replace(cluster, brokers=brokers, partitions=rows), replace(
        requested, bytes_tolerance=_ANY_BYTES
    )


def _some(draw: np.random.Generator, cluster: ClusterInventory, most: int) -> tuple[int, ...]:
    """Return one to `most` broker ids."""
    chosen = draw.permutation(len(cluster.brokers))[: int(draw.integers(1, most + 1))]
    return tuple(int(each) + 1 for each in chosen)


_PART_OF_MIXED = 0.4
_ANY_BYTES = 1000.0
FAMILIES: Mapping[
    str, tuple[Callable[[np.random.Generator, ClusterInventory, RebalanceRequest], Case], ...]
] = {
    "plain": (),
    "weights": (_weights,),
    "sets": (_sets,),
    "pins": (_pins,),
    "floors": (_floors,),
    "floors and weights": (_floors, _weights),
    "roles": (_roles,),
    "capacities": (_capacities,),
    "mixed": (_weights, _sets, _roles, _pins, _capacities),
    "few leaders": (_few_leaders,),
    "bins": (_bins,),
}

HARD = ("roles", "capacities", "mixed", "few leaders", "bins")
"""Families that need swaps of two replicas at once, or bin packing, and are not always solved
optimally."""


def judge(cluster: ClusterInventory, requested: RebalanceRequest) -> str:
    """Return `optimal`, `infeasible` (according to both), or what is wrong with the planner's
    plan.
    """
    try:
        problem = compile_request(cluster_arrays(*rows_as_arrow(cluster)), requested).problem
    except InfeasibleError:
        return "infeasible"
    optimum = exact_optimum(problem)
    try:
        solution = solve(problem)
    except NoPlanError as error:
        return "infeasible" if optimum is None else f"no plan found: {error.reason}"
    broken = broken_rules(problem, solution.target)
    if optimum is None or broken:
        return f"planned what cannot be: {broken}"
    return _compare(problem, solution, optimum)


def _compare(problem: PlacementProblem, solution: Solution, optimum: Optimum) -> str:
    found = (
        unevenness(problem, solution.target),
        int(moves_per_partition(problem, solution.target).sum()),
    )
    best = (optimum.unevenness, optimum.moves)
    if found < best:
        return f"the exact solver missed unevenness and moves {found} and returned {best}"
    if solution.bound > optimum.moves:
        return f"a bound of {solution.bound} where {optimum.moves} moves do"
    if found == best:
        return "optimal"
    if proved_optimal(problem, solution, solution.target):
        return f"proved unevenness and moves {found}, the best are {best}"
    if not broken_rules(problem, problem.current) and found[0] > unevenness(
        problem, problem.current
    ):
        return "less even than before"
    return "less even" if found[0] > best[0] else "more moves"


def judge_leaders(cluster: ClusterInventory, requested: RebalanceRequest) -> str:
    """Return `optimal`, `incomparable` (no plan, or not the best in counts and moves), or how
    uneven leaders are and could be.
    """
    try:
        problem = compile_request(cluster_arrays(*rows_as_arrow(cluster)), requested).problem
        solution = solve(problem)
    except (InfeasibleError, NoPlanError):
        return "incomparable"
    optimum = exact_optimum(problem)
    if optimum is None or _compare(problem, solution, optimum) != "optimal":
        return "incomparable"
    best = exact_leaders(problem, optimum)
    able = problem.brokers.may_lead & problem.brokers.may_hold
    led = np.bincount(solution.target[:, 0], minlength=len(able))[able]
    found = sorted(led.tolist())
    same = best is not None and sum(n * n for n in best) == sum(n * n for n in found)
    return "optimal" if same else f"leaders {found}, the most even are {best}"


def _request(draw: np.random.Generator, brokers: int, racks: int) -> RebalanceRequest:
    targets: dict[str, Any] = {
        "racks": Racks.RELAXED if racks == 1 or draw.random() < 0.3 else Racks.STRICT
    }
    chosen = [int(each) + 1 for each in draw.permutation(brokers)]
    if brokers > 2 and draw.random() < 0.5:
        targets["drain"] = (chosen[0],)
    if draw.random() < 0.15:
        targets["no_receive"] = (chosen[-1],)
    if draw.random() < 0.15:
        targets["never_lead"] = (chosen[len(chosen) // 2],)
    if draw.random() < 0.3:
        targets["replication_factor"] = {
            "t0": int(draw.integers(1, max(2, min(racks, brokers - 1) + 1)))
        }
    if draw.random() < 0.1:
        targets["exclude_topics"] = ("t1",)
    return request(**targets)
