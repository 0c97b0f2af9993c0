"""`kadmin doctor`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.address import ClusterAddress, Fleet
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import write_text
from kadmin.cli.output import answer
from kadmin.cli.terminal import screen_of
from kadmin.errors import KadminError, NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.answers.doctor import DoctorAnswer
    from kadmin.cli.side_by_side import FleetAnswer
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.insight.diagnosis.zookeeper.versions import KafkaVersions
    from kadmin.insight.tables.partitions import PartitionCounts
    from kadmin.operations.kafka.context import KafkaContext
    from kadmin.operations.zookeeper.backend import ZooKeeperContext

MetricsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--metrics", metavar="FILE", help="Also write gauges to this file, for Prometheus' textfile collector."
    ),
]


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings, what was not checked, and the versions of Kafka where znodes show them.

    `counts` are partitions by condition, None where configs were not read.
    """

    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]
    versions: KafkaVersions | None
    counts: PartitionCounts | None

    @property
    def worth_showing(self) -> bool:
        """Whether there is more to show than that the cluster is well."""
        return bool(self.findings or self.unchecked or (self.counts and self.counts.under_replicated))

    def text(self) -> str:
        """Show it to people."""
        from kadmin.report.doctor import doctor_text

        return doctor_text(self.findings, self.unchecked, self.counts, screen_of(sys.stdout).room)

    def answer(self) -> DoctorAnswer:
        """Answer in JSON."""
        from kadmin.report.doctor import doctor_answer

        return doctor_answer(self.findings, self.unchecked, self.versions, self.counts)

    @property
    def exit_code(self) -> int:
        """That of `doctor` for this cluster."""
        return NotCompletedError.exit_code if any(each.stops_apply for each in self.findings) else 0


@on_cluster
def doctor(
    cluster: ClusterAddress | Fleet,
    *,
    metrics: MetricsOption = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Find what is wrong with a cluster, and what fixes it.

    Exit code 8 when a finding would stop `kadmin apply`, else 0. Of several contexts it is the highest of any.
    """
    if isinstance(cluster, Fleet):
        return _of_fleet(cluster, metrics, timeout, output)
    name = str(cluster) if cluster.context is None else cluster.context.name
    try:
        with open_reading(cluster, timeout_s=timeout) as context:
            found = examine(cluster, context)
    except KadminError:
        _write_metrics(metrics, {name: None})
        raise
    _write_metrics(metrics, {name: found.findings})
    answer(output, found.text, found.answer)
    return found.exit_code


def _write_metrics(file: Path | None, findings: Mapping[str, tuple[Finding, ...] | None]) -> None:
    from kadmin.report.doctor_metrics import doctor_metrics

    if file is not None:
        write_text(file, doctor_metrics(findings))


def _of_fleet(fleet: Fleet, metrics: Path | None, timeout_s: float, output: options.OutputFormat) -> int:
    from kadmin.cli.side_by_side import FleetAnswer, answer_fleet, read_side_by_side

    def render(_name: str, found: Examined) -> FleetAnswer:
        stopping = sum(each.stops_apply for each in found.findings)
        block = found.text() if found.worth_showing else ""
        return FleetAnswer([(len(found.findings), stopping)], found.answer(), block, found.exit_code)

    found = read_side_by_side(fleet, examine, timeout_s)
    _write_metrics(metrics, {each.name: None if each.found is None else each.found.findings for each in found})
    return answer_fleet(output, ("findings", "stop an apply"), found, render)


def examine(cluster: ClusterAddress, context: KafkaContext | ZooKeeperContext) -> Examined:
    """Examine a cluster; hints name the commands with the address that was typed."""
    from kadmin.operations.kafka.context import KafkaContext

    through = _through_brokers if isinstance(context, KafkaContext) else _through_zookeeper
    found = through(context)  # type: ignore[arg-type] # each takes the context that is chosen for it
    findings = tuple(replace(each, hint=cluster.named_in(each.hint or "")) for each in found.findings)
    return replace(found, findings=findings)


def _through_zookeeper(context: ZooKeeperContext) -> Examined:
    from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose, unchecked
    from kadmin.insight.tables.partitions import condition_counts
    from kadmin.operations.zookeeper.doctor import gather, look_at_disks

    evidence = look_at_disks(context, gather(context))
    counts = condition_counts(evidence.state)
    return Examined(diagnose(evidence), unchecked(evidence), evidence.versions, counts)


def _through_brokers(context: KafkaContext) -> Examined:
    from kadmin.insight.diagnosis.kafka.diagnose import diagnose, unchecked
    from kadmin.insight.tables.partitions import condition_counts
    from kadmin.operations.kafka.doctor import gather

    evidence = gather(context)
    silent = evidence.looks[-1].controllers_silent
    counts = None if silent else condition_counts(evidence.state)
    return Examined(diagnose(evidence), unchecked(evidence), None, counts)
