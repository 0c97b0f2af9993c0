"""`kadmin lock show` and `kadmin lock release`."""

from __future__ import annotations

from typing import Annotated

import typer

from kadmin.cli.confirm import ask
from kadmin.cli.options import (
    READ_TIMEOUT_S,
    OutputFormat,
    OutputOption,
    ReadTimeoutOption,
    YesOption,
    ZooKeeperOption,
)

lock_app = typer.Typer(help="Show or release the lock that admits one runner at a time.")


@lock_app.command("show")
def lock_show(
    zookeeper: ZooKeeperOption,
    *,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Show who holds the lock."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.report.operations.status import lock_answer, lock_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = context.operations.holder()
    answer(output, lambda: lock_text(found), lambda: lock_answer(found))


@lock_app.command("release")
def lock_release(
    operation_id: Annotated[str, typer.Argument(metavar="ID", help="The operation that holds the lock.")],
    zookeeper: ZooKeeperOption,
    *,
    yes: YesOption = False,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
) -> None:
    """Take the lock from a runner that hangs; its next write fails.

    The lock of a runner that has ended expires without this, with its ZooKeeper session.
    """
    from kadmin.cli.context import open_context

    ask(f"Take the lock from the runner of operation {operation_id}?", yes=yes)
    with open_context(zookeeper, timeout_s=timeout) as context:
        holder = context.operations.release_by_hand(operation_id)
    typer.echo(f"released; it was held by {holder}")
