"""The figures of a proposal: before, after, and the bound that proves how good it is.

The object made here is one cluster's in schemas/answers/figures.schema.json, its name and id apart.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from kadmin.planner.kernel.bounds import added, least_bytes, least_leader_changes
from kadmin.planner.kernel.figures import Evenness, bytes_bound, evenness, rack_violations
from kadmin.planner.kernel.order import order_alone
from kadmin.planner.kernel.problem import NONE
from kadmin.planner.tables import UNKNOWN

if TYPE_CHECKING:
    from kadmin.planner.kernel.problem import Ints, Problem, Solution
    from kadmin.planner.tables import Cluster
    from kadmin.planner.terms import Terms


def assess(cluster: Cluster, terms: Terms, solution: Solution, entries: Ints, *, left_out: int) -> dict[str, Any]:
    """Return the figures of a plan with these entries; `left_out` more were cut by limits."""
    problem, may_hold = terms.problem, terms.problem.brokers.may_hold
    final = problem.current.copy()
    final[entries] = solution.target[entries]
    moves = added(problem, final)
    after = evenness(problem, final, may_hold)
    known = bool((cluster.size != UNKNOWN).any())
    return {
        "brokers": int(may_hold.sum()),
        "partitions": len(problem),
        "reassignments": len(entries),
        "moves": int(moves.sum()),
        "moves_bound": solution.bound,
        "proved_optimal": solution.proved
        and int(moves.sum()) == solution.bound
        and bool((_counts(problem, final) == solution.quota).all()),
        "moved_bytes": int((moves * problem.size).sum()) if known else None,
        "moved_bytes_bound": _bytes_to_copy(problem, terms, solution) if known else None,
        "leader_changes": int((final[:, 0] != problem.current[:, 0]).sum()),
        "leader_changes_bound": least_leader_changes(problem, after.leaders_max),
        "order_changes": int(order_alone(problem, final)[entries].sum()),
        "left_out": left_out,
        "before": asdict(evenness(problem, problem.current, may_hold | (_counts(problem, problem.current) > 0))),
        "after": asdict(after),
        "bound": asdict(_bound(problem, solution, final)),
        "notes": [*terms.notes, *_notes(cluster)],
    }


def _counts(problem: Problem, lists: Ints) -> Ints:
    return np.bincount(lists[lists != NONE], minlength=len(problem.brokers))


def _bytes_to_copy(problem: Problem, terms: Terms, solution: Solution) -> int:
    """Return a bound on bytes: what a relieved broker must give, where that is proved; else what must be copied."""
    if terms.relieved == NONE or not solution.proved:
        return least_bytes(problem)
    return int((added(problem, solution.target) * problem.size).sum())


def _bound(problem: Problem, solution: Solution, final: Ints) -> Evenness:
    brokers = problem.brokers
    quota = solution.quota[brokers.may_hold]
    able = brokers.may_hold & brokers.may_lead
    led = int(np.bincount(final[:, 0], minlength=len(brokers))[able].sum())
    least, more = divmod(led, max(int(able.sum()), 1))
    several = int(brokers.may_hold.sum()) > 1
    most_bytes = bytes_bound(problem, brokers.may_hold)
    return Evenness(
        replicas_min=int(quota.min()) if len(quota) else 0,
        replicas_max=int(quota.max(initial=0)),
        leaders_min=least if able[brokers.may_hold].all() else 0,
        leaders_max=least + (more > 0),
        bytes_max_over_mean=most_bytes,
        bytes_cv=None if most_bytes is None else 0.0,
        leader_bytes_max_over_mean=None if most_bytes is None else 1.0,
        topic_excess=0,
        rack_violations=rack_violations(problem, np.where(problem.movable[:, None], NONE, problem.start)),
        failover_share=1.0 if several and len(problem) else None,
    )


def _notes(cluster: Cluster) -> list[str]:
    unknown = int((cluster.size == UNKNOWN).sum())
    if unknown == 0 or unknown == len(cluster.size):
        return []
    return [f"{unknown} partitions have no size_bytes and count as empty"]
