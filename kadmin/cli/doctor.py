"""`kadmin doctor`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import write_text
from kadmin.cli.output import answer
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import KadminError, NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.answers.doctor import DoctorAnswer
    from kadmin.cli.side_by_side import FleetAnswer
    from kadmin.insight.diagnosis.doctor_report import DoctorReport
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.operations.context import Context

MetricsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--metrics",
        metavar="FILE",
        help="Also write gauges to this file, for Prometheus' textfile collector.",
    ),
]


InventoryOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--inventory",
        metavar="DIR",
        help="Compare log directories with this snapshot. Default: that of the context.",
    ),
]


@on_cluster
def doctor(
    cluster: ClusterAddress | Fleet,
    *,
    inventory: InventoryOption = None,
    metrics: MetricsOption = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Diagnose a cluster, and show how to fix each finding.

    Exit code 8 if a finding blocks `kadmin apply`, otherwise 0. With several contexts, the highest
    exit code of any.
    """
    if isinstance(cluster, Fleet):
        return _of_fleet(cluster, inventory, metrics, timeout, output)
    name = str(cluster) if cluster.context is None else cluster.context.name
    try:
        with open_reading(cluster, timeout_s=timeout) as context:
            found = diagnose(cluster, context, inventory)
    except KadminError:
        _write_metrics(metrics, {name: None})
        raise
    _write_metrics(metrics, {name: found.findings})
    answer(output, lambda: _text(found), lambda: _answer(found))
    return _exit_code(found)


def _write_metrics(file: Path | None, findings: Mapping[str, tuple[Finding, ...] | None]) -> None:
    from kadmin.report.doctor_metrics import doctor_metrics

    if file is not None:
        write_text(file, doctor_metrics(findings))


def _of_fleet(
    fleet: Fleet,
    inventory: Path | None,
    metrics: Path | None,
    timeout_s: float,
    output: options.OutputFormat,
) -> int:
    from kadmin.cli.side_by_side import FleetAnswer, answer_fleet, read_side_by_side

    def render(_name: str, found: DoctorReport) -> FleetAnswer:
        block = _text(found) if found.worth_showing else ""
        return FleetAnswer(
            [(len(found.findings), found.stops_apply)], _answer(found), block, _exit_code(found)
        )

    found = read_side_by_side(
        fleet, lambda cluster, context: diagnose(cluster, context, inventory), timeout_s
    )
    _write_metrics(
        metrics, {each.name: None if each.found is None else each.found.findings for each in found}
    )
    return answer_fleet(output, ("findings", "stop an apply"), found, render)


def diagnose(
    cluster: ClusterAddress, context: Context, inventory: Path | None = None
) -> DoctorReport:
    """Diagnose a cluster; commands in next steps contain the address that was typed.

    Its log directories are compared with those of a snapshot, by default of its context where there
    is one.
    """
    from kadmin.operations.reading.disks import earlier_disks

    name = None if cluster.context is None else cluster.context.name
    if inventory is None and cluster.context is not None:
        inventory = _if_there(cluster.context.inventory)
    found = context.diagnose(None if inventory is None else earlier_disks(inventory, name))
    findings = tuple(
        replace(each, next_step=cluster.named(each.next_step)) for each in found.findings
    )
    return replace(found, findings=findings)


def _if_there(folder: Path | None) -> Path | None:
    from kadmin.inventory.header import HEADER

    return folder if folder is not None and (folder / HEADER).exists() else None


def _text(found: DoctorReport) -> str:
    from kadmin.report.doctor import doctor_text

    return doctor_text(found, screen_of(sys.stdout).width)


def _answer(found: DoctorReport) -> DoctorAnswer:
    from kadmin.report.doctor import doctor_answer

    return doctor_answer(found)


def _exit_code(found: DoctorReport) -> int:
    return NotCompletedError.exit_code if found.stops_apply else 0
