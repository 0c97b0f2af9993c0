"""`kadmin recreate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli.execution import answer_outcome, execute
from kadmin.cli.files import STANDARD_INPUT
from kadmin.cli.options import (
    DryRunOption,
    LockTimeoutOption,
    OutputFormat,
    OutputOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.plan.model import RecreationPlan


def recreate(
    recipe: Annotated[
        str, typer.Argument(metavar="ID|FILE", help="The id of the deletion, or a TopicRecipe; - reads standard input.")
    ],
    zookeeper: ZooKeeperOption,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Only write the TopicRecipe to this file.")
    ] = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Create deleted topics again, with their assignment and configs.

    Their records are lost. A topic that exists is not touched (exit code 5).
    """
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import write_plan
    from kadmin.report.text import count

    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        plan = _recipe(context, recipe)
        if out is not None:
            write_plan(out, plan)
            typer.echo(f"{out}: {count(len(plan.recipes), 'topic')}")
            return
        outcome = execute(context, plan, {}, lock_timeout, output, dry_run=dry_run, yes=yes)
    answer_outcome(output, outcome)


def _recipe(context: Context, name: str) -> RecreationPlan:
    from kadmin.cli.inputs import read_recipe
    from kadmin.operations.repair.recreate import plan_recreation

    path = Path(name)
    return read_recipe(path) if name == STANDARD_INPUT or path.exists() else plan_recreation(context, name)
