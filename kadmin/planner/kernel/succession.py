"""The order behind the leader: who takes over when it dies.

Goals: whichever broker is lost, its partitions are led by many others evenly; only partitions that are reassigned
anyway are ordered anew, so this costs no entry of the plan.
Algorithm: Kafka elects the first live in-sync replica of the list, so the second replica is the heir. Each partition
takes the heir that would lead least after the loss of its leader; a few further rounds mend early choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.problem import NONE

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Bools, Ints, Problem

_ROUNDS = 3
_HEIRS = 2
"""With fewer replicas behind the leader there is nothing to choose."""


def order_lists(problem: Problem, lists: Ints, leader: Ints, free: Bools) -> Ints:
    """Return ordered replicas [P, W]: the leader, then as before, new ones last; heirs chosen where `free` [P]."""
    ordered = _leader_first(problem, lists, leader)
    brokers = len(problem.brokers)
    if ordered.shape[1] < _HEIRS:
        return ordered
    has_heir = np.flatnonzero(ordered[:, 1] != NONE)
    pairs = ordered[has_heir, 0] * brokers + ordered[has_heir, 1]
    after_loss = np.bincount(pairs, minlength=brokers * brokers).reshape(brokers, brokers)
    after_loss += np.bincount(leader, minlength=brokers)
    _choose_heirs(problem, ordered, np.flatnonzero(free & problem.movable), after_loss)
    return ordered


def _leader_first(problem: Problem, lists: Ints, leader: Ints) -> Ints:
    width = lists.shape[1]
    place = np.full(lists.shape, width, np.int64)
    for column in range(width):
        before = problem.start[:, column : column + 1]
        place = np.where((lists == before) & (lists != NONE), column, place)
    place[lists == leader[:, None]] = -1
    place[lists == NONE] = width + 1
    by_place = np.lexsort((lists, place), axis=1)
    ordered = np.take_along_axis(lists, by_place, axis=1)
    return np.where(problem.movable[:, None], ordered, problem.start)


def _choose_heirs(problem: Problem, ordered: Ints, chosen: Ints, after_loss: Ints) -> None:
    may_lead = problem.brokers.may_lead
    rows = [(partition, [b for b in ordered[partition].tolist() if b != NONE]) for partition in chosen.tolist()]
    rows = [(partition, row) for partition, row in rows if len(row) > _HEIRS]
    counts = {leader: after_loss[leader].tolist() for leader in {row[0] for _, row in rows}}
    for _ in range(_ROUNDS):
        for _, row in rows:
            count = counts[row[0]]
            count[row[1]] -= 1
            heirs = [at for at in range(1, len(row)) if may_lead[row[at]]] or [1]
            best = min(heirs, key=lambda at, row=row, count=count: (count[row[at]], at))  # type: ignore[misc]
            row[1], row[best] = row[best], row[1]
            count[row[1]] += 1
    for partition, row in rows:
        ordered[partition, : len(row)] = row
