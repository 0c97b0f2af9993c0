"""Checks a target assignment by every rule of its problem, independently of the code that made it.

Rules: a list contains each broker once; its length is the replication factor; new replicas are on
brokers that may receive, kept ones on brokers that may hold; no rack exceeds its cap, and as many
racks hold a partition as it needs; the preferred leader may lead; no broker exceeds its capacity;
immovable partitions equal `start`; leaders-only changes nothing but the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, bytes_on, contains

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem


@dataclass(frozen=True, slots=True, eq=False)
class BrokenRule:
    """A rule that a target assignment breaks.

    `partitions` or `brokers` are the indices concerned.
    """

    rule: str
    partitions: Ints
    brokers: Ints


def broken_rules(problem: PlacementProblem, target: Ints) -> tuple[BrokenRule, ...]:
    """Return every rule that the target lists [P, W] break; empty where they break none."""
    none = np.zeros(0, np.int64)
    by_partition = [
        BrokenRule(rule, np.flatnonzero(broken), none)
        for rule, broken in _by_partition(problem, target)
    ]
    overfull = np.flatnonzero(bytes_on(problem, target) > problem.brokers.capacity)
    over = BrokenRule("a broker exceeds its capacity", none, overfull)
    rules = by_partition if problem.leaders_only else [*by_partition, over]
    return tuple(rule for rule in rules if rule.partitions.size or rule.brokers.size)


def _by_partition(problem: PlacementProblem, target: Ints) -> Iterator[tuple[str, Bools]]:
    movable, filled = problem.movable, target != NONE
    ascending = np.sort(target, axis=1)
    repeated = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NONE)
    yield "a broker occurs twice in a list", repeated.any(axis=1)
    yield "a list has a gap", (filled[:, 1:] & ~filled[:, :-1]).any(axis=1)
    yield (
        "a pinned or excluded partition is changed",
        ~movable & (target != problem.start).any(axis=1),
    )
    yield "the preferred leader may not lead", movable & ~problem.brokers.may_lead[target[:, 0]]
    if problem.leaders_only:
        changed = ascending != np.sort(problem.current, axis=1)
        yield "data moves though only leaders may change", changed.any(axis=1)
        return
    yield (
        "the replication factor is not the requested one",
        movable & (filled.sum(axis=1) != problem.rf),
    )
    yield from _placements(problem, target, filled)


def _placements(
    problem: PlacementProblem, target: Ints, filled: Bools
) -> Iterator[tuple[str, Bools]]:
    movable, brokers = problem.movable, problem.brokers
    columns = range(target.shape[1])
    new = (
        np.stack([~contains(problem.current, target[:, column]) for column in columns], axis=1)
        & filled
    )
    allowed = problem.allowed[problem.group[:, None], target]
    substitute = np.stack(
        [contains(problem.start, target[:, column]) for column in columns], axis=1
    )
    refused = new & ~brokers.may_receive[target] & ~substitute
    yield (
        "a new replica is on a broker that may not receive",
        movable & (refused | (new & ~allowed)).any(axis=1),
    )
    misplaced = filled & ~(brokers.may_hold[target] & allowed)
    yield "a replica stays on a broker that may not hold it", movable & misplaced.any(axis=1)
    per_rack = np.stack(
        [(filled & (brokers.rack[target] == rack)).sum(axis=1) for rack in range(brokers.racks)],
        axis=1,
    )
    yield (
        "a rack holds too many replicas",
        movable & (per_rack > problem.rack_cap[:, None]).any(axis=1),
    )
    yield (
        "too few racks hold a partition",
        movable & ((per_rack > 0).sum(axis=1) < problem.rack_floor),
    )
