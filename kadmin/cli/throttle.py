"""`kadmin throttle show`, `audit`, `set` and `clear`."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.catch_up import catch_up
from kadmin.cli.cluster import changes_cluster, on_cluster
from kadmin.cli.completion import complete_topic
from kadmin.cli.context import open_context, open_reading
from kadmin.cli.execution import ask_first, read_cluster_at
from kadmin.cli.inputs import read_limits, read_rate_outside, read_throttle, read_windows
from kadmin.cli.output import answer
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import InvalidInputError, UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.operations.context import Context
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.operations.throttles.by_hand import Planned, Written
    from kadmin.plan.throttle_edit import ThrottleEdit


_DEFAULT = "default"

throttle_app = typer.Typer(help="Show, audit, set or clear replication throttles.")

BrokersOption: TypeAlias = Annotated[
    list[int] | None,
    typer.Option("--broker", metavar="ID", help="Only this broker. Repeatable.", min=0),
]
BrokersOrDefaultOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--broker",
        metavar="ID",
        help="Only this broker; `default` for the default of all. Repeatable.",
    ),
]
TopicsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        autocompletion=complete_topic,
        help="Only this topic. Repeatable.",
    ),
]
RateOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="RATE",
        help="Bytes per second and broker, with a unit: 50MB/s; or a range: 10MB/s..200MB/s.",
    ),
]
FinishInOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--finish-in", metavar="TIME", help="Finish an operation's copies within this time: 6h."
    ),
]
LinkBudgetOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--link-budget", metavar="RATE", help="Limit of all replication traffic of a broker."
    ),
]
WhileOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--while",
        metavar="NAME=LIMIT",
        help=(
            "Limit of a signal of the context, for a range of rates: produce_p99=50ms. "
            "Repeatable; replaces those before. none: no signals."
        ),
    ),
]
HoursOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--hours",
        metavar="WINDOW",
        help=(
            "Hours in which an operation copies at this rate: 22:00-06:00, sat-sun. Repeatable; "
            "replaces those before. none: at any time."
        ),
    ),
]
ZoneOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--zone", metavar="ZONE", help="Time zone of the hours: Europe/Berlin."),
]
OutsideOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--outside", metavar="RATE|pause", help="Rate outside the hours. Default: pause."),
]


@throttle_app.command("show")
@on_cluster
def show(
    cluster: ClusterAddress,
    *,
    timeout: options.Timeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show every topic and broker with a throttle.

    Includes dead brokers and deleted topics.
    """
    from kadmin.operations.throttles.audit import show as read
    from kadmin.report.throttles import throttles_answer, throttles_text

    with open_reading(cluster, timeout_s=timeout) as context:
        found = read(context)
    answer(
        output,
        lambda: throttles_text(found, screen_of(sys.stdout).width, cluster.named),
        lambda: throttles_answer(found),
    )


@throttle_app.command("audit")
@on_cluster
def audit(
    cluster: ClusterAddress,
    *,
    timeout: options.Timeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show the origin of every throttle, and whether it is in use.

    A throttle is in use, left over by an operation, changed since it was set, or not on record.
    """
    from kadmin.operations.throttles.audit import audit as judge
    from kadmin.report.throttles import audit_answer, audit_text

    with open_context(cluster, timeout_s=timeout) as context:
        found = judge(context)
    answer(
        output,
        lambda: audit_text(found, screen_of(sys.stdout).width, cluster.named),
        lambda: audit_answer(found),
    )


@throttle_app.command("set")
@changes_cluster
def set_(
    cluster: ClusterAddress,
    *,
    rate: RateOption = None,
    finish_in: FinishInOption = None,
    link_budget: LinkBudgetOption = None,
    limits: WhileOption = None,
    hours: HoursOption = None,
    zone: ZoneOption = None,
    outside: OutsideOption = None,
    broker: BrokersOption = None,
    topic: TopicsOption = None,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Change the unfinished operation's throttle, or set one by hand.

    The operation's runner sets the rate while copies run, and removes it at the end. What is not
    named stays as it is: rate, signals, hours. Without an operation, kadmin throttles the
    partitions in flight, or whole topics with --topic. With --broker, it sets only the rate of
    those brokers. Shows the values that it replaces before it asks for confirmation.
    """
    from kadmin.operations.execute.change_throttle import change_throttle, plan_change, request_for
    from kadmin.operations.execute.change_throttle import unfinished_reassignment as unfinished
    from kadmin.operations.throttles.by_hand import Scope, plan_set, write_planned
    from kadmin.plan.throttle_words import throttle_in_words

    rates = {"rate": rate, "finish_in": finish_in, "link_budget": link_budget}
    edit = _read_edit(rates, limits, hours, zone, outside)
    scope = Scope(tuple(broker or ()), tuple(topic or ()))
    with open_context(cluster, timeout_s=timeout) as context:
        operation = None if scope.brokers or scope.topics else unfinished(context)
        if operation is None:
            if scope == Scope():
                typer.echo(
                    "no reassignment is unfinished: this throttles the partitions in flight",
                    err=True,
                )
            plan = partial(plan_set, context, scope, _amount(edit))
            write = partial(write_planned, context, plan, lock_timeout)
            _carry_out(context, cluster, plan, write, output, yes=yes)
            return
        request = request_for(context, operation, edit)
        shown = throttle_in_words(request.asked, request.hours)
        typer.echo(f"operation {operation}: throttle at {shown}, removed when it ends", err=True)
        revise = partial(plan_change, context, operation, request)
        change = partial(change_throttle, context, operation, request, lock_timeout)
        _carry_out(context, cluster, revise, change, output, yes=yes, request=request)


def _read_edit(
    rates: Mapping[str, str | None],
    limits: Sequence[str] | None,
    hours: Sequence[str] | None,
    zone: str | None,
    outside: str | None,
) -> ThrottleEdit:
    from kadmin.plan.throttle_edit import ThrottleEdit

    edit = ThrottleEdit(
        None,
        None if limits is None else read_limits(limits),
        None if hours is None else read_windows(hours),
        zone,
        None if outside is None else read_rate_outside(outside),
    )
    if edit.within == () and (zone or outside):
        raise UsageError("--zone and --outside go with hours.", next_step="leave --hours none out")
    if edit == ThrottleEdit() or any(each is not None for each in rates.values()):
        edit = replace(edit, rate=read_throttle(**rates))
    return edit


@throttle_app.command("clear")
@changes_cluster
def clear(
    cluster: ClusterAddress,
    *,
    broker: BrokersOrDefaultOption = None,
    topic: TopicsOption = None,
    now: Annotated[
        bool, typer.Option("--now", help="Clear it even while partitions are in flight.")
    ] = False,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Clear throttles.

    Restores the value before an operation's throttle, and removes other throttles. The controller
    removes the rates of a broker that does not answer (KRaft mode); where that is not possible, the
    exit code is 8.
    """
    from kadmin.operations.throttles.by_hand import Scope, plan_clear, write_planned

    named = [each for each in broker or () if each != _DEFAULT]
    if wrong := [each for each in named if not (each.isascii() and each.isdigit())]:
        raise UsageError(
            f"--broker {wrong[0]} is no id of a broker.", next_step=command("throttle show")
        )
    scope = Scope(tuple(map(int, named)), tuple(topic or ()), default=_DEFAULT in (broker or ()))
    with open_context(cluster, timeout_s=timeout) as context:
        plan = partial(plan_clear, context, scope, now=now)
        _carry_out(
            context,
            cluster,
            plan,
            partial(write_planned, context, plan, lock_timeout),
            output,
            yes=yes,
        )


throttle_app.command("catch-up")(catch_up)


def _carry_out(
    context: Context,
    cluster: ClusterAddress,
    plan: Callable[[], Planned],
    write: Callable[[], Written],
    output: options.OutputFormat,
    *,
    yes: bool,
    request: ThrottleRequest | None = None,
) -> None:
    """Show changes, ask, and write them; a `request` to an operation also without changes."""
    from kadmin.operations.throttles.by_hand import Written
    from kadmin.report.operations.questions import throttle_question
    from kadmin.report.throttles import changes_text, written_answer, written_text

    planned = plan()
    written = Written(planned)
    if planned.changes or request is not None:
        if planned.changes and not yes:  # the answer shows them anyway
            typer.echo(changes_text(planned), err=True)
        ask_first(
            context,
            lambda: throttle_question(planned.changes, read_cluster_at(context, cluster)),
            cluster,
            yes=yes,
        )
        written = write()
    answer(
        output,
        lambda: written_text(written, cluster.named, by_api=cluster.bootstrap is not None),
        lambda: written_answer(written),
    )
    if written.left is not None:
        raise written.left


def _amount(edit: ThrottleEdit) -> int:
    """Return the rate of a throttle by hand, which has nothing beside it."""
    from kadmin.plan.model import ThrottleBy
    from kadmin.plan.throttle_edit import ThrottleEdit

    wanted = edit.rate
    is_fixed = wanted is not None and wanted.by is ThrottleBy.RATE and wanted.most is None
    if wanted is None or not is_fixed or edit != ThrottleEdit(wanted):
        raise InvalidInputError(
            "No reassignment is unfinished, so only a plain rate can be set.",
            next_step=command("throttle set", "--rate", "RATE"),
        )
    return wanted.amount
