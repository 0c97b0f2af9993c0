"""Measures how even an assignment is, and the bound that no assignment can beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from kadmin.planner.kernel.bounds import even_load
from kadmin.planner.kernel.placement_problem import NONE, breaks_rack_rule, bytes_on
from kadmin.schema.shapes import Count, Ratio

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem

_DIGITS = 6
_FEWEST_BROKERS = 2
"""The fewest brokers of which one is left after a loss."""


@dataclass(frozen=True, slots=True)
class Evenness:
    """Figures of one assignment over the brokers that may hold replicas.

    `bytes_max_over_mean` and `bytes_cv` (standard deviation over mean) are per unit of weight.
    `leader_bytes_max_over_mean` covers the brokers that may lead, without weights. `topic_excess`:
    the replicas that brokers hold above the mean of their topic, rounded up; `topic_leader_excess`:
    the leaders, over the brokers that may lead. `failover_share`: the most leaders of any broker
    after the loss of any other one, over the mean of the brokers left. None: no sizes are known, or
    there is a single broker.
    """

    replicas_min: Annotated[Count, "Replicas on the broker that holds fewest."]
    replicas_max: Annotated[Count, "Replicas on the broker that holds most."]
    leaders_min: Annotated[Count, "Preferred leaders on the broker that leads fewest."]
    leaders_max: Annotated[Count, "Preferred leaders on the broker that leads most."]
    bytes_max_over_mean: Annotated[
        Ratio | None,
        "Bytes on the fullest broker over the mean, by weight; null where no size is known.",
    ]
    bytes_cv: Annotated[
        Ratio | None,
        "Standard deviation of bytes per broker over their mean, by weight; null where no size is "
        "known.",
    ]
    leader_bytes_max_over_mean: Annotated[
        Ratio | None,
        "Bytes led by the broker that leads most over the mean; null where no size is known.",
    ]
    topic_excess: Annotated[
        Count,
        "Replicas that brokers hold above the even share of their topic, rounded up; the sum over "
        "all topics.",
    ]
    topic_leader_excess: Annotated[
        Count,
        "Preferred leaders that brokers have above the even share of their topic, rounded up; the "
        "sum over all topics.",
    ]
    rack_violations: Annotated[
        Count,
        "Partitions with more replicas on one rack, or on fewer racks, than the brokers that may "
        "hold them make necessary; with racks: {at_least: N}, those on fewer racks than that.",
    ]
    failover_share: Annotated[
        Ratio | None,
        "Most leaders of any broker after the loss of any other, over the fair share; null for "
        "one broker.",
    ]


def evenness(problem: PlacementProblem, lists: Ints, counted: Bools) -> Evenness:
    """Return the figures of ordered lists [P, W] over the brokers of the mask `counted` [B]."""
    brokers = len(problem.brokers)
    count = np.bincount(lists[lists != NONE], minlength=brokers)[counted]
    leaders = np.bincount(lists[:, 0], minlength=brokers)[counted]
    spread = _byte_spread(bytes_on(problem, lists)[counted] / problem.brokers.weight[counted])
    return Evenness(
        replicas_min=int(count.min()) if len(count) else 0,
        replicas_max=int(count.max(initial=0)),
        leaders_min=int(leaders.min()) if len(leaders) else 0,
        leaders_max=int(leaders.max(initial=0)),
        bytes_max_over_mean=spread[0],
        bytes_cv=spread[1],
        leader_bytes_max_over_mean=_leader_bytes(problem, lists, counted),
        topic_excess=_topic_excess(problem, lists, counted),
        topic_leader_excess=_topic_excess(
            problem, lists[:, :1], counted & problem.brokers.may_lead
        ),
        rack_violations=rack_violations(problem, lists),
        failover_share=_failover_share(problem, lists, counted),
    )


def rack_violations(problem: PlacementProblem, lists: Ints) -> int:
    """Count the partitions with more replicas on one rack, or on fewer racks, than allowed."""
    return int(breaks_rack_rule(problem, lists).sum())


def bytes_bound(problem: PlacementProblem, counted: Bools) -> float | None:
    """Return the lower bound on max/mean of bytes per weight.

    Racks or one large partition make it greater than 1.
    """
    load = even_load(problem)
    total = int((problem.size * problem.rf).sum())
    if total == 0 or not counted.any():
        return None
    weight = problem.brokers.weight[counted]
    even = np.full(len(weight), total / len(weight)) if load is None else load[counted] / weight
    if not even.any():  # every partition has to stay on brokers that are not counted
        return None
    largest = float(problem.size.max()) / float(weight.max())
    return round(max(float(even.max()), largest) / float(even.mean()), _DIGITS)


def _byte_spread(load: Floats) -> tuple[float | None, float | None]:
    if not len(load) or not load.any():
        return None, None
    mean = float(load.mean())
    return round(float(load.max()) / mean, _DIGITS), round(float(load.std()) / mean, _DIGITS)


def _leader_bytes(problem: PlacementProblem, lists: Ints, counted: Bools) -> float | None:
    load = bytes_on(problem, lists[:, :1])
    return _byte_spread(load[counted & (problem.brokers.may_lead | (load > 0))].astype(np.float64))[
        0
    ]


def _topic_excess(problem: PlacementProblem, lists: Ints, counted: Bools) -> int:
    brokers = len(problem.brokers)
    cells, held = np.unique(
        (problem.topic[:, None] * brokers + lists)[lists != NONE], return_counts=True
    )
    topic = cells // brokers
    share = -(-np.bincount(topic, weights=held).astype(np.int64) // max(int(counted.sum()), 1))
    return int(np.maximum(held - share[topic], 0).sum())


def _failover_share(problem: PlacementProblem, lists: Ints, counted: Bools) -> float | None:
    alive = np.flatnonzero(counted)
    if len(alive) < _FEWEST_BROKERS or not len(lists):
        return None
    brokers = len(problem.brokers)
    leaders = np.bincount(lists[:, 0], minlength=brokers)
    takes_over = np.zeros((brokers, brokers), np.int64)
    if lists.shape[1] > 1:
        next_leaders = lists[:, 1] != NONE
        pairs = lists[next_leaders, 0] * brokers + lists[next_leaders, 1]
        takes_over = np.bincount(pairs, minlength=brokers * brokers).reshape(brokers, brokers)
    after = takes_over + leaders
    np.fill_diagonal(after, 0)
    worst = int(after[np.ix_(alive, alive)].max())
    return round(worst / (len(lists) / (len(alive) - 1)), _DIGITS)
