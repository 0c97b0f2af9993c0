"""Plans one cluster: its inventory tables in, one Arrow table of plan entries out.

Both engines run this. The result's rows are the plan's entries in order (`ordinal` from 0). A row
with ordinal -1 comes first; its `report` is JSON with the figures or the error. Errors are not
raised here, because Spark retries a failed task and reports its error as a stack trace.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.diagnostics import Diagnostic
from kadmin.errors import KadminError
from kadmin.plan import codes
from kadmin.plan.model import LeastGain, Racks
from kadmin.plan.rules import refusal
from kadmin.planner.assessment import assess, lists_after
from kadmin.planner.cluster_arrays import UNKNOWN, cluster_arrays, tables_valid
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.disk_arrays import with_disks
from kadmin.planner.disk_plan import chosen_disks, disk_figures, inside_alone, log_dir_lists
from kadmin.planner.disk_request import within_disks
from kadmin.planner.kernel.entry_order import order_binds, plan_order, required, within_limits
from kadmin.planner.kernel.entry_reasons import Reason, entry_reasons
from kadmin.planner.kernel.free_bytes import free_bytes, largest_first
from kadmin.planner.kernel.placement_problem import NONE, NoPlanError
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.substitution import substitute_brokers
from kadmin.planner.kernel.verifier import broken_rules
from kadmin.planner.load.cluster_load import cluster_load, load_figures, noise_of
from kadmin.planner.load.gain import only_if_figures
from kadmin.planner.load.join import join_history, weeks_of
from kadmin.planner.load.reading import rows_valid
from kadmin.schema.shapes import ABSENT, to_json
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from kadmin.cluster.model import TopicPartition
    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable, ClusterArrays, ClusterTables
    from kadmin.planner.compiled_request import CompiledRequest
    from kadmin.planner.figures import LoadFigures, OnlyIfFigures
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem, Solution
    from kadmin.planner.load.cluster_load import ClusterLoad
    from kadmin.planner.load.join import LoadHistory
    from kadmin.schema.shapes import Absent

RESULT_SCHEMA = pa.schema(
    [
        ("cluster", pa.string()),
        ("ordinal", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("current", pa.list_(pa.int32())),
        ("target", pa.list_(pa.int32())),
        ("size_bytes", pa.int64()),
        ("log_dirs", pa.list_(pa.string())),
        ("reason", pa.string()),
        ("report", pa.string()),
    ]
)
REPORT = -1
"""The ordinal of the row that carries the report."""


@dataclass(frozen=True, slots=True)
class PlanningTask:
    """The request, and for each cluster by name the partitions already being reassigned."""

    request: RebalanceRequest
    reassigning: Mapping[str, tuple[TopicPartition, ...]]

    @classmethod
    def on(cls, request: RebalanceRequest, header: Header) -> Self:
        """Return the task for an inventory with that header."""
        return cls(request, {name: facts.reassigning for name, facts in header.facts.items()})


def plan_cluster(
    name: str,
    task: PlanningTask,
    tables: ClusterTables,
    history: ArrowTable | None = None,
) -> ArrowTable:
    """Return the plan of one cluster as a table with RESULT_SCHEMA.

    `history` are its rows of the load history. Its report has one of these keys: `figures` (then
    also `unknown_names` and `order_binds`), `error`, `invalid_rows` or `invalid_history`; in the
    last two cases kadmin.inventory.read_inventory and
    kadmin.planner.load.reading.explain_bad_history raise an error that names the rows.
    """
    if not tables_valid(tables):
        return _report_row(name, {"invalid_rows": True})
    if history is not None and not rows_valid(history):
        return _report_row(name, {"invalid_history": True})
    try:
        cluster = cluster_arrays(tables.brokers, tables.partitions)
        cluster = with_disks(cluster, tables.disks, tables.replicas)
        rates = None if history is None else _joined(history, cluster, task.request)
        del history  # a large part of the memory that planning takes
        pa.default_memory_pool().release_unused()
        return _plan_cluster(name, task, cluster, rates)
    except KadminError as error:
        failure = {"kind": type(error).__name__, "message": error.message, "cause": error.cause}
        return _report_row(name, {"error": {**failure, "next_command": error.next_command}})


def _plan_cluster(
    name: str, task: PlanningTask, cluster: ClusterArrays, history: LoadHistory | None
) -> ArrowTable:
    request = task.request
    compiled = compile_request(cluster, request, task.reassigning.get(name, ()))
    load = cluster_load(name, cluster, compiled.problem, request, history)
    compiled = compiled if request.load is None else _with_load(compiled, load)
    try:
        compiled, solution, ordered = _planned(cluster, compiled, request)
        problem = compiled.problem
        limits = request.limits
        entries = (
            within_limits(problem, solution.target, ordered, limits) if limits.cut else ordered
        )
        final = lists_after(problem, solution, entries)
        chosen = chosen_disks(cluster, request, compiled, final)
    except NoPlanError as error:
        message = _with_names(error.reason, error.partitions, error.brokers, cluster)
        raise refusal([Diagnostic(codes.INFEASIBLE, message, error.next_step)]) from error
    _require_no_broken_rule(problem, solution.target, cluster)
    figures = assess(cluster, compiled, solution, entries, left_out=len(ordered) - len(entries))
    report: dict[str, Any] = {
        "unknown_names": sorted(compiled.unknown_names),
        "order_binds": compiled.freed_broker != NONE
        or order_binds(problem, solution.target, entries),
    }
    if load is not None:
        found, hours = load_figures(load, cluster, problem, solution, final)
        judged = _judged(request, load, problem, entries, found)
        figures = replace(figures, load=found, only_if=judged)
        report["load_hours"] = asdict(hours)
    reasons = entry_reasons(problem, solution, compiled.freed_broker)
    for each in np.flatnonzero(compiled.lost.any(axis=1)):
        reasons[each] = Reason.FAILED_DISK
    if chosen is not None and cluster.disks is not None:
        inside = inside_alone(chosen, entries)
        entries = np.concatenate([entries, inside])
        for each in inside:
            reasons[each] = Reason.DISK
        disks = disk_figures(cluster, cluster.disks, request, chosen)
        figures = replace(figures, disks=disks, reassignments=len(entries))
    report["figures"] = figures
    log_dirs = log_dir_lists(cluster, request, chosen, final, entries)
    rows = _entry_rows(name, cluster, entries, (problem.current, final, log_dirs), reasons)
    return pa.concat_tables([_report_row(name, report), rows])


def _joined(
    history: ArrowTable, cluster: ClusterArrays, request: RebalanceRequest
) -> LoadHistory | None:
    """Join the rows of a cluster's history to its partitions.

    The result has the noise of the history where the request asks for it.
    """
    load, only_if = request.load, request.only_if
    if load is None:
        return None
    found = join_history(history, cluster, hold_out=load.hold_out)
    if found is None or only_if is None or not isinstance(only_if.gain, LeastGain):
        return found
    weeks = weeks_of(history, cluster, hold_out=load.hold_out)
    return replace(found, noise=noise_of(weeks, cluster, load))


def _judged(
    request: RebalanceRequest,
    load: ClusterLoad,
    problem: PlacementProblem,
    entries: Ints,
    figures: LoadFigures,
) -> OnlyIfFigures | Absent:
    """Judge whether a plan with these entries [N] gains what the request asks."""
    if request.only_if is None:
        return ABSENT
    needed = required(problem) | ~problem.brokers.may_lead[problem.current[:, 0]]
    noise = load.history.noise
    return only_if_figures(request.only_if, figures, noise, int(needed[entries].sum()))


def _with_load(compiled: CompiledRequest, load: ClusterLoad | None) -> CompiledRequest:
    """Return the problem with a cluster's load; None: the load history has none of the cluster."""
    if load is None:
        note = "the load history has no partition of this cluster, which is planned without load"
        return replace(compiled, notes=(*compiled.notes, note))
    problem = replace(compiled.problem, load=load.kernel)
    return replace(compiled, problem=problem, notes=(*compiled.notes, *load.notes))


def _planned(
    cluster: ClusterArrays, compiled: CompiledRequest, request: RebalanceRequest
) -> tuple[CompiledRequest, Solution, Ints]:
    """Return the problem, its solution, and the partitions whose list changes, in plan order.

    Where racks are relaxed and no plan has every partition on as many racks as there are, as
    capacities and roles may forbid, only the cap of each rack counts.
    """
    try:
        found, solution = _within_disks(cluster, compiled, request)
        return found, solution, _ordered(found, solution)
    except NoPlanError:
        if request.racks is not Racks.RELAXED:
            raise
        capped = replace(compiled.problem, rack_floor=np.ones_like(compiled.problem.rack_floor))
        found, solution = _within_disks(cluster, replace(compiled, problem=capped), request)
        return found, solution, _ordered(found, solution)


def _within_disks(
    cluster: ClusterArrays, compiled: CompiledRequest, request: RebalanceRequest
) -> tuple[CompiledRequest, Solution]:
    """Solve the problem, again with the room of disks as capacity where they have not enough."""
    found, solution = _solved(compiled, request)
    tighter = within_disks(cluster, request, compiled.problem, solution.target)
    if tighter is None:
        return found, solution
    return _solved(replace(compiled, problem=tighter), request)


def _solved(
    compiled: CompiledRequest, request: RebalanceRequest
) -> tuple[CompiledRequest, Solution]:
    if request.only_replaces:
        problem, solution = substitute_brokers(compiled.problem)
        return replace(compiled, problem=problem), solution
    if request.free is None:
        return compiled, solve(compiled.problem)
    wanted = 0 if compiled.freed_broker == NONE else request.free.size_bytes
    problem, solution = free_bytes(compiled.problem, compiled.freed_broker, wanted)
    return replace(compiled, problem=problem), solution


def _ordered(compiled: CompiledRequest, solution: Solution) -> Ints:
    """Return the partitions whose list changes, in plan order, [N]."""
    if compiled.freed_broker != NONE:
        return largest_first(compiled.problem)
    return plan_order(compiled.problem, solution.target)


def _require_no_broken_rule(
    problem: PlacementProblem, target: Ints, cluster: ClusterArrays
) -> None:
    if broken := broken_rules(problem, target):
        cause = "; ".join(
            _with_names(each.rule, each.partitions, each.brokers, cluster) for each in broken
        )
        raise KadminError(
            "The planner made a plan that breaks its own rules; the plan is not written.",
            cause=cause,
        )


def _with_names(reason: str, partitions: Ints, brokers: Ints, cluster: ClusterArrays) -> str:
    topics = [cluster.topics[each] for each in np.unique(cluster.topic[partitions])]
    ids = cluster.broker_ids[brokers].tolist()
    places = [f"topics {name_some(topics)}"] if topics else []
    places += [f"brokers {name_some(ids)}"] if ids else []
    return ": ".join([reason, *places])


def _report_row(name: str, report: dict[str, Any]) -> ArrowTable:
    row = {"cluster": name, "ordinal": REPORT, "report": to_json(report, indent=None)}
    return pa.Table.from_pylist([row], schema=RESULT_SCHEMA)


def _entry_rows(
    name: str,
    cluster: ClusterArrays,
    entries: Ints,
    lists: tuple[Ints, Ints, Any],
    reasons: list[Reason],
) -> ArrowTable:
    """Return the entries as rows; `lists` are those now and afterwards, and the directories."""
    current, target, log_dirs = lists
    size = cluster.size[entries]
    return pa.Table.from_arrays(
        [
            pa.array([name] * len(entries), pa.string()),
            pa.array(np.arange(len(entries)), pa.int64()),
            pa.array([cluster.topics[each] for each in cluster.topic[entries]], pa.string()),
            pa.array(cluster.partition[entries], pa.int32()),
            _lists(cluster, current[entries]),
            _lists(cluster, target[entries]),
            pa.array(size, pa.int64(), mask=size == UNKNOWN),
            log_dirs,
            pa.array([reasons[each] for each in entries.tolist()], pa.string()),
            pa.nulls(len(entries), pa.string()),
        ],
        schema=RESULT_SCHEMA,
    )


def _lists(cluster: ClusterArrays, rows: Ints) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    filled = rows != NONE
    offsets = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    ids = cluster.broker_ids[rows[filled]]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(ids, pa.int32()))
