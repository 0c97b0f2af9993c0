"""`kadmin rollback`."""

from __future__ import annotations

from typing import Annotated

import typer

from kadmin.cli.execution import answer_outcome, execute
from kadmin.cli.options import (
    DryRunOption,
    LockTimeoutOption,
    OutputFormat,
    OutputOption,
    SizesOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)


def rollback(
    zookeeper: ZooKeeperOption,
    operation_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The operation's id; the last one if left out.")
    ] = None,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    sizes: SizesOption = None,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Restore the replicas that an operation's partitions had before it."""
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_sizes
    from kadmin.operations.repair.rollback import plan_rollback

    known = read_sizes(sizes)
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        plan = plan_rollback(context, operation_id)
        outcome = execute(context, plan, known, lock_timeout, output, dry_run=dry_run, yes=yes)
    answer_outcome(output, outcome)
