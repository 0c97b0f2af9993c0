"""`kadmin throttle catch-up`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import asking_brokers, changes_cluster
from kadmin.cli.context import open_context, open_reading
from kadmin.cli.execution import answer_outcome, ask_first, read_cluster_at, tell_outcome
from kadmin.cli.inputs import read_throttle
from kadmin.cli.output_options import UNASKED, OutputOptions, with_telling
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.execute.catch_up import CatchUpPreview

BrokerOption: TypeAlias = Annotated[
    int, typer.Option("--broker", metavar="ID", help="The broker that was away.", min=0)
]
RateOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--rate",
        metavar="RATE",
        help="Bytes per second and broker: 50MB/s, or 10MB/s..200MB/s by what clients feel.",
    ),
]


@changes_cluster
@with_telling
def catch_up(
    cluster: ClusterAddress,
    *,
    broker: BrokerOption,
    rate: RateOption,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    without_brokers: options.WithoutBrokers = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Throttle a broker that was away until it is in sync.

    Start it before the broker, or as soon as it is back. It waits for the broker, follows its
    replicas until all are in sync, and removes the throttle. At --timeout, on ^C or when the
    connection is lost, the throttle remains. `kadmin resume` continues from any machine.
    """
    from kadmin.operations.execute.catch_up import catch_up as run
    from kadmin.operations.execute.catch_up import prepare_catch_up
    from kadmin.report.throttles import catch_up_text

    cluster = asking_brokers(cluster, without=without_brokers)
    throttle = read_throttle(rate=rate)
    opened = (open_reading if dry_run else open_context)(
        cluster, timeout_s=timeout, output_options=output_options
    )
    with opened as context:
        found = prepare_catch_up(context, broker, throttle)
        if found.work.targets and output_options.log_format is options.OutputFormat.HUMAN:
            typer.echo(screen_of(sys.stderr).wrapped(catch_up_text(found)), err=True)
        outcome = found.settled(dry_run=dry_run)
        if outcome is None:
            _confirm(context, cluster, found, yes=yes)
            outcome = run(context, broker, throttle, lock_timeout)
        tell_outcome(context, outcome)
    answer_outcome(output, outcome)


def _confirm(
    context: Context, cluster: ClusterAddress, found: CatchUpPreview, *, yes: bool
) -> None:
    from kadmin.report.operations.questions import catch_up_question

    work = found.work
    ask_first(
        context,
        lambda: catch_up_question(
            work.broker, len(work.targets), read_cluster_at(context, cluster)
        ),
        cluster,
        yes=yes,
    )
