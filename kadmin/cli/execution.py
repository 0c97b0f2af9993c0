"""Shows a plan, asks, and executes it, for apply, rollback and recreate."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from kadmin.cli import options
from kadmin.cli.output import answer
from kadmin.cli.protection import name_to_type, require_allowed
from kadmin.cli.terminal import screen_of
from kadmin.errors import KadminError, NotCompletedError, StoppedError, UnreachableError, UsageError
from kadmin.next_step import with_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kadmin.cli.output_options import OutputOptions
    from kadmin.contexts.address import ClusterAddress
    from kadmin.operations.context import Context
    from kadmin.operations.execute.apply import Outcome, Preview, RunOptions
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy


UNATTENDED = "to apply exactly this file, without confirmation"


def execute(
    context: Context,
    address: ClusterAddress,
    plan: Plan,
    given: ClusterFacts,
    lock_timeout: float,
    output_options: OutputOptions,
    *,
    policy: Policy | None = None,
    run: RunOptions | None = None,
    dry_run: bool = False,
    unattended: str | None = None,
    yes: bool,
) -> Outcome:
    """Show the plan's changes to the cluster at `address`, ask, execute it.

    `unattended` is the command that applies the plan without a question; a dry run notes it.
    """
    from kadmin.operations.events import Note
    from kadmin.operations.execute.apply import DEFAULTS, apply, prepare
    from kadmin.report.plans.text import diff_text

    require_allowed(address, type(plan))
    run = run or DEFAULTS
    preview = prepare(context, plan, given, policy, run.throttle)
    found = preview.examination
    if (
        output_options.log_format is options.OutputFormat.HUMAN
        and found.work is not None
        and not found.refusals
    ):
        screen = screen_of(sys.stderr)
        shown = diff_text(plan, found)
        typer.echo(
            "\n".join(screen.painted(screen.wrapped(line)) for line in shown.split("\n")), err=True
        )
    outcome = preview.settled(dry_run=dry_run)
    if outcome is None:
        _confirm(context, plan, preview, address, yes=yes)
        outcome = apply(context, plan, given, lock_timeout, policy, run)
    elif unattended is not None and found.work is not None:
        context.tell(Note(f"{UNATTENDED}:  {unattended}"))
    return tell_outcome(context, outcome)


@contextmanager
def plan_named(file: Path) -> Iterator[None]:
    """Put the plan's file name into the commands of an error that is raised in the block."""
    try:
        yield
    except KadminError as error:
        error.next_step = with_commands(error.next_step, lambda each: each.of_plan(str(file)))
        raise


def tell_outcome(context: Context, outcome: Outcome) -> Outcome:
    """Send the event that the command ended with exit code 0."""
    from kadmin.operations.events import Ended
    from kadmin.report.operations.outcome import outcome_text

    context.tell(Ended(0, outcome_text(outcome)))
    return outcome


def answer_outcome(output: options.OutputFormat, outcome: Outcome) -> None:
    """Answer with the outcome of an operation."""
    from kadmin.report.operations.outcome import outcome_text
    from kadmin.report.screen import Meaning

    screen = screen_of(sys.stdout)
    answer(
        output,
        lambda: screen.painted(screen.wrapped(outcome_text(outcome)), Meaning.DONE),
        lambda: outcome,
    )


def ask(question: Callable[[], str], address: ClusterAddress, *, yes: bool) -> None:
    """Ask for confirmation unless `yes`.

    Raises UsageError for "no", and where there is no terminal. A protected context requires its
    name, even with `yes`.
    """
    wanted = name_to_type(address)
    if wanted is not None:
        _ask_to_type(question, wanted, f"type {wanted} to go on")
        return
    if yes:
        return
    _require_terminal()
    with own_line():
        confirmed = typer.confirm(screen_of(sys.stderr).wrapped(question()), err=True)
    if not confirmed:
        raise UsageError("Not confirmed; nothing was changed.")


def ask_first(
    context: Context, question: Callable[[], str], address: ClusterAddress, *, yes: bool
) -> None:
    """Ask as `ask` does, before the lock is taken.

    The question names a topic that would be created for it.
    """
    ask(_with_creation(context, question), address, yes=yes)


def _with_creation(context: Context, question: Callable[[], str]) -> Callable[[], str]:
    from kadmin.report.operations.questions import creating

    return lambda: creating(context.operations.lock.to_create(), question())


def _ask_to_type(question: Callable[[], str], wanted: str, how: str) -> None:
    _require_terminal()
    with own_line():
        typed = typer.prompt(screen_of(sys.stderr).wrapped(f"{question()} ({how})"), err=True)
    if typed != wanted:
        raise UsageError("Not confirmed; nothing was changed.")


@contextmanager
def own_line() -> Iterator[None]:
    """End the line of a question that a signal interrupts: the error gets one of its own."""
    try:
        yield
    except StoppedError:
        typer.echo(err=True)
        raise


def read_cluster_at(context: Context, address: ClusterAddress) -> str:
    """Return the name of the cluster for a question."""
    from kadmin.report.operations.questions import cluster_at

    cluster_id = None
    # A heal may be about to repair a znode that cannot be decoded; to ask a runner to stop takes no
    # controller.
    with suppress(NotCompletedError, UnreachableError):
        cluster_id = context.backend.read(()).cluster_id
    return cluster_at(cluster_id, str(address))


def ask_about_unfinished(
    context: Context,
    operation_id: str,
    address: ClusterAddress,
    verb: str,
    how: str = "",
    *,
    yes: bool,
) -> None:
    """Ask before an unfinished operation is resumed or cancelled.

    The question has its remaining work.
    """
    from kadmin.operations.reading.status import StatusReader
    from kadmin.report.operations.questions import unfinished_question

    def question() -> str:
        found = StatusReader(context).read_one(operation_id)
        return unfinished_question(verb, found, read_cluster_at(context, address), how)

    ask(question, address, yes=yes)


def _require_terminal() -> None:
    """Raise UsageError where standard input is no terminal."""
    if not sys.stdin.isatty():
        raise UsageError(
            "A confirmation is needed, and there is no terminal to ask.", next_step="add --yes"
        )


def _confirm(
    context: Context, plan: Plan, preview: Preview, address: ClusterAddress, *, yes: bool
) -> None:
    from kadmin.report.operations.questions import (
        apply_question,
        cluster_at,
        question_to_type,
        words_to_type,
    )

    wanted = words_to_type(plan, preview.examination)
    where = cluster_at(preview.state.cluster_id, str(address))
    protected = name_to_type(address) is not None
    if wanted is None or yes or protected:
        ask_first(
            context, lambda: apply_question(plan, preview.examination, where), address, yes=yes
        )
    if wanted is None or yes:
        return
    _require_terminal()
    with own_line():
        question = _with_creation(
            context, lambda: question_to_type(plan, preview.examination, where, wanted)
        )
        typed = typer.prompt(screen_of(sys.stderr).wrapped(question()), err=True)
    if typed != wanted:
        raise UsageError("Not confirmed; nothing was changed.")
