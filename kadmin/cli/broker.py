"""`kadmin broker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.cordon import cordon, uncordon, unregister
from kadmin.cli.inputs import broker_ids
from kadmin.cli.output import TableView, answer, note
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import NotCompletedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.insight.predict.stop import StopVerdict
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.operations.context import Context

    Judged: TypeAlias = tuple[StopVerdict, tuple[str, ...]]
    """A verdict, and the answers that brokers did not give."""

broker_app = typer.Typer(help="Show brokers, check a stop, cordon and unregister them.")
broker_app.command()(cordon)
broker_app.command()(uncordon)
broker_app.command()(unregister)


BrokersArgument: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Brokers, by id.")
]
StopOption: TypeAlias = Annotated[
    bool, typer.Option("--stop", help="Check whether the brokers may be stopped together.")
]
RackOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rack", metavar="RACK", help="Also the live brokers of a rack. Repeatable."),
]
MinInsyncOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--min-insync-replicas",
        metavar="N",
        help="min.insync.replicas of brokers that do not report theirs.",
        min=1,
    ),
]


@broker_app.command("list")
@on_cluster
def list_(
    cluster: ClusterAddress | Fleet,
    *,
    sort: options.Sort = None,
    filters: options.Filter = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> int:
    """Show every broker, and whether it may be stopped now.

    Text leaves out columns of `inspect brokers`; JSON and CSV have all.
    """
    from kadmin.operations.reading.stop import list_brokers, read_stops

    view = TableView(sort or (), filters or (), output)
    with_details = output is not options.TableFormat.HUMAN

    def read(_: ClusterAddress, context: Context) -> Inspection:
        return list_brokers(read_stops(context), with_details=with_details)

    if isinstance(cluster, Fleet):
        from kadmin.cli.side_by_side import highest_exit_code, read_side_by_side

        found = read_side_by_side(cluster, read, timeout)
        view.show_fleet(
            {each.name: each.found for each in found if each.found is not None},
            {each.name: each.error for each in found if each.error is not None},
        )
        return highest_exit_code(each.error for each in found)
    with open_reading(cluster, timeout_s=timeout) as context:
        inspection = read(cluster, context)
    view.show(inspection)
    return 0


@broker_app.command("check")
@on_cluster
def check(
    broker: BrokersArgument = None,
    *,
    cluster: ClusterAddress | Fleet,
    stop: StopOption = False,
    rack: RackOption = None,
    margin: options.Margin = 0,
    min_insync_replicas: MinInsyncOption = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Check whether brokers may be stopped now, together.

    Every partition must keep a leader without a loss, and enough in-sync replicas for acks=all.
    Exit code 0 if they may be stopped, 8 if not, with each partition that forbids it. With several
    contexts, the highest exit code of any.
    """
    from kadmin.insight.predict.stop import judge_stop
    from kadmin.insight.predict.whatif import brokers_lost
    from kadmin.operations.reading.stop import read_stops
    from kadmin.report.stops import stop_answer, stop_text

    named = broker_ids(broker or (), "broker ids: 1 2, or 1,2")
    if not named and not rack:
        raise UsageError("No broker or rack is named.", next_step="add an ID or --rack RACK")
    if not stop:
        raise UsageError("Nothing to check is named.", next_step="add --stop")

    def judge(_: ClusterAddress, context: Context) -> Judged:
        reading = read_stops(context, min_insync_replicas)
        brokers = brokers_lost(reading.state, named, rack or ())
        return judge_stop(reading.evidence, brokers, margin), reading.unavailable

    if isinstance(cluster, Fleet):
        return _check_fleet(cluster, judge, margin, timeout, output)
    with open_reading(cluster, timeout_s=timeout) as context:
        verdict, unavailable = judge(cluster, context)
    note(unavailable)
    answer(output, lambda: stop_text(verdict), lambda: stop_answer(verdict, margin, unavailable))
    return _exit_code(verdict)


def _check_fleet(
    fleet: Fleet,
    judge: Callable[[ClusterAddress, Context], Judged],
    margin: int,
    timeout_s: float,
    output: options.OutputFormat,
) -> int:
    from kadmin.cli.side_by_side import FleetAnswer, answer_fleet, read_side_by_side
    from kadmin.report.stops import STOP_COLUMNS, stop_answer, stop_rows, stop_text

    def render(_name: str, found: Judged) -> FleetAnswer:
        verdict, unavailable = found
        block = "" if verdict.safe else stop_text(verdict)
        value = stop_answer(verdict, margin, unavailable)
        return FleetAnswer(stop_rows(verdict), value, block, _exit_code(verdict))

    found = read_side_by_side(fleet, judge, timeout_s)
    return answer_fleet(output, STOP_COLUMNS, found, render)


def _exit_code(found: StopVerdict) -> int:
    return 0 if found.safe else NotCompletedError.exit_code
