"""Finds the least that the highest level of load can be (HiGHS, by scipy), with counts per broker
as a plan has them.

Binary variables: whether a broker holds a partition, or leads it; the last variable is the highest
level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from kadmin.planner.kernel.hourly_load import fair_shares
from kadmin.planner.kernel.placement_problem import NONE, contains

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import Resource
    from kadmin.planner.kernel.placement_problem import Floats, Ints, PlacementProblem

_GAP = 1e-3


def least_highest_level(problem: PlacementProblem, lists: Ints, resource: Resource) -> float:
    """Return the least highest level of replicas, or of leaders within the lists [P, W] of a
    plan.
    """
    by_leader = resource.on_leader is not None
    held = lists[:, :1] if by_leader else lists
    brokers, partitions = len(problem.brokers), len(problem)
    able = np.array(
        [
            contains(lists, np.full(partitions, broker)) if by_leader else np.ones(partitions, bool)
            for broker in range(brokers)
        ]
    ).T
    found = milp(
        np.append(np.zeros(partitions * brokers), 1.0),
        constraints=[_counts(held, brokers), _levels(problem, resource)],
        bounds=Bounds(0, np.append(able.ravel().astype(float), np.inf)),
        integrality=np.append(np.ones(partitions * brokers), 0),
        options={"mip_rel_gap": _GAP},
    )
    assert found.success, found.message
    return float(found.fun)


def _counts(held: Ints, brokers: int) -> LinearConstraint:
    """Each partition keeps its number of replicas, and each broker that of partitions."""
    partitions = len(held)
    of_partitions = np.kron(np.eye(partitions), np.ones(brokers))
    of_brokers = np.kron(np.ones(partitions), np.eye(brokers))
    rows = np.hstack([np.vstack([of_partitions, of_brokers]), np.zeros((partitions + brokers, 1))])
    wanted = np.concatenate(
        [(held != NONE).sum(axis=1), np.bincount(held[held != NONE], minlength=brokers)]
    )
    return LinearConstraint(rows, wanted, wanted)


def _levels(problem: PlacementProblem, resource: Resource) -> LinearConstraint:
    """No level is above the last variable."""
    rates: Floats = np.asarray(
        resource.on_replica if resource.on_leader is None else resource.on_leader, np.float64
    )
    shares, brokers = fair_shares(resource, problem.rf), len(problem.brokers)
    rows = [
        np.append(np.kron(rates[:, hour] / shares[broker, hour], np.eye(brokers)[broker]), -1.0)
        for broker in range(brokers)
        for hour in range(rates.shape[1])
    ]
    return LinearConstraint(np.array(rows), -np.inf, 0)
