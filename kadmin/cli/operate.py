"""apply, verify, status, history and lock: the commands that start operations and look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli.confirm import ask, require_terminal
from kadmin.cli.options import (
    READ_TIMEOUT_S,
    BoundOption,
    LockTimeoutOption,
    OutputFormat,
    OutputOption,
    PlanArgument,
    PolicyOption,
    SizesOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.execute.apply import Outcome
    from kadmin.plan.model import Plan, Policy

lock_app = typer.Typer(help="The lock that keeps two runners apart.", no_args_is_help=True)


def apply(
    file: PlanArgument,
    zookeeper: ZooKeeperOption,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and read everything, change nothing.")] = False,
    yes: YesOption = False,
    sizes: SizesOption = None,
    policy: PolicyOption = None,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Execute a plan on the live cluster: check, show, ask, publish wave by wave, follow, verify."""
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_plan, read_policy, read_sizes

    plan, known, rules = read_plan(file), read_sizes(sizes), read_policy(policy)
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = execute(context, plan, known, lock_timeout, output, policy=rules, dry_run=dry_run, yes=yes)
    answer_outcome(output, outcome)


def verify(
    file: PlanArgument,
    zookeeper: ZooKeeperOption,
    *,
    timeout: BoundOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> int:
    """Say per partition how far a plan is, judged by assignment and state; exit code 8 when not all is done."""
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_plan
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import verify as judge
    from kadmin.report.answers import verification_answer
    from kadmin.report.operations import verification_text

    plan = read_plan(file)
    with open_context(zookeeper, timeout_s=timeout) as context:
        found = judge(context, plan)
    answer(output, lambda: verification_text(found), lambda: verification_answer(found))
    return 0 if found.done else 8


def status(
    zookeeper: ZooKeeperOption, *, timeout: BoundOption = READ_TIMEOUT_S, output: OutputOption = OutputFormat.HUMAN
) -> None:
    """Show unfinished operations, how far they are, and who runs them."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import status as read
    from kadmin.report.answers import status_answer
    from kadmin.report.operations import status_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: status_text(found), lambda: status_answer(found))


def history(
    zookeeper: ZooKeeperOption, *, timeout: BoundOption = READ_TIMEOUT_S, output: OutputOption = OutputFormat.HUMAN
) -> None:
    """Show the operations on record, oldest first."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import history as read
    from kadmin.report.answers import history_answer
    from kadmin.report.operations import history_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: history_text(found), lambda: history_answer(found))


def execute(
    context: Context,
    plan: Plan,
    sizes: Mapping[TopicPartition, int],
    lock_timeout: float,
    output: OutputFormat,
    *,
    policy: Policy | None = None,
    dry_run: bool = False,
    yes: bool,
) -> Outcome:
    """Show what the plan would do, ask, and run it: apply, rollback and recreate alike."""
    from kadmin.operations.execute import apply as service
    from kadmin.report.operations import examination_text

    preview = service.prepare(context, plan, sizes, policy)
    if output is OutputFormat.HUMAN:
        typer.echo(examination_text(preview.examination), err=True)
    outcome = preview.settled(dry_run=dry_run)
    if outcome is None:
        _confirm(plan, yes=yes)
        outcome = service.apply(context, plan, sizes, lock_timeout, policy)
    return outcome


@lock_app.command("show")
def lock_show(
    zookeeper: ZooKeeperOption, *, timeout: BoundOption = READ_TIMEOUT_S, output: OutputOption = OutputFormat.HUMAN
) -> None:
    """Show who holds the lock."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.report.answers import lock_answer
    from kadmin.report.operations import lock_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = context.operations.holder()
    answer(output, lambda: lock_text(found), lambda: lock_answer(found))


@lock_app.command("release")
def lock_release(
    operation_id: Annotated[str, typer.Argument(metavar="ID", help="The operation that holds the lock.")],
    zookeeper: ZooKeeperOption,
    *,
    yes: YesOption = False,
    timeout: BoundOption = READ_TIMEOUT_S,
) -> None:
    """Take the lock away from a runner that is gone or must not go on; its next write fails."""
    from kadmin.cli.context import open_context

    ask(f"Take the lock away from the runner of operation {operation_id}?", yes=yes)
    with open_context(zookeeper, timeout_s=timeout) as context:
        holder = context.operations.release_by_hand(operation_id)
    typer.echo(f"released; it was held by {holder}")


def answer_outcome(output: OutputFormat, outcome: Outcome) -> None:
    """Answer with what an operation came to."""
    from kadmin.cli.output import answer
    from kadmin.report.answers import outcome_answer
    from kadmin.report.operations import outcome_text

    answer(output, lambda: outcome_text(outcome), lambda: outcome_answer(outcome))


def _confirm(plan: Plan, *, yes: bool) -> None:
    from kadmin.plan.model import DeletionPlan

    if not isinstance(plan, DeletionPlan) or yes:
        ask("Apply this plan?", yes=yes)
        return
    require_terminal()
    wanted = ",".join(plan.topics)
    if typer.prompt(f"This destroys data. Type the topics to delete them ({wanted})", err=True) != wanted:
        raise UsageError("Not confirmed; nothing was deleted.")
