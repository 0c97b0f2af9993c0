"""`kadmin resume`."""

from __future__ import annotations

from kadmin.cli.confirm import ask
from kadmin.cli.execution import answer_outcome
from kadmin.cli.options import (
    LockTimeoutOption,
    OperationArgument,
    OutputFormat,
    OutputOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)


def resume(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Continue an unfinished operation, from any machine.

    Waits for the lock of a runner that was killed: it expires with its ZooKeeper session.
    """
    from kadmin.cli.context import open_context
    from kadmin.operations.execute import takeover

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        found = takeover.find_unfinished(context, operation_id)
        if found is not None:
            ask(f"Resume operation {found}?", yes=yes)
        outcome = takeover.resume(context, operation_id, lock_timeout)
    answer_outcome(output, outcome)
