"""Computes lower bounds that hold for every plan: moves, leader changes, bytes.

A move is a new pair of partition and broker. Each broker needs at least its quota less the replicas
it could keep; each partition needs at least its replication factor less the replicas it could keep.
With several broker sets the quotas depend on each other's rounding, and only the second bound is
proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import (
    NONE,
    any_per_row,
    bytes_on,
    contains,
    fast_nonzero,
    replicas_and_bytes_on,
)
from kadmin.planner.kernel.quotas import quotas
from kadmin.planner.kernel.topic_group import byte_demand, group_demand, rack_rule

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem


@dataclass(frozen=True, slots=True)
class LeastMoves:
    """Bounds on moves.

    They are of every plan that keeps the rules, and of those that also bring every broker to its
    quota.
    """

    by_rules: int
    by_quotas: int


def least_moves(problem: PlacementProblem) -> LeastMoves:
    """Return the lower bounds on the moves of a plan."""
    fixed = int(moves_per_partition(problem, problem.start)[~problem.movable].sum())
    if problem.leaders_only:
        return LeastMoves(fixed, fixed)
    chosen = np.flatnonzero(problem.movable)
    keepable = _keepable(problem)[chosen]
    lacking = problem.rf[chosen] - _keepable_together(problem, chosen, keepable)
    refill = int(np.maximum(lacking, _leaderless(problem, chosen, keepable)).sum())
    groups = np.unique(problem.group[chosen])
    by_count = _by_count(problem, chosen, keepable) if len(groups) == 1 else 0
    return LeastMoves(fixed + refill, fixed + max(refill, by_count))


def least_leader_changes(problem: PlacementProblem, most_leaders: int) -> int:
    """Return a lower bound on leader changes of plans where no broker leads over `most_leaders`."""
    first, brokers = problem.current[:, 0], problem.brokers
    given = int((problem.start[:, 0] != first)[~problem.movable].sum())
    stays = (
        problem.allowed[problem.group, first] & brokers.may_hold[first] & brokers.may_lead[first]
    )
    lost = int((problem.movable & ~stays).sum())
    led = np.bincount(first[problem.movable & stays], minlength=len(brokers))
    led += np.bincount(problem.start[~problem.movable, 0], minlength=len(brokers))
    return given + lost + int(np.maximum(led - most_leaders, 0).sum())


def least_bytes(problem: PlacementProblem) -> int:
    """Return a lower bound on the bytes to copy: replicas that cannot stay, and new ones."""
    chosen = np.flatnonzero(problem.movable)
    fixed = (
        moves_per_partition(problem, problem.start)[~problem.movable]
        * problem.size[~problem.movable]
    )
    keepable = _keepable(problem)[chosen]
    lacking = np.maximum(problem.rf[chosen] - _keepable_together(problem, chosen, keepable), 0)
    return int(fixed.sum() + (lacking * problem.size[chosen]).sum())


def even_load(problem: PlacementProblem) -> Floats | None:
    """Return the most even bytes per broker that racks, weights and capacities allow, [B].

    They are computed as if sizes were divisible. None with several broker sets, whose most even
    bytes depend on each other.
    """
    chosen = np.flatnonzero(problem.movable)
    if len(np.unique(problem.group[chosen])) > 1 or problem.leaders_only:
        return None
    settled = np.flatnonzero(~problem.movable)
    base = bytes_on(problem, problem.start[settled], settled)
    if not len(chosen):
        return np.asarray(base, np.float64)
    kept = bytes_on(problem, problem.current[chosen], chosen)
    return np.asarray(quotas(byte_demand(problem, chosen, kept, base)) + base, np.float64)


def moves_per_partition(problem: PlacementProblem, lists: Ints) -> Ints:
    """Return the moves of each partition: the brokers of its list ([P, W]) without it now, [P]."""
    return np.asarray(
        sum(
            (lists[:, column] != NONE) & ~contains(problem.current, lists[:, column])
            for column in range(lists.shape[1])
        ),
        np.int64,
    )


def _keepable(problem: PlacementProblem) -> Bools:
    """Whether each current replica could stay, [P, W]."""
    allowed = (
        problem.allowed[problem.group[:, None], problem.current]
        & problem.brokers.may_hold[problem.current]
    )
    return np.asarray(allowed & (problem.current != NONE))


def _keepable_together(problem: PlacementProblem, chosen: Ints, keepable: Bools) -> Ints:
    """Return how many replicas of each chosen partition the rack rule lets stay together, [N]."""
    racks, rule = problem.brokers.racks, rack_rule(problem, chosen)
    rows, _ = fast_nonzero(keepable)
    held = problem.current.take(chosen, axis=0)[keepable]
    cells = np.bincount(rows * racks + problem.brokers.rack[held], minlength=len(chosen) * racks)
    per_rack = cells.reshape(len(chosen), racks)
    by_cap = reduce(
        np.add,
        (np.minimum(on_rack, rule.cap) for on_rack in per_rack.T),
        np.zeros(len(chosen), np.int64),
    )
    # Those of the others that are needed to reach the floor are on racks of their own.
    by_floor = rule.rf - rule.floor + np.count_nonzero(per_rack, axis=1)
    return np.asarray(np.minimum(by_cap, by_floor))


def _leaderless(problem: PlacementProblem, chosen: Ints, keepable: Bools) -> Bools:
    """Whether each chosen partition needs a new replica as none that could stay may lead, [N]."""
    return np.asarray(
        ~any_per_row(keepable & problem.brokers.may_lead[problem.current.take(chosen, axis=0)])
    )


def _by_count(problem: PlacementProblem, chosen: Ints, keepable: Bools) -> int:
    kept = np.bincount(
        problem.current.take(chosen, axis=0)[keepable], minlength=len(problem.brokers)
    )
    base, base_load = replicas_and_bytes_on(
        problem, problem.start, np.flatnonzero(~problem.movable)
    )
    demand = group_demand(problem, chosen, kept, base, base_load)
    return int(np.maximum(quotas(demand) - kept, 0).sum())
