"""`kadmin report`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster, require_cluster
from kadmin.cli.completion import complete_operation
from kadmin.cli.context import open_context
from kadmin.cli.deadline import alarm
from kadmin.cli.inputs import (
    read_facts,
    read_figures,
    read_plan,
    read_policy,
    write_text,
)
from kadmin.cli.plan_defaults import with_load
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from kadmin.plan.facts import ClusterFacts


WhatArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="ID|PLAN",
        autocompletion=complete_operation,
        help="An operation's id, by default the last; or a plan, with --inventory.",
    ),
]


OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="The HTML file to write. Default: stdout."),
]
FiguresOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--figures", metavar="FILE", help="The plan's figures, from propose rebalance --figures."
    ),
]
TimeoutOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help=(
            "Time limit of the whole command. Default: 60 on a live cluster, none on a snapshot."
        ),
        min=0,
    ),
]


@on_cluster
def report(
    what: WhatArgument = None,
    *,
    out: OutOption = None,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    figures: FiguresOption = None,
    sizes: options.Sizes = None,
    policy: options.Policy = None,
    timeout: TimeoutOption = None,
) -> None:
    """Write an HTML report of an operation or of a plan.

    For an operation on a live cluster: its steps with their times, and its partitions now. For a
    plan on a snapshot: the changes that it would make.
    """
    from kadmin.report.pages.html import require_renderer

    require_renderer()
    if inventory is not None:
        if what is None:
            raise UsageError(
                "A snapshot needs a plan.",
                next_step=command("report", "PLAN", "--inventory", inventory),
            )
        with alarm(timeout):
            text = _plan_report(Path(what), inventory, sizes, policy, figures)
    else:
        _require_operation(what, cluster, figures)
        text = _operation_report(
            what, cluster, read_facts(sizes), options.READ_TIMEOUT_S if timeout is None else timeout
        )
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"{out}: {len(text.encode()) / 1000:,.0f} kB")


def _require_operation(
    what: str | None, cluster: ClusterAddress | None, figures: Path | None
) -> None:
    """Raise UsageError for a plan on a live cluster: `diff --html` makes its page."""
    if cluster is not None and what is not None and Path(what).is_file():
        raise UsageError(
            "A plan needs a snapshot here.",
            next_step=command("diff", what, "--html", "FILE", *cluster.typed)
            + ", or "
            + command("report", what, "--inventory", "DIR"),
        )
    if cluster is not None and figures is not None:
        raise UsageError(
            "--figures goes with a plan and --inventory.",
            next_step=command("report", "PLAN", "--inventory", "DIR"),
        )


def _plan_report(
    path: Path, folder: Path, sizes: Path | None, policy: Path | None, figures: Path | None
) -> str:
    from kadmin.operations.reading.preview import preview_snapshot
    from kadmin.report.pages.reports import plan_report

    plan, rules = read_plan(path), read_policy(policy)
    given = with_load(read_facts(sizes), plan)
    preview = preview_snapshot(plan, folder, given, rules, datetime.now(UTC))
    found = None if figures is None else read_figures(figures, preview.state.cluster_id)
    return plan_report(str(path), preview, found)


def _operation_report(
    operation_id: str | None, cluster: ClusterAddress | None, given: ClusterFacts, timeout_s: float
) -> str:
    from kadmin.operations.execute.live import review_operation
    from kadmin.report.pages.reports import operation_report

    with open_context(require_cluster(cluster), timeout_s=timeout_s) as context:
        return operation_report(review_operation(context, operation_id, given))
