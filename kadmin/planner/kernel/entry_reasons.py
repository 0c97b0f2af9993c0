"""Gives the reason of each entry of a plan: the first of the objectives that it serves."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.bounds import even_load
from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.leader_costs import leader_costs
from kadmin.planner.kernel.placement_problem import (
    NONE,
    any_per_row,
    breaks_rack_rule,
    bytes_on,
    contains,
    list_lengths,
)

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import LeaderCosts
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem, Solution


class Reason(StrEnum):
    """Reasons in the order of the objectives.

    A value completes the sentence "it is in the plan because ...".
    """

    FREE = "the request frees bytes on its broker"
    PIN = "the request pins its replicas"
    EMPTIED = "a broker that holds it must be emptied"
    BROKER_SET = "a broker that holds it is outside its broker set"
    FAILED_DISK = "a disk that holds it has failed"
    RACK = "a rack holds too many of its replicas"
    REPLICATION_FACTOR = "its replication factor changes"
    NEVER_LEAD = "none of its replicas may lead"
    COUNT = "its old broker holds too many replicas, or its new one too few"
    BYTES = "its brokers' bytes differ from their goal by more than the tolerance"
    LOAD = "its brokers' load is uneven in some hours"
    ZONES = "its new leader sends fewer bytes across zones"
    LEADER = "its broker leads too many partitions, or may not lead"
    DISK = "a disk of its broker must be emptied, or has too many bytes for its size, or too few"
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
        Reason.RACK: breaks_rack_rule(problem, current),
        Reason.REPLICATION_FACTOR: list_lengths(current) != problem.rf,
        Reason.NEVER_LEAD: ~able,
    }
    stays = reorders_only(problem, target)
    found = np.full(len(problem), Reason.BYTES, object)
    leads = stays & (current[:, 0] != target[:, 0])
    found[_evens_counts(problem, solution)] = Reason.COUNT
    found[stays] = Reason.NEXT_LEADER
    found[leads] = Reason.LEADER
    if problem.load is not None:
        found[(found == Reason.BYTES) & ~_evens_bytes(problem, target)] = Reason.LOAD
        found[leads & ~_evens_leaders(problem, target)] = Reason.LOAD
        if problem.load.leader_costs is not None:
            cheaper = _cost_less(problem, target, problem.load.leader_costs)
            found[(found == Reason.LOAD) & leads & cheaper] = Reason.ZONES
    for reason, holds in reversed(tests.items()):
        found[holds & ~stays] = reason
    found[~problem.movable] = Reason.PIN
    return list(found)


def _evens_counts(problem: PlacementProblem, solution: Solution) -> Bools:
    """Whether each partition leaves a broker above its quota or reaches one below, [P]."""
    held = problem.current[problem.current != NONE]
    count = np.bincount(held, minlength=len(problem.brokers))
    return _leaves_or_reaches(
        problem.current, solution.target, count > solution.quota, count < solution.quota
    )


def _evens_bytes(problem: PlacementProblem, target: Ints) -> Bools:
    """Whether each partition makes bytes of brokers more even, [P].

    It leaves a broker with more bytes than its goal tolerates, or reaches one with fewer.
    """
    held, weight = (
        bytes_on(problem, problem.current),
        np.where(problem.brokers.may_hold, problem.brokers.weight, 0.0),
    )
    goal = even_load(problem)
    if goal is None:
        goal = weight / max(float(weight.sum()), 1.0) * float(held.sum())
    slack = problem.tolerance * goal
    return _leaves_or_reaches(problem.current, target, held > goal + slack, held < goal - slack)


def _evens_leaders(problem: PlacementProblem, target: Ints) -> Bools:
    """Whether each partition's leadership passes for a reason of counts, [P].

    Its leader leads too many partitions now, or may not lead, or its next one leads too few.
    """
    brokers, current = problem.brokers, problem.current
    led, leads = (np.bincount(lists[:, 0], minlength=len(brokers)) for lists in (current, target))
    able = brokers.may_hold & brokers.may_lead
    most, least = int(leads[able].max(initial=0)), int(leads[able].min(initial=len(problem)))
    return _leaves_or_reaches(current[:, :1], target[:, :1], (led > most) | ~able, led < least)


def _cost_less(problem: PlacementProblem, target: Ints, costs: LeaderCosts) -> Bools:
    """Whether each partition's new leader costs less than its present one would, [P].

    Both have the same replicas.
    """
    cost = leader_costs(target, costs)
    before = (target == problem.current[:, :1]).argmax(axis=1)
    return np.asarray(cost[:, 0] < cost[np.arange(len(cost)), before])


def _leaves_or_reaches(current: Ints, target: Ints, above: Bools, below: Bools) -> Bools:
    """Whether each partition leaves a broker of `above` [B] or reaches one of `below` [B], [P]."""
    evens = np.zeros(len(current), np.bool_)
    for lists, others, brokers in ((current, target, above), (target, current, below)):
        off = np.append(brokers, [False])  # the last element is for NONE
        for column in range(lists.shape[1]):
            evens |= off[lists[:, column]] & ~contains(others, lists[:, column])
    return evens
