"""Lists partitions whose leadership could pass between two brokers, and counts leader changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import fast_nonzero
from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem


def leader_candidates(
    problem: PlacementProblem, lists: Ints, leader: Ints, order: Ints
) -> tuple[Ints, Ints]:
    """Return (arcs, partitions), both [N], ascending by arc.

    There is one entry for each partition and possible new leader. The arc from leader a to
    candidate b is a * B + b. Within an arc, partitions come in `order` (partition indices).
    """
    brokers = problem.brokers
    able = np.append(brokers.may_lead & brokers.may_hold, np.False_)  # the last element is for NONE
    order = order[problem.movable[order]]
    listed, leads = lists.take(order, axis=0), leader[order]
    others = able[listed]
    others &= listed != leads[:, None]
    rows, _ = fast_nonzero(others)
    arcs = leads[rows] * len(brokers) + listed[others]
    by_arc = stable_argsort(arcs)
    return arcs[by_arc], order[rows[by_arc]]


def added_leader_changes(
    problem: PlacementProblem, partitions: Ints, giver: Ints | int, taker: Ints | int
) -> Ints:
    """Return the leader changes of another leader, -1 to 1, [N].

    They are those that a plan adds if `taker` leads each partition instead of `giver`.
    """
    first = problem.current[partitions, 0]
    return np.asarray((first == giver).astype(np.int64) - (first == taker))
