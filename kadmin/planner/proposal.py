"""Builds proposals from the engines' results."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow.compute as pc

from kadmin import errors
from kadmin.cluster.model import TopicPartition
from kadmin.diagnostics import Diagnostic
from kadmin.errors import KadminError
from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.inventory.header import read_header
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.model import Elect, PartitionTarget, PlanHeader, ReassignmentPlan, WaveOrder
from kadmin.plan.rules import check, other_cluster, refusal, require, unmatched_patterns
from kadmin.planner.cluster_plan import REPORT
from kadmin.planner.load.hours import LoadHours, ResourceHours
from kadmin.planner.load.reading import explain_bad_history, history_path
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from kadmin.cluster.model import Replicas
    from kadmin.inventory.header import Header
    from kadmin.plan.model import Policy, RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable

DEFAULT_NAME = "rebalance"
_CODES = {
    "broker": codes.UNKNOWN_BROKER,
    "log": codes.NO_SUCH_LOG_DIR,
    "partition": codes.UNKNOWN_PARTITION,
}
"""The codes of names that no cluster has, by the first word of a name in an error."""


def server_of(remote: str) -> str:
    """Return the URL of a Spark Connect server without its parameters; one may be a token."""
    return remote.partition("/;")[0]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an engine, all of them Spark's; the local engine accepts none.

    `master` is for a session of its own, `remote` the URL of a Spark Connect server. A `session` is
    used as it is, and not stopped.
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    session: SparkSession | None = None
    remote: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan, its figures, and the reason of each entry.

    The figures are a PlanFigures with the cluster's name, as JSON. A reason completes the sentence
    "it is in the plan because ...". `load_hours` is there where the request asks for load, and the
    history has the cluster. `warnings` are about the request, alike for every cluster of a fleet.
    """

    plan: ReassignmentPlan
    figures: Mapping[str, Any]
    reasons: Mapping[TopicPartition, str]
    load_hours: LoadHours | None = None
    warnings: tuple[str, ...] = ()


def ignore_stages(_stage: str) -> None:
    """Ignore the stages of a run."""


def checked_header(request: RebalanceRequest, directory: Path) -> Header:
    """Return the header of the inventory.

    Raises the refusal of the request alone, or of another cluster_id.
    """
    require(check(request))
    header = read_header(directory)
    require(
        found
        for cluster_id in header.clusters.values()
        for found in other_cluster(request, cluster_id)
    )
    return header


def checked_patterns(
    request: RebalanceRequest, partitions: Iterable[ArrowTable], policy: Policy | None
) -> tuple[str, ...]:
    """Return a warning for each pattern that matches no topic of the inventory.

    `partitions` are the clusters' tables. Raises the refusal where the policy makes it an error.
    """
    names = (pc.unique(table.column("topic")).drop_null().to_pylist() for table in partitions)
    topics = sorted(set().union(*names))
    found = list(unmatched_patterns(request, topics, policy))
    require(found)
    return tuple(f"{each.message}{each.advice}" for each in found)


def _explain_bad_rows(directory: Path) -> NoReturn:
    """Raise InvalidInputError with the bad rows of an inventory in which an engine found some."""
    read_inventory(directory)
    raise KadminError(
        f"The planner found bad rows in the inventory {directory}, which a second reading did not "
        "find."
    )


def proposals_of(
    request: RebalanceRequest,
    directory: Path,
    header: Header,
    results: Mapping[str, ArrowTable],
    warnings: tuple[str, ...],
) -> dict[str, Proposal]:
    """Build the proposal of each cluster from its result, and the warnings about the request.

    Raises InvalidInputError where the inventory has bad rows, or the request names brokers or
    partitions that no cluster has; otherwise the error of the first cluster by name that has one.
    """
    reports = {name: _report(results[name]) for name in sorted(results)}
    if any("invalid_rows" in report for report in reports.values()):
        _explain_bad_rows(directory)
    history = history_path(request)
    if history is not None and any("invalid_history" in report for report in reports.values()):
        explain_bad_history(history, header)
    for name, report in reports.items():
        if "error" in report:
            raise _error(name, report["error"])
    _refuse_unknown_names([set(report["unknown_names"]) for report in reports.values()])
    proposed = {
        name: _proposal(request, header, name, results[name], report)
        for name, report in reports.items()
    }
    return {name: replace(each, warnings=warnings) for name, each in proposed.items()}


def _proposal(
    request: RebalanceRequest,
    header: Header,
    name: str,
    result: ArrowTable,
    report: Mapping[str, Any],
) -> Proposal:
    entries = result.filter(pc.not_equal(result.column("ordinal"), REPORT)).sort_by("ordinal")
    partitions = [
        TopicPartition(topic, number)
        for topic, number in zip(
            *(entries.column(each).to_pylist() for each in ("topic", "partition")), strict=True
        )
    ]
    targets, currents = (_lists(entries.column(each)) for each in ("target", "current"))
    sizes = entries.column("size_bytes").to_pylist()
    log_dirs = _texts(entries.column("log_dirs"))
    return Proposal(
        _plan(
            request,
            header.clusters[name],
            tuple(map(PartitionTarget, partitions, targets, currents, sizes, log_dirs)),
            taken_at=header.taken_at,
            fewer_racks=bool(report["figures"]["fewer_racks"]),
            order=WaveOrder.PRIORITY if report["order_binds"] else WaveOrder.SHORTEST,
        ),
        {"cluster": name, "cluster_id": header.clusters[name], **report["figures"]},
        dict(zip(partitions, entries.column("reason").to_pylist(), strict=True)),
        _load_hours(report["load_hours"]) if "load_hours" in report else None,
    )


def _load_hours(report: Mapping[str, Any]) -> LoadHours:
    resources = {
        name: ResourceHours(
            tuple(map(tuple, hours["before"])),
            tuple(map(tuple, hours["after"])),
            *(tuple(hours[column]) for column in ("capacity", "total", "largest")),
        )
        for name, hours in report["resources"].items()
    }
    return LoadHours(report["start"], tuple(report["brokers"]), resources)


def _lists(column: Any) -> list[Replicas]:  # noqa: ANN401 - pyarrow ships no type information
    """Return a column of lists as tuples; much faster than Arrow's to_pylist."""
    ids = iter(column.combine_chunks().flatten().to_pylist())
    return [tuple(islice(ids, length)) for length in pc.list_value_length(column).to_pylist()]


def _texts(column: Any) -> list[tuple[str, ...] | None]:  # noqa: ANN401 - pyarrow ships no type information
    """Return a column of lists of strings as tuples, None where null."""
    texts = iter(column.combine_chunks().flatten().to_pylist())
    lengths = pc.list_value_length(column).to_pylist()
    return [None if length is None else tuple(islice(texts, length)) for length in lengths]


def _report(result: ArrowTable) -> dict[str, Any]:
    ordinals = result.column("ordinal").to_pylist()
    report: dict[str, Any] = json.loads(result.column("report")[ordinals.index(REPORT)].as_py())
    return report


def _error(name: str, report: Mapping[str, Any]) -> KadminError:
    kind: type[KadminError] = getattr(errors, report["kind"])
    where = f"cluster {name}: " if name != SINGLE_CLUSTER else ""
    return kind(
        f"{where}{report['message']}", cause=report["cause"], next_step=report["next_command"]
    )


def _refuse_unknown_names(by_cluster: Iterable[set[str]]) -> None:
    if unknown := sorted(set.intersection(*by_cluster)):
        code = _CODES[unknown[0].split()[0]]
        message = f"the request names what the inventory does not have: {name_some(unknown)}"
        next_step = "correct the request, or: " + command("snapshot", "--out", "DIR")
        raise refusal([Diagnostic(code, message, next_step)], of_request=True)


def _plan(
    request: RebalanceRequest,
    cluster_id: str | None,
    reassignments: tuple[PartitionTarget, ...],
    *,
    taken_at: str,
    fewer_racks: bool,
    order: WaveOrder,
) -> ReassignmentPlan:
    return ReassignmentPlan(
        PlanHeader(
            name=request.header.name or DEFAULT_NAME,
            cluster_id=cluster_id,
            description=f"Proposed from the inventory taken at {taken_at}.",
            labels=request.header.labels,
        ),
        reassignments,
        request.throttle,
        elect=Elect.AT_END,
        order=order,
        hours=request.hours,
        allow_replication_factor_change=any(
            len(target.replicas) != len(target.current or ()) for target in reassignments
        ),
        allow_fewer_racks=fewer_racks,
    )
