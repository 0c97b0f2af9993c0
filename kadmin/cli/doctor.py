"""`kadmin doctor`."""

from __future__ import annotations

from kadmin.cli import options
from kadmin.cli.context import open_context
from kadmin.cli.output import answer
from kadmin.errors import NotCompletedError


def doctor(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Find what is wrong with a cluster, and the command that fixes it.

    Exit code 8 when a finding would stop `kadmin apply`, else 0.
    """
    from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose
    from kadmin.operations.zookeeper.doctor import gather, look_at_disks
    from kadmin.report.zookeeper.doctor import doctor_answer, doctor_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        evidence = look_at_disks(context, gather(context))
    findings = diagnose(evidence)
    answer(output, lambda: doctor_text(evidence, findings), lambda: doctor_answer(evidence, findings))
    return NotCompletedError.exit_code if any(found.stops_apply for found in findings) else 0
