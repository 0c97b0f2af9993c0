"""One cluster's tables in, its answer out as one Arrow table: what both engines run, and carry home.

The answer's rows are the plan's entries in order (`ordinal` from 0). One row with ordinal -1 comes first; its `report`
is JSON: the figures, or what went wrong. Nothing is raised here, for an error inside a Spark task would be retried and
come home as a stack trace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.diagnostics import Diagnostic
from kadmin.errors import KadminError, name_some
from kadmin.plan import codes
from kadmin.plan.model import ProposalLimits
from kadmin.plan.rules import refusal
from kadmin.planner.assessment import assess
from kadmin.planner.kernel.emergency import relieve
from kadmin.planner.kernel.order import plan_order, within
from kadmin.planner.kernel.problem import NONE, ObstacleError
from kadmin.planner.kernel.reasons import reasons
from kadmin.planner.kernel.solve import solve
from kadmin.planner.kernel.verify import broken_rules
from kadmin.planner.tables import UNKNOWN, cluster_of, sound
from kadmin.planner.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from kadmin.cluster.model import TopicPartition
    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.kernel.problem import Ints, Problem, Solution
    from kadmin.planner.kernel.reasons import Reason
    from kadmin.planner.tables import ArrowTable, Cluster
    from kadmin.planner.terms import Terms

ANSWER_SCHEMA = pa.schema(
    [
        ("cluster", pa.string()),
        ("ordinal", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("current", pa.list_(pa.int32())),
        ("target", pa.list_(pa.int32())),
        ("size_bytes", pa.int64()),
        ("reason", pa.string()),
        ("report", pa.string()),
    ]
)
REPORT = -1
"""The ordinal of the row that carries the report."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every cluster: the request, and by cluster the partitions that are being reassigned already."""

    request: RebalanceRequest
    reassigning: Mapping[str, tuple[TopicPartition, ...]]

    @classmethod
    def on(cls, request: RebalanceRequest, header: Header) -> Self:
        """Return the question for an inventory with that header."""
        return cls(request, {name: facts.reassigning for name, facts in header.facts.items()})


def answer(name: str, question: Question, brokers: ArrowTable, partitions: ArrowTable) -> ArrowTable:
    """Return the answer for one cluster of that name, with ANSWER_SCHEMA.

    Its report has one key of these: `figures` (with `strangers` and `fewer_racks` beside it); `error`; or `unsound`,
    where a table has impossible rows, and kadmin.inventory.read_inventory tells which.
    """
    if not sound(brokers, partitions):
        return _report_row(name, {"unsound": True})
    try:
        return _answer(name, question, cluster_of(brokers, partitions))
    except KadminError as error:
        failure = {"kind": type(error).__name__, "message": error.message, "cause": error.cause}
        return _report_row(name, {"error": {**failure, "next_command": error.next_command}})


def _answer(name: str, question: Question, cluster: Cluster) -> ArrowTable:
    request = question.request
    terms = terms_of(cluster, request, question.reassigning.get(name, ()))
    try:
        terms, solution = _solved(terms, request)
        problem = terms.problem
        ordered = plan_order(problem, solution.target)
    except ObstacleError as obstacle:
        message = _with_names(obstacle.reason, obstacle.partitions, obstacle.brokers, cluster)
        raise refusal([Diagnostic(codes.INFEASIBLE, message)]) from obstacle
    _require_no_broken_rule(problem, solution.target, cluster)
    unlimited = request.limits == ProposalLimits()
    entries = ordered if unlimited else within(problem, solution.target, ordered, request.limits)
    report = {
        "figures": assess(cluster, terms, solution, entries, left_out=len(ordered) - len(entries)),
        "strangers": sorted(terms.strangers),
        "fewer_racks": _fewer_racks(cluster, problem.current[entries], solution.target[entries]),
    }
    why = reasons(problem, solution, terms.relieved)
    rows = _entry_rows(name, (problem.current, solution.target), entries, [why[each] for each in entries], cluster)
    return pa.concat_tables([_report_row(name, report), rows])


def _solved(terms: Terms, request: RebalanceRequest) -> tuple[Terms, Solution]:
    if request.free is None:
        return terms, solve(terms.problem)
    wanted = 0 if terms.relieved == NONE else request.free.size_bytes
    problem, solution = relieve(terms.problem, terms.relieved, wanted)
    return replace(terms, problem=problem), solution


def _require_no_broken_rule(problem: Problem, target: Ints, cluster: Cluster) -> None:
    if broken := broken_rules(problem, target):
        cause = "; ".join(_with_names(each.rule, each.partitions, each.brokers, cluster) for each in broken)
        raise KadminError("The planner broke a rule of its own; no plan is given.", cause=cause)


def _with_names(reason: str, partitions: Ints, brokers: Ints, cluster: Cluster) -> str:
    topics = [cluster.topics[each] for each in np.unique(cluster.topic[partitions])]
    ids = cluster.broker_ids[brokers].tolist()
    places = [f"topics {name_some(topics)}"] if topics else []
    places += [f"brokers {name_some(ids)}"] if ids else []
    return ": ".join([reason, *places])


def _fewer_racks(cluster: Cluster, current: Ints, target: Ints) -> bool:
    """Whether any list stands on fewer racks than before, lists with a broker of unknown rack passed over."""
    names = sorted({name for name in cluster.racks if name is not None})
    number = {name: at for at, name in enumerate(names)}
    unknown = len(names)
    rack = np.array([unknown if name is None else number[name] for name in cluster.racks] + [NONE], np.int64)
    known = ~((rack[current] == unknown) | (rack[target] == unknown)).any(axis=1)
    now, then = (_distinct(rack[lists[known]]) for lists in (current, target))
    return bool((then < now).any())


def _distinct(rows: Ints) -> Ints:
    """Count the different values of each row, NONE left out."""
    ascending = np.sort(rows, axis=1)
    fresh = ascending != NONE
    fresh[:, 1:] &= ascending[:, 1:] != ascending[:, :-1]
    return np.asarray(fresh.sum(axis=1))


def _report_row(name: str, report: dict[str, Any]) -> ArrowTable:
    row = {"cluster": name, "ordinal": REPORT, "report": json.dumps(report)}
    return pa.Table.from_pylist([row], schema=ANSWER_SCHEMA)


def _entry_rows(name: str, lists: tuple[Ints, Ints], entries: Ints, why: list[Reason], cluster: Cluster) -> ArrowTable:
    size = cluster.size[entries]
    return pa.Table.from_arrays(
        [
            pa.array([name] * len(entries), pa.string()),
            pa.array(np.arange(len(entries)), pa.int64()),
            pa.array([cluster.topics[each] for each in cluster.topic[entries]], pa.string()),
            pa.array(cluster.partition[entries], pa.int32()),
            _lists(cluster, lists[0][entries]),
            _lists(cluster, lists[1][entries]),
            pa.array(size, pa.int64(), mask=size == UNKNOWN),
            pa.array(why, pa.string()),
            pa.nulls(len(entries), pa.string()),
        ],
        schema=ANSWER_SCHEMA,
    )


def _lists(cluster: Cluster, rows: Ints) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    filled = rows != NONE
    offsets = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    ids = cluster.broker_ids[rows[filled]]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(ids, pa.int32()))
