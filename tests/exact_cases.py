"""Seeded small clusters that are hard on a planner: unequal racks, mixed factors, as many racks as replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from exact_solver import exact_optimum, unevenness
from small_clusters import request

from kadmin.errors import InfeasibleError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Racks
from kadmin.planner.kernel.bounds import added
from kadmin.planner.kernel.problem import ObstacleError
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.verify import broken_rules
from kadmin.planner.tables import cluster_of, rows_as_arrow
from kadmin.planner.terms import terms_of

if TYPE_CHECKING:
    from exact_solver import Optimum

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.kernel.problem import Problem, Solution


def exact_case(seed: int) -> tuple[ClusterInventory, RebalanceRequest]:
    """Return a cluster without sizes and a request for it, made to be feasible most of the time."""
    draw = np.random.default_rng(seed)
    racks = int(draw.integers(1, 5))
    lengths = draw.integers(1, 5, racks) if draw.random() < 0.8 else np.full(racks, int(draw.integers(1, 4)))
    rack = np.repeat(np.arange(racks), lengths)
    brokers = tuple(BrokerRow(at + 1, f"r{where}" if racks > 1 else None) for at, where in enumerate(rack))
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


def judge(cluster: ClusterInventory, wished: RebalanceRequest) -> str:
    """Return `optimal`, `infeasible` where both say so, or what is wrong with the planner's answer."""
    try:
        problem = terms_of(cluster_of(*rows_as_arrow(cluster)), wished).problem
    except InfeasibleError:
        return "infeasible"
    optimum = exact_optimum(problem)
    try:
        solution = solve(problem)
    except ObstacleError as obstacle:
        return "infeasible" if optimum is None else f"no plan found: {obstacle.reason}"
    broken = broken_rules(problem, solution.target)
    if optimum is None or broken:
        return f"planned what cannot be: {broken}"
    return _compare(problem, solution, optimum)


def _compare(problem: Problem, solution: Solution, optimum: Optimum) -> str:
    found = (unevenness(problem, solution.target), int(added(problem, solution.target).sum()))
    best = (optimum.unevenness, optimum.moves)
    if solution.bound > optimum.moves:
        return f"a bound of {solution.bound} where {optimum.moves} moves do"
    if found != best:
        claimed = "proved " if solution.proved and found[1] == solution.bound else ""
        return f"{claimed}squares and moves {found}, the best are {best}"
    return "optimal"


def _request(draw: np.random.Generator, brokers: int, racks: int) -> RebalanceRequest:
    wishes: dict[str, Any] = {"racks": Racks.RELAXED if racks == 1 or draw.random() < 0.3 else Racks.STRICT}
    chosen = [int(each) + 1 for each in draw.permutation(brokers)]
    if brokers > 2 and draw.random() < 0.5:
        wishes["drain"] = (chosen[0],)
    if draw.random() < 0.15:
        wishes["no_receive"] = (chosen[-1],)
    if draw.random() < 0.15:
        wishes["never_lead"] = (chosen[len(chosen) // 2],)
    if draw.random() < 0.3:
        wishes["replication_factor"] = {"t0": int(draw.integers(1, max(2, min(racks, brokers - 1) + 1)))}
    if draw.random() < 0.1:
        wishes["exclude_topics"] = ("t1",)
    return request(**wishes)
