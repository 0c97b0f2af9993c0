"""`kadmin verify`."""

from __future__ import annotations

from kadmin.cli.options import (
    READ_TIMEOUT_S,
    OutputFormat,
    OutputOption,
    PlanArgument,
    ReadTimeoutOption,
    ZooKeeperOption,
)
from kadmin.errors import NotCompletedError


def verify(
    file: PlanArgument,
    zookeeper: ZooKeeperOption,
    *,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> int:
    """Report for each partition whether a plan is done.

    A partition is judged by its assignment and its state (leader, ISR) on the live cluster. Exit code 0 when
    everything is done, else 8.
    """
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_plan
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import verify as judge
    from kadmin.report.operations.outcome import verification_answer, verification_text

    plan = read_plan(file)
    with open_context(zookeeper, timeout_s=timeout) as context:
        found = judge(context, plan)
    answer(output, lambda: verification_text(found), lambda: verification_answer(found))
    return 0 if found.done else NotCompletedError.exit_code
