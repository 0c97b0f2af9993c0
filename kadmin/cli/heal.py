"""heal: one confirmed step at a time."""

from __future__ import annotations

import typer

from kadmin.cli.confirm import ask
from kadmin.cli.operate import answer_outcome
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
    """Cure what keeps the controller from working: each step is shown, confirmed, and saved before it is done."""
    from kadmin.cli.context import open_context
    from kadmin.operations.zookeeper.heal import heal as run

    def confirm(finding: str, cure: str) -> None:
        typer.echo(f"{finding}\n  cure: {cure}", err=True)
        ask("Do it?", yes=yes)

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = run(context, lock_timeout, confirm)
    answer_outcome(output, outcome)
