"""Spreads the leaders of each topic, among partitions that get another leader anyway.

Goals: brokers lead equally many partitions of a topic, at no further leader change or entry.
Constraints: no replica moves, and leader counts stay.
Algorithm: two partitions of different topics, led by two brokers that hold both, exchange their
leaders where that makes both topics more even. Those that gain most meet first, in rounds, as
counts change.
Example: nine partitions of a topic are led by one broker, and those of another topic by a second
one. Where their leaders change, each broker leads some of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.leader_candidates import leader_candidates
from kadmin.planner.kernel.topic_counts import TopicCounts, meetings, topic_batches

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_ROUNDS = 2


def spread_leaders(problem: PlacementProblem, lists: Ints, leader: Ints) -> None:
    """Exchange leaders in place in `leader` [P], within `lists` [P, W]."""
    changed = np.flatnonzero((leader != problem.current[:, 0]) & problem.movable)
    for members in topic_batches(problem, changed):
        counts = TopicCounts(problem, leader[:, None], members)
        for _ in range(_ROUNDS):
            if not _exchange(problem, lists, leader, members, counts):
                break


def _exchange(
    problem: PlacementProblem, lists: Ints, leader: Ints, members: Ints, counts: TopicCounts
) -> int:
    """Exchange in one round and return the number of exchanges."""
    arcs, partitions = leader_candidates(problem, lists, leader, members)
    giver, taker = np.divmod(arcs, len(problem.brokers))
    gain = counts.on(partitions, giver) - counts.on(partitions, taker)
    forth, back = np.flatnonzero(giver < taker), np.flatnonzero(giver > taker)
    ways = (arcs[forth], gain[forth]), ((taker * len(problem.brokers) + giver)[back], gain[back])
    done = [
        _exchanged(leader, partitions[pairs], giver[pairs], counts)
        for pairs in (np.stack([forth[one], back[other]]) for one, other in meetings(*ways))
    ]
    return sum(done)


def _exchanged(leader: Ints, partition: Ints, held: Ints, counts: TopicCounts) -> int:
    """Exchange leaders `held` of pairs, both [2, N], where that helps; return how many did."""
    still = (leader[partition] == held).all(axis=0)
    better = counts.better(partition, held, lambda some: still[some])
    leader[partition[:, better]] = held[::-1, better]
    counts.exchange(partition[:, better], held[:, better])
    return len(better)
