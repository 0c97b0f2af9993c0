"""Evens out load by hour, starting from the plan that is even without it.

Network in, and what else follows replicas, comes first, then what crosses zones by leaders, where
it has a price, then network out by leaders. All keep what the plan without load reached: racks,
capacities, broker sets, replica counts, bytes within their tolerance, leader counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.leader_costs import lower_leader_costs
from kadmin.planner.kernel.leaders import choose_leaders
from kadmin.planner.kernel.network_in import even_out_network_in
from kadmin.planner.kernel.network_out import even_out_network_out
from kadmin.planner.kernel.next_leaders import order_replicas
from kadmin.planner.kernel.placement import Placement
from kadmin.planner.kernel.topic_group import topic_groups

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import HourlyLoad
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_PARTS = 2
"""Divisor of the budget of leader changes: traffic across zones gets this part, network out the
rest."""


def even_out_load(problem: PlacementProblem, load: HourlyLoad, even: Ints) -> Ints:
    """Return ordered lists [P, W] that are even at every hour.

    They are made from those that are even without load, `even` [P, W].
    """
    begun = replace(problem, start=even)
    lists = even if problem.leaders_only else _place(begun, load)
    free = ~reorders_only(problem, lists)
    leader = choose_leaders(begun, lists, free)
    if load.on_leaders:
        even_changes = leader_changes(problem, even[:, 0])
        most = even_changes + _allowed(load.leader_changes, even_changes)
        if load.leader_costs is not None:
            left = max(most - leader_changes(problem, leader), 0)
            lower_leader_costs(begun, lists, leader, load.leader_costs, left // _PARTS)
        even_out_network_out(
            begun, lists, leader, load.on_leaders, max(most - leader_changes(problem, leader), 0)
        )
    return order_replicas(begun, lists, leader, free)


def moves(problem: PlacementProblem, lists: Ints) -> int:
    """Return the moves of a plan with these lists [P, W]."""
    return int(moves_per_partition(problem, lists).sum())


def leader_changes(problem: PlacementProblem, leader: Ints) -> int:
    """Return the leader changes of a plan with these leaders [P]."""
    return int((leader != problem.current[:, 0]).sum())


def _place(begun: PlacementProblem, load: HourlyLoad) -> Ints:
    """Return lists [P, W], unordered, of replicas swapped from `start` in the budget of moves."""
    placement = Placement(begun)
    even_moves = moves(begun, placement.slots)
    most = even_moves + _allowed(load.moves, even_moves)
    for group in topic_groups(placement) if load.on_replicas else ():
        even_out_network_in(group, load.on_replicas, most - moves(begun, placement.slots))
    return placement.slots


def _allowed(rule: float, spent: int) -> int:
    """Return a budget: the number itself (int), or a fraction of what is spent already (float)."""
    return rule if isinstance(rule, int) else int(rule * spent)
