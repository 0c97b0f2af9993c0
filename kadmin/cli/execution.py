"""Shows a plan, asks, and executes it: what apply, rollback and recreate have in common."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from kadmin.cli import options
from kadmin.cli.output import answer
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.execute.apply import Outcome
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy, ThrottleSpec


def execute(
    context: Context,
    plan: Plan,
    given: ClusterFacts,
    lock_timeout: float,
    output: options.OutputFormat,
    *,
    policy: Policy | None = None,
    throttle: ThrottleSpec | None = None,
    dry_run: bool = False,
    yes: bool,
) -> Outcome:
    """Show what the plan would do, ask, and execute it; `throttle` takes the place of the plan's own."""
    from kadmin.operations.execute.apply import apply, prepare
    from kadmin.report.plans.text import diff_text

    preview = prepare(context, plan, given, policy, throttle)
    if output is options.OutputFormat.HUMAN and not preview.examination.refusals:
        typer.echo(diff_text(plan, preview.examination), err=True)
    outcome = preview.settled(dry_run=dry_run)
    if outcome is None:
        _confirm(plan, yes=yes)
        outcome = apply(context, plan, given, lock_timeout, policy, throttle)
    return outcome


def answer_outcome(output: options.OutputFormat, outcome: Outcome) -> None:
    """Answer with the outcome of an operation."""
    from kadmin.cli.terminal import screen_of
    from kadmin.report.operations.outcome import outcome_answer, outcome_text
    from kadmin.report.screen import Meaning

    screen = screen_of(sys.stdout)
    answer(output, lambda: screen.painted(outcome_text(outcome), Meaning.DONE), lambda: outcome_answer(outcome))


def ask(question: str, *, yes: bool) -> None:
    """Ask unless `yes`; raises UsageError for "no", and where there is no terminal."""
    if yes:
        return
    _require_terminal()
    if not typer.confirm(question, err=True):
        raise UsageError("Not confirmed; nothing was changed.")


def _require_terminal() -> None:
    """Raise UsageError where standard input is no terminal."""
    if not sys.stdin.isatty():
        raise UsageError("A confirmation is needed, and there is no terminal to ask.", next_command="add --yes")


def _confirm(plan: Plan, *, yes: bool) -> None:
    from kadmin.plan.model import DeletionPlan

    if not isinstance(plan, DeletionPlan) or yes:
        ask("Apply this plan?", yes=yes)
        return
    _require_terminal()
    wanted = ",".join(plan.topics)
    if typer.prompt(f"This destroys data. Type the topics to delete them ({wanted})", err=True) != wanted:
        raise UsageError("Not confirmed; nothing was deleted.")
