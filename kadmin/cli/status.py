"""`kadmin status`, `history`, `verify`, `lock show` and `lock release`."""

from __future__ import annotations

from typing import Annotated

import typer

from kadmin.cli import options
from kadmin.cli.context import open_context
from kadmin.cli.execution import ask
from kadmin.cli.inputs import read_plan
from kadmin.cli.output import answer
from kadmin.errors import NotCompletedError

lock_app = typer.Typer(help="Show or release the lock that admits one runner at a time.")


def status(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show unfinished operations, their progress, and who runs them."""
    from kadmin.operations.reading.verify import status as read
    from kadmin.report.operations.status import status_answer, status_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: status_text(found), lambda: status_answer(found))


def history(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """List the operations on record, oldest first."""
    from kadmin.operations.reading.verify import history as read
    from kadmin.report.operations.status import history_answer, history_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: history_text(found), lambda: history_answer(found))


def verify(
    file: options.PlanFile,
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Report for each partition whether a plan is done.

    A partition is judged by its assignment and its state (leader, ISR) on the live cluster. Exit code 0 when
    everything is done, else 8.
    """
    from kadmin.operations.reading.verify import verify as judge
    from kadmin.report.operations.outcome import verification_answer, verification_text

    plan = read_plan(file)
    with open_context(zookeeper, timeout_s=timeout) as context:
        found = judge(context, plan)
    answer(output, lambda: verification_text(found), lambda: verification_answer(found))
    return 0 if found.done else NotCompletedError.exit_code


@lock_app.command("show")
def lock_show(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show who holds the lock."""
    from kadmin.report.operations.status import lock_answer, lock_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = context.operations.holder()
    answer(output, lambda: lock_text(found), lambda: lock_answer(found))


@lock_app.command("release")
def lock_release(
    operation_id: Annotated[str, typer.Argument(metavar="ID", help="The operation that holds the lock.")],
    zookeeper: options.ZooKeeper,
    *,
    yes: options.Yes = False,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
) -> None:
    """Take the lock from a runner that hangs; its next write fails.

    The lock of a runner that has ended expires without this, with its ZooKeeper session.
    """
    ask(f"Take the lock from the runner of operation {operation_id}?", yes=yes)
    with open_context(zookeeper, timeout_s=timeout) as context:
        holder = context.operations.release_by_hand(operation_id)
    typer.echo(f"released; it was held by {holder}")
