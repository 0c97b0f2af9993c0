"""What a planner run gives back, and how it is read out of the engines' answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow.compute as pc

from kadmin import errors
from kadmin.cluster.model import TopicPartition
from kadmin.diagnostics import Diagnostic
from kadmin.errors import KadminError, name_some
from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.plan import codes
from kadmin.plan.model import Elect, PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.plan.rules import other_cluster, refusal, require
from kadmin.planner.answer import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kadmin.cluster.model import Replicas
    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.tables import ArrowTable

DEFAULT_NAME = "rebalance"


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. `master` and `conf` are Spark's; the local engine has no use for them."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan, its figures as schemas/answers/figures.schema.json has them for one cluster, and why each entry is there.

    A reason completes the sentence "it is in the plan because ...".
    """

    plan: ReassignmentPlan
    figures: Mapping[str, Any]
    reasons: Mapping[TopicPartition, str]


def tell_nobody(_stage: str) -> None:
    """Take the stages of a run, and keep them to oneself."""


def check_cluster_ids(request: RebalanceRequest, header: Header) -> None:
    """Refuse a request that names another cluster than the inventory's; raises StalePlanError."""
    require(found for cluster_id in header.clusters.values() for found in other_cluster(request, cluster_id))


def explain_bad_rows(directory: Path) -> NoReturn:
    """Raise the error that names the bad rows of an inventory, which an engine has noticed."""
    read_inventory(directory)
    raise KadminError(f"The planner refused the inventory {directory}, in which no bad row can be found.")


def proposals_of(
    request: RebalanceRequest, directory: Path, header: Header, answers: Mapping[str, ArrowTable]
) -> dict[str, Proposal]:
    """Read proposals out of the answers, one for each cluster.

    Raises InvalidInputError where the inventory has bad rows or the request names what no cluster has, and the error
    of the first cluster by name that has one.
    """
    reports = {name: _report(answers[name]) for name in sorted(answers)}
    if any("unsound" in report for report in reports.values()):
        explain_bad_rows(directory)
    for name, report in reports.items():
        if "error" in report:
            raise _error(name, report["error"])
    _refuse_strangers([set(report["strangers"]) for report in reports.values()])
    return {name: _proposal(request, header, name, answers[name], report) for name, report in reports.items()}


def _proposal(
    request: RebalanceRequest, header: Header, name: str, answer: ArrowTable, report: Mapping[str, Any]
) -> Proposal:
    entries = answer.filter(pc.not_equal(answer.column("ordinal"), REPORT)).sort_by("ordinal")
    partitions = [
        TopicPartition(topic, number)
        for topic, number in zip(*(entries.column(each).to_pylist() for each in ("topic", "partition")), strict=True)
    ]
    targets, currents = (_lists(entries.column(each)) for each in ("target", "current"))
    sizes = entries.column("size_bytes").to_pylist()
    return Proposal(
        _plan(
            request,
            header.clusters[name],
            tuple(map(PartitionTarget, partitions, targets, currents, sizes)),
            taken_at=header.taken_at,
            fewer_racks=report["fewer_racks"],
        ),
        {"cluster": name, "cluster_id": header.clusters[name], **report["figures"]},
        dict(zip(partitions, entries.column("reason").to_pylist(), strict=True)),
    )


def _lists(column: Any) -> list[Replicas]:  # noqa: ANN401 - pyarrow ships no type information
    """Return a column of lists as tuples; much faster than asking Arrow for each."""
    ids = iter(column.combine_chunks().flatten().to_pylist())
    return [tuple(islice(ids, length)) for length in pc.list_value_length(column).to_pylist()]


def _report(answer: ArrowTable) -> dict[str, Any]:
    ordinals = answer.column("ordinal").to_pylist()
    report: dict[str, Any] = json.loads(answer.column("report")[ordinals.index(REPORT)].as_py())
    return report


def _error(name: str, report: Mapping[str, Any]) -> KadminError:
    kind: type[KadminError] = getattr(errors, report["kind"])
    where = f"cluster {name}: " if name != SINGLE_CLUSTER else ""
    return kind(f"{where}{report['message']}", cause=report["cause"], next_command=report["next_command"])


def _refuse_strangers(by_cluster: Iterable[set[str]]) -> None:
    if nowhere := set.intersection(*by_cluster):
        named = sorted(nowhere)
        code = codes.UNKNOWN_BROKER if named[0].startswith("broker") else codes.UNKNOWN_PARTITION
        message = f"the request names what the inventory does not have: {name_some(named)}"
        raise refusal([Diagnostic(code, message)], of_request=True)


def _plan(
    request: RebalanceRequest,
    cluster_id: str | None,
    reassignments: tuple[PartitionTarget, ...],
    *,
    taken_at: str,
    fewer_racks: bool,
) -> ReassignmentPlan:
    return ReassignmentPlan(
        PlanHeader(
            name=request.header.name or DEFAULT_NAME,
            cluster_id=cluster_id,
            description=f"Proposed from the inventory taken at {taken_at}.",
            labels=request.header.labels,
        ),
        reassignments,
        elect=Elect.AT_END,
        allow_replication_factor_change=any(
            len(target.replicas) != len(target.current or ()) for target in reassignments
        ),
        allow_fewer_racks=fewer_racks,
    )
