"""Gives the reason of each entry of a plan: the first of the planner's objectives that it serves."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.placement_problem import NONE, any_per_row, contains, list_lengths, over_rack_cap

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, PlacementProblem, Solution


class Reason(StrEnum):
    """Reasons in the order of the objectives; a value completes the sentence "it is in the plan because ..."."""

    FREE = "the request frees bytes on its broker"
    PIN = "the request pins its replicas"
    EMPTIED = "a broker that holds it must be emptied"
    BROKER_SET = "a broker that holds it is outside its broker set"
    RACK = "a rack holds too many of its replicas"
    REPLICATION_FACTOR = "its replication factor changes"
    NEVER_LEAD = "none of its replicas may lead"
    COUNT = "its old broker holds too many replicas, or its new one too few"
    BYTES = "its brokers' bytes differ from their goal by more than the tolerance"
    LEADER = "its broker leads too many partitions, or may not lead"
    NEXT_LEADER = "after the loss of its leader one broker would lead too many"


def entry_reasons(problem: PlacementProblem, solution: Solution, freed_broker: int) -> list[Reason]:
    """Return one reason for each partition, [P]; ignore those of partitions that do not change.

    `freed_broker` is the broker on which the request frees bytes, or NONE.
    """
    if freed_broker != NONE:
        return [Reason.FREE] * len(problem)
    current, target, brokers = problem.current, solution.target, problem.brokers
    filled = current != NONE
    allowed = problem.allowed[problem.group[:, None], current]
    able = any_per_row(filled & brokers.may_lead[current])
    tests = {
        Reason.EMPTIED: any_per_row(filled & ~brokers.may_hold[current]),
        Reason.BROKER_SET: any_per_row(filled & ~allowed),
        Reason.RACK: over_rack_cap(problem, current),
        Reason.REPLICATION_FACTOR: list_lengths(current) != problem.rf,
        Reason.NEVER_LEAD: ~able,
    }
    stays = reorders_only(problem, target)
    found = np.full(len(problem), Reason.BYTES, object)
    found[_evens_counts(problem, solution)] = Reason.COUNT
    found[stays] = Reason.NEXT_LEADER
    found[stays & (current[:, 0] != target[:, 0])] = Reason.LEADER
    for reason, holds in reversed(tests.items()):
        found[holds & ~stays] = reason
    found[~problem.movable] = Reason.PIN
    return list(found)


def _evens_counts(problem: PlacementProblem, solution: Solution) -> Bools:
    """Whether each partition leaves a broker above its quota or reaches one below, [P]."""
    brokers, current, target = len(problem.brokers), problem.current, solution.target
    count = np.bincount(current[current != NONE], minlength=brokers)
    above, below = np.append(count > solution.quota, [False]), np.append(count < solution.quota, [False])
    evens = np.zeros(len(problem), np.bool_)
    for lists, others, off in ((current, target, above), (target, current, below)):
        for column in range(lists.shape[1]):
            evens |= off[lists[:, column]] & ~contains(others, lists[:, column])
    return evens
