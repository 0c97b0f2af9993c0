"""`kadmin heal` and `kadmin recreate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli import options
from kadmin.cli.cluster import changes_cluster
from kadmin.cli.completion import complete_deletion
from kadmin.cli.context import open_context, open_zookeeper
from kadmin.cli.execution import answer_outcome, ask, execute, read_cluster_at, tell_outcome
from kadmin.cli.files import STANDARD_INPUT
from kadmin.cli.inputs import read_recipe, write_plan
from kadmin.cli.output_options import UNASKED, OutputOptions, with_telling
from kadmin.contexts.address import ClusterAddress
from kadmin.next_step import command

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.plan.model import RecreationPlan


@changes_cluster
@with_telling
def heal(
    cluster: ClusterAddress,
    *,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Repair znodes that block the controller.

    Shows each step and asks for confirmation. Values that a step replaces are kept on record.
    """
    from kadmin.operations.events import Note
    from kadmin.worlds.zookeeper.heal.heal import heal as run

    asked = cluster

    def confirm(finding: str, step: str) -> None:
        nonlocal asked
        context.tell(Note(f"{finding}; repair: {step}"))
        ask(lambda: f"Repair this on {read_cluster_at(context, cluster)}?", asked, yes=yes)
        asked = replace(cluster, confirmed=True)

    with open_zookeeper(
        cluster, command("doctor"), timeout_s=timeout, output_options=output_options
    ) as context:
        outcome = tell_outcome(context, run(context, lock_timeout, confirm))
    answer_outcome(output, outcome)


@changes_cluster
@with_telling
def recreate(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="ID|FILE",
            autocompletion=complete_deletion,
            help="The id of the deletion, or a TopicRecipe file; - reads standard input.",
        ),
    ],
    cluster: ClusterAddress,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Only write the TopicRecipe to this file."),
    ] = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Recreate deleted topics with their assignment and configs.

    The records of the topics are lost. A topic that exists is not changed (exit code 5).
    """
    from kadmin.plan.facts import ClusterFacts
    from kadmin.wording import count

    with open_context(cluster, timeout_s=timeout, output_options=output_options) as context:
        plan = _recipe(context, recipe)
        if out is not None:
            write_plan(out, plan)
            typer.echo(f"{out}: {count(len(plan.recipes), 'topic')}")
            return
        outcome = execute(
            context,
            cluster,
            plan,
            ClusterFacts(),
            lock_timeout,
            output_options,
            dry_run=dry_run,
            yes=yes,
        )
    answer_outcome(output, outcome)


def _recipe(context: Context, name: str) -> RecreationPlan:
    from kadmin.operations.repair.recreate import plan_recreation

    path = Path(name)
    return (
        read_recipe(path)
        if name == STANDARD_INPUT or path.exists()
        else plan_recreation(context, name)
    )
