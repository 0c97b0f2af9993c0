"""`kadmin status`, `history`, `verify`, `lock show` and `lock release`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli import options
from kadmin.cli.cluster import changes_cluster, on_cluster
from kadmin.cli.completion import complete_operation, complete_unfinished
from kadmin.cli.context import open_context, open_reading
from kadmin.cli.execution import ask, read_cluster_at
from kadmin.cli.inputs import read_plan
from kadmin.cli.output import answer
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import NotCompletedError, UnreachableError

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.reading.status import StatusReader

lock_app = typer.Typer(help="Show or release the lock that allows one runner at a time.")


@on_cluster
def status(
    cluster: ClusterAddress | Fleet,
    *,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Refresh every 2 s, until no operation is unfinished, ^C or --timeout."
        ),
    ] = False,
    timeout: options.WatchTimeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Show unfinished operations and their progress.

    With --watch, a terminal is redrawn; a pipe gets lines on each change, and at least every 30 s.
    With -o json, each answer is one line. An outage of the cluster does not end the command. Of
    several contexts, a terminal shows a row for each operation, with keys to pause, cancel and
    throttle it; a pipe gets lines that begin with the context.
    """
    from kadmin.operations.reading.status import StatusReader
    from kadmin.report.operations.status import status_answer, status_text

    bound_s = options.watch_bound(timeout, watch=watch)
    if isinstance(cluster, Fleet):
        if watch:
            from kadmin.cli.status_watch import watch_fleet

            return watch_fleet(cluster, bound_s, output)
        return _of_fleet(cluster, bound_s or options.READ_TIMEOUT_S, output)
    with open_context(cluster, timeout_s=bound_s) as context:
        reader = StatusReader(context)
        if watch:
            _watch(context, reader, output, cluster)
            return 0
        found = reader.read()
    answer(output, lambda: status_text(found, cluster.named), lambda: status_answer(found))
    for error in found.undecodable:
        raise error
    return 0


def _of_fleet(fleet: Fleet, timeout_s: float, output: options.OutputFormat) -> int:
    from kadmin.cli.side_by_side import FleetAnswer, answer_fleet, read_side_by_side
    from kadmin.operations.reading.status import Status, StatusReader
    from kadmin.report.operations.status import (
        STATUS_COLUMNS,
        status_answer,
        status_rows,
        status_text,
    )

    def render(name: str, found: Status) -> FleetAnswer:
        text = (
            status_text(found, fleet.clusters[name].named) if found.operations or found.late else ""
        )
        return FleetAnswer(status_rows(found), status_answer(found), text)

    found = read_side_by_side(
        fleet, lambda _, context: StatusReader(context).read(), timeout_s, reads_only=False
    )
    return answer_fleet(output, STATUS_COLUMNS, found, render)


def _watch(
    context: Context, reader: StatusReader, output: options.OutputFormat, cluster: ClusterAddress
) -> None:
    from kadmin.operations.events import Note
    from kadmin.operations.reading.verify import history as read_history
    from kadmin.report.operations.status import ended_text, status_answer, status_text
    from kadmin.report.operations.watched import Watched
    from kadmin.schema.shapes import to_json

    shown = Watched(lambda text: typer.echo(text, nl=False), screen_of(sys.stdout), context.clock)
    watched: set[str] = set()

    def over() -> bool:
        return context.clock.now() + options.BETWEEN_READS_S >= context.clock.until

    try:
        while True:
            try:
                found = reader.read()
                listings = [each for each in read_history(context) if each.operation_id in watched]
            except UnreachableError as lost:
                if not watched or over():
                    raise
                waiting = f"the cluster does not answer; reading again: {lost.message}"
                if output is options.OutputFormat.JSON:
                    context.tell(Note(waiting))
                else:
                    shown.block([waiting])
            else:
                if output is options.OutputFormat.JSON:
                    shown.line(to_json(status_answer(found), indent=None))
                else:
                    ended = [ended_text(each) for each in listings if each.status.state.finished]
                    shown.block([*ended, *status_text(found, cluster.named).split("\n")])
                watched |= {each.listing.operation_id for each in found.operations}
                if not found.operations or over():
                    return
            context.clock.wait(options.BETWEEN_READS_S)
            context.clock.stop_if_asked("nothing was changed")
    finally:
        shown.close()


@on_cluster
def history(
    cluster: ClusterAddress,
    operation_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            autocompletion=complete_operation,
            help="Show this operation in full. Default: list all.",
        ),
    ] = None,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """List the operations on record, or show one in full.

    For one operation, shows its plan, its steps, its start, pauses and end with time and user, and
    the values that a heal replaced or deleted.
    """
    from kadmin.operations.reading.timeline import read_timeline
    from kadmin.operations.reading.verify import history as read
    from kadmin.report.operations.history import operation_answer, operation_text
    from kadmin.report.operations.status import history_answer, history_text

    with open_context(cluster, timeout_s=timeout) as context:
        listings = read(context)
        one = None if operation_id is None else read_timeline(context, operation_id)
        holder = context.operations.lock.holder()
    if one is None:
        answer(
            output,
            lambda: history_text(listings, holder, screen_of(sys.stdout).width),
            lambda: history_answer(listings),
        )
    else:
        answer(output, lambda: operation_text(one, holder), lambda: operation_answer(one))


@on_cluster
def verify(
    file: options.PlanFile,
    cluster: ClusterAddress,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Check for each partition whether a plan is done.

    Compares the plan with assignment, leader and ISR on the live cluster. Exit code 0 if every
    partition is done, otherwise 8.
    """
    from kadmin.operations.reading.verify import verify as judge
    from kadmin.report.operations.outcome import verification_answer, verification_text

    plan = read_plan(file)
    with open_reading(cluster, timeout_s=timeout) as context:
        found = judge(context, plan)
    answer(output, lambda: verification_text(found), lambda: verification_answer(found))
    return 0 if found.done else NotCompletedError.exit_code


@lock_app.command("show")
@on_cluster
def lock_show(
    cluster: ClusterAddress,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show the holder of the lock."""
    from kadmin.report.operations.status import lock_answer, lock_text

    with open_context(cluster, timeout_s=timeout) as context:
        found = context.operations.lock.holder()
    answer(output, lambda: lock_text(found), lambda: lock_answer(found))


@lock_app.command("release")
@changes_cluster
def lock_release(
    operation_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            autocompletion=complete_unfinished,
            help="The operation that holds the lock.",
        ),
    ],
    cluster: ClusterAddress,
    *,
    yes: options.Yes = False,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
) -> None:
    """Release the lock of a runner that hangs; its next write fails.

    The lock of a runner that has ended expires after some seconds, without this command.
    """
    what = (
        f"Take the lock from the runner of operation {operation_id}, whose next write then fails,"
    )
    with open_context(cluster, timeout_s=timeout) as context:
        ask(lambda: f"{what} on {read_cluster_at(context, cluster)}?", cluster, yes=yes)
        holder = context.operations.lock.release_by_hand(operation_id)
    typer.echo(f"released; it was held by {holder}")
