"""`kadmin cancel`."""

from __future__ import annotations

from typing import Annotated

import typer

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
from kadmin.errors import UsageError


def cancel(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    now: Annotated[
        bool, typer.Option("--now", help="Also revert the current wave, by moving the controller to another broker.")
    ] = False,
    allow_foreign: Annotated[
        bool,
        typer.Option("--allow-foreign", help="With --now: proceed even if other tools' entries may start by it."),
    ] = False,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """End an operation after its current wave, or at once with --now.

    Partitions that were reassigned before stay where they are; `kadmin rollback` restores them.
    """
    from kadmin.cli.context import open_context
    from kadmin.operations.execute.takeover import find_unfinished, stop
    from kadmin.operations.record.stop_request import Stop

    if allow_foreign and not now:
        raise UsageError("--allow-foreign goes with --now.", next_command="add --now, or leave --allow-foreign out")
    kind = Stop.CANCEL_NOW if now else Stop.CANCEL
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        found = find_unfinished(context, operation_id)
        if found is not None:
            how = "and revert its current wave" if now else "when its current wave is done"
            ask(f"Cancel operation {found} {how}?", yes=yes)
        outcome = stop(context, operation_id, kind, lock_timeout, allow_foreign=allow_foreign)
    answer_outcome(output, outcome)
