"""`kadmin throttle show`, `audit`, `set` and `clear`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.context import open_context
from kadmin.cli.execution import ask
from kadmin.cli.output import answer
from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.context import Context
    from kadmin.plan.throttle import ConfigChanges

throttle_app = typer.Typer(help="Show, audit, set or clear replication throttles.")

BrokersOption: TypeAlias = Annotated[
    list[int] | None, typer.Option("--broker", metavar="ID", help="Only this broker. Repeatable.", min=0)
]
TopicsOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Only this topic. Repeatable.")
]


@throttle_app.command("show")
def show(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.Timeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show every topic and broker with a throttle.

    Dead brokers and deleted topics are included.
    """
    from kadmin.operations.throttles.audit import show as read
    from kadmin.report.throttles import throttles_answer, throttles_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: throttles_text(found), lambda: throttles_answer(found))


@throttle_app.command("audit")
def audit(
    zookeeper: options.ZooKeeper,
    *,
    timeout: options.Timeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show for every throttle who set it, and whether it is in use.

    A throttle is in use, left over by an operation, changed since it was set, or on no record.
    """
    from kadmin.operations.throttles.audit import audit as judge
    from kadmin.report.throttles import audit_answer, audit_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = judge(context)
    answer(output, lambda: audit_text(found), lambda: audit_answer(found))


@throttle_app.command("set")
def set_(
    zookeeper: options.ZooKeeper,
    rate: Annotated[
        str, typer.Option("--rate", metavar="RATE", help="Bytes per second and broker, with a unit: 50MB/s.")
    ],
    *,
    broker: BrokersOption = None,
    topic: TopicsOption = None,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Set a throttle by hand.

    On the partitions in flight now; with --topic on whole topics, with --broker the rate of those brokers only. The
    values it replaces are shown before kadmin asks.
    """
    from kadmin.operations.throttles.by_hand import Scope, plan_set

    wanted, scope = _rate(rate), Scope(tuple(broker or ()), tuple(topic or ()))
    with open_context(zookeeper, timeout_s=timeout) as context:
        _carry_out(context, lambda: plan_set(context, scope, wanted), lock_timeout, output, yes=yes)


@throttle_app.command("clear")
def clear(
    zookeeper: options.ZooKeeper,
    *,
    broker: BrokersOption = None,
    topic: TopicsOption = None,
    now: Annotated[bool, typer.Option("--now", help="Clear it even while partitions are in flight.")] = False,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Clear throttles.

    What an operation set goes back to the value before it; everything else is removed.
    """
    from kadmin.operations.throttles.by_hand import Scope, plan_clear

    scope = Scope(tuple(broker or ()), tuple(topic or ()))
    with open_context(zookeeper, timeout_s=timeout) as context:
        _carry_out(context, lambda: plan_clear(context, scope, now=now), lock_timeout, output, yes=yes)


def _carry_out(
    context: Context, plan: Callable[[], ConfigChanges], lock_timeout: float, output: options.OutputFormat, *, yes: bool
) -> None:
    from kadmin.operations.throttles.by_hand import Written, write_planned
    from kadmin.report.throttles import changes_text, written_answer, written_text

    written = Written({}, ())
    if changes := plan():
        typer.echo(changes_text(changes), err=True)
        ask("Write these values?", yes=yes)
        written = write_planned(context, plan, lock_timeout)
    answer(output, lambda: written_text(written), lambda: written_answer(written))


def _rate(text: str) -> int:
    from kadmin.plan.units import parse_rate

    try:
        rate = parse_rate(text)
    except ValueError as error:
        raise InvalidInputError(f"--rate: {error}") from error
    if rate == 0:
        raise InvalidInputError(f"--rate: {text} would stop replication.")
    return rate
