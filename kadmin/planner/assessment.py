"""Computes the figures of a proposal: before, after, and the bound that no plan can beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.cluster_arrays import UNKNOWN
from kadmin.planner.figures import FewerRacks, HoldingBroker, PlanFigures
from kadmin.planner.kernel.bounds import least_bytes, least_leader_changes, moves_per_partition
from kadmin.planner.kernel.entry_order import reorders_only
from kadmin.planner.kernel.figures import Evenness, bytes_bound, evenness, rack_violations
from kadmin.planner.kernel.placement_problem import NONE, distinct_per_row

if TYPE_CHECKING:
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.compiled_request import CompiledRequest
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem, Solution


def assess(
    cluster: ClusterArrays,
    compiled: CompiledRequest,
    solution: Solution,
    entries: Ints,
    *,
    left_out: int,
) -> PlanFigures:
    """Return the figures of a plan with these entries [N]; limits cut `left_out` more.

    A plan that limits cut is less even than bounds on moves, bytes and leader changes take for
    granted: it has none.
    """
    problem, spread, may_hold = compiled.problem, compiled.spread, compiled.problem.brokers.may_hold
    final = lists_after(problem, solution, entries)
    moves = moves_per_partition(problem, final)
    after = evenness(spread, final, may_hold)
    sized, whole = bool((cluster.size != UNKNOWN).any()), left_out == 0
    now = evenness(spread, problem.current, may_hold | (_counts(problem, problem.current) > 0))
    return PlanFigures(
        brokers=int(may_hold.sum()),
        holders=_holders(problem),
        partitions=len(problem),
        reassignments=len(entries),
        moves=int(moves.sum()),
        moves_bound=solution.bound if whole else None,
        proved_optimal=proved_optimal(problem, solution, final),
        moved_bytes=int((moves * problem.size).sum()) if sized else None,
        moved_bytes_bound=_bytes_to_copy(problem, compiled, solution) if sized and whole else None,
        leader_changes=int((final[:, 0] != problem.current[:, 0]).sum()),
        leader_changes_bound=least_leader_changes(problem, after.leaders_max) if whole else None,
        order_changes=int(reorders_only(problem, final)[entries].sum()),
        left_out=left_out,
        before=now,
        after=after,
        bound=_bound(compiled, solution, final),
        fewer_racks=_fewer_racks(cluster, problem.current[entries], solution.target[entries]),
        notes=(*compiled.notes, *_notes(cluster)),
    )


def lists_after(problem: PlacementProblem, solution: Solution, entries: Ints) -> Ints:
    """Return the ordered lists [P, W] when a plan with these entries [N] is done."""
    final = problem.current.copy()
    final[entries] = solution.target[entries]
    return final


def proved_optimal(problem: PlacementProblem, solution: Solution, final: Ints) -> bool:
    """Whether no plan is better in replica counts and moves than `final` [P, W].

    No plan is more even, and none as even has fewer moves.
    """
    moved = int(moves_per_partition(problem, final).sum())
    return (
        solution.proved
        and moved == solution.bound
        and bool((_counts(problem, final) == solution.quota).all())
    )


def _counts(problem: PlacementProblem, lists: Ints) -> Ints:
    return np.bincount(lists[lists != NONE], minlength=len(problem.brokers))


def _bytes_to_copy(problem: PlacementProblem, compiled: CompiledRequest, solution: Solution) -> int:
    """Return a lower bound on copied bytes.

    With spec.free, the bytes of the solution where it is proved.
    """
    if compiled.freed_broker == NONE or not solution.proved:
        return least_bytes(problem)
    return int((moves_per_partition(problem, solution.target) * problem.size).sum())


def _bound(compiled: CompiledRequest, solution: Solution, final: Ints) -> Evenness:
    problem, brokers = compiled.problem, compiled.problem.brokers
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
        topic_leader_excess=0,
        rack_violations=rack_violations(
            compiled.spread, np.where(problem.movable[:, None], NONE, problem.start)
        ),
        failover_share=1.0 if several and len(problem) else None,
    )


def _holders(problem: PlacementProblem) -> tuple[HoldingBroker, ...]:
    brokers, held = problem.brokers, problem.brokers.may_hold
    rows = zip(
        brokers.ids[held].tolist(),
        brokers.weight[held].tolist(),
        brokers.may_lead[held].tolist(),
        strict=True,
    )
    return tuple(HoldingBroker(*row) for row in rows)


def _fewer_racks(cluster: ClusterArrays, current: Ints, target: Ints) -> tuple[FewerRacks, ...]:
    """Count the lists [N, W] that lose racks, by racks before and after.

    Those with an unknown rack do not count.
    """
    names = sorted({name for name in cluster.racks if name is not None})
    number = {name: at for at, name in enumerate(names)}
    unknown = len(names)
    rack = np.array(
        [unknown if name is None else number[name] for name in cluster.racks] + [NONE], np.int64
    )
    racked = ~((rack[current] == unknown) | (rack[target] == unknown)).any(axis=1)
    now, then = (distinct_per_row(rack[lists[racked]]) for lists in (current, target))
    pairs, partitions = np.unique(
        np.stack([now, then], axis=1)[then < now], axis=0, return_counts=True
    )
    counted = zip(pairs.tolist(), partitions.tolist(), strict=True)
    return tuple(FewerRacks(before, after, number) for (before, after), number in counted)


def _notes(cluster: ClusterArrays) -> list[str]:
    unknown = int((cluster.size == UNKNOWN).sum())
    if unknown == 0 or unknown == len(cluster.size):
        return []
    return [
        (
            f"size_bytes is missing for {unknown} of {len(cluster.size)} partitions, which count "
            "as empty"
        )
    ]
