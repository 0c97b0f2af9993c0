"""`kadmin pause`."""

from __future__ import annotations

from kadmin.cli.execution import answer_outcome
from kadmin.cli.options import (
    READ_TIMEOUT_S,
    LockTimeoutOption,
    OperationArgument,
    OutputFormat,
    OutputOption,
    ReadTimeoutOption,
    ZooKeeperOption,
)


def pause(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Pause an operation when its current wave is done.

    No further wave is published until `kadmin resume`.
    """
    from kadmin.cli.context import open_context
    from kadmin.operations.execute.takeover import stop
    from kadmin.operations.record.stop_request import Stop

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = stop(context, operation_id, Stop.PAUSE, lock_timeout)
    answer_outcome(output, outcome)
