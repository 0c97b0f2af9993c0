"""doctor: looks at a cluster whatever state it is in, and changes nothing."""

from __future__ import annotations

from kadmin.cli.options import READ_TIMEOUT_S, BoundOption, OutputFormat, OutputOption, ZooKeeperOption


def doctor(
    zookeeper: ZooKeeperOption, *, timeout: BoundOption = READ_TIMEOUT_S, output: OutputOption = OutputFormat.HUMAN
) -> int:
    """Say what is wrong with a cluster and what to type; exit code 8 when something would stop an apply today."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose
    from kadmin.operations.zookeeper.doctor import gather
    from kadmin.report.zookeeper.doctor import doctor_answer, doctor_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        evidence = gather(context)
    findings = diagnose(evidence)
    answer(output, lambda: doctor_text(evidence, findings), lambda: doctor_answer(evidence, findings))
    return 8 if any(found.stops_apply for found in findings) else 0
