"""`kadmin heal`."""

from __future__ import annotations

import typer

from kadmin.cli.confirm import ask
from kadmin.cli.execution import answer_outcome
from kadmin.cli.options import (
    LockTimeoutOption,
    OutputFormat,
    OutputOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)


def heal(
    zookeeper: ZooKeeperOption,
    *,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Repair what keeps the controller from working.

    Each step is shown and confirmed. What a step replaces is kept on record.
    """
    from kadmin.cli.context import open_context
    from kadmin.operations.zookeeper.heal import heal as run

    def confirm(finding: str, step: str) -> None:
        typer.echo(f"{finding}\n  repair: {step}", err=True)
        ask("Repair this?", yes=yes)

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = run(context, lock_timeout, confirm)
    answer_outcome(output, outcome)
