"""resume, pause, cancel and rollback: an operation on record, in anybody's hands."""

from __future__ import annotations

from typing import Annotated

import typer

from kadmin.cli.confirm import ask
from kadmin.cli.operate import answer_outcome, execute
from kadmin.cli.options import (
    READ_TIMEOUT_S,
    BoundOption,
    LockTimeoutOption,
    OperationArgument,
    OutputFormat,
    OutputOption,
    SizesOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)
from kadmin.errors import UsageError


def resume(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Take an unfinished operation over, from any machine, and bring it to its end."""
    from kadmin.cli.context import open_context
    from kadmin.operations.execute import takeover

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        found = takeover.find_unfinished(context, operation_id)
        if found is not None:
            ask(f"Resume operation {found}?", yes=yes)
        outcome = takeover.resume(context, operation_id, lock_timeout)
    answer_outcome(output, outcome)


def pause(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    timeout: BoundOption = READ_TIMEOUT_S,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Publish no further wave; the running one is followed to its end, and `resume` goes on."""
    from kadmin.cli.context import open_context
    from kadmin.operations.execute.takeover import stop
    from kadmin.operations.record.stop_request import Stop

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = stop(context, operation_id, Stop.PAUSE, lock_timeout)
    answer_outcome(output, outcome)


def cancel(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    now: Annotated[bool, typer.Option("--now", help="Take back what runs, by moving the controller.")] = False,
    allow_foreign: Annotated[
        bool, typer.Option("--allow-foreign", help="With --now: entries of others in the node may start by it.")
    ] = False,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """End an operation: publish no further wave, and follow what runs to its end, or take it back at once."""
    from kadmin.cli.context import open_context
    from kadmin.operations.execute.takeover import find_unfinished, stop
    from kadmin.operations.record.stop_request import Stop

    if allow_foreign and not now:
        raise UsageError("--allow-foreign goes with --now.", next_command="kadmin cancel --help")
    kind = Stop.CANCEL_NOW if now else Stop.CANCEL
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        found = find_unfinished(context, operation_id)
        if found is not None:
            how = "and take back what runs" if now else "and let what runs come to its end"
            ask(f"Cancel operation {found} {how}?", yes=yes)
        outcome = stop(context, operation_id, kind, lock_timeout, allow_foreign=allow_foreign)
    answer_outcome(output, outcome)


def rollback(
    zookeeper: ZooKeeperOption,
    operation_id: OperationArgument = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and read everything, change nothing.")] = False,
    yes: YesOption = False,
    sizes: SizesOption = None,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Bring the partitions of an operation (the last, where none is named) back to their original order."""
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_sizes
    from kadmin.operations.repair.rollback import plan_rollback

    known = read_sizes(sizes)
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        plan = plan_rollback(context, operation_id)
        outcome = execute(context, plan, known, lock_timeout, output, dry_run=dry_run, yes=yes)
    answer_outcome(output, outcome)
