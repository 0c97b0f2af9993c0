"""`kadmin doctor`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cli import options
from kadmin.cli.cluster import ClusterAddress, on_cluster
from kadmin.cli.context import open_kafka, open_zookeeper
from kadmin.cli.output import answer
from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.insight.diagnosis.zookeeper.versions import KafkaVersions

    Examined: TypeAlias = tuple[tuple[Finding, ...], tuple[str, ...], KafkaVersions | None]
    """The findings, what was not checked, and the versions of Kafka where znodes show them."""


@on_cluster
def doctor(
    cluster: ClusterAddress,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Find what is wrong with a cluster, and the command that fixes it.

    Exit code 8 when a finding would stop `kadmin apply`, else 0.
    """
    from kadmin.report.doctor import doctor_answer, doctor_text

    examine = _through_brokers if cluster.zookeeper is None else _through_zookeeper
    found, unchecked, versions = examine(cluster, timeout)
    findings = tuple(replace(each, hint=cluster.named_in(each.hint or "")) for each in found)
    answer(output, lambda: doctor_text(findings, unchecked), lambda: doctor_answer(findings, unchecked, versions))
    return NotCompletedError.exit_code if any(each.stops_apply for each in findings) else 0


def _through_zookeeper(cluster: ClusterAddress, timeout_s: float | None) -> Examined:
    from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose, unchecked
    from kadmin.operations.zookeeper.doctor import gather, look_at_disks

    with open_zookeeper(cluster, "kadmin doctor", timeout_s=timeout_s) as context:
        evidence = look_at_disks(context, gather(context))
    return diagnose(evidence), unchecked(evidence), evidence.versions


def _through_brokers(cluster: ClusterAddress, timeout_s: float | None) -> Examined:
    from kadmin.insight.diagnosis.kafka.diagnose import diagnose, unchecked
    from kadmin.operations.kafka.doctor import gather

    with open_kafka(cluster, timeout_s=timeout_s) as context:
        evidence = gather(context)
    return diagnose(evidence), unchecked(evidence), None
