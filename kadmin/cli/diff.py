"""`kadmin diff`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.approval import unattended_command
from kadmin.cli.cluster import asking_brokers, on_cluster, require_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.execution import UNATTENDED
from kadmin.cli.inputs import read_facts, read_policy, write_text
from kadmin.cli.output import answer
from kadmin.cli.plan_defaults import as_applied, read_plan_for, with_load
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.reading.preview import PlanPreview
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy


class DiffFormat(StrEnum):
    """The format of a diff."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"


DetailedExitcodeOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--detailed-exitcode",
        help=(
            "Exit with 2 if the plan would change the cluster, and with apply's exit code if "
            "it is refused."
        ),
    ),
]
DiffOutput: TypeAlias = Annotated[
    DiffFormat, typer.Option("-o", "--output", help="Format of the answer.")
]


@on_cluster
def diff(
    file: options.PlanFile,
    *,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    sizes: options.Sizes = None,
    throttle: options.Throttle = None,
    without_brokers: options.WithoutBrokers = False,
    policy: options.Policy = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    html: options.Html = None,
    detailed_exitcode: DetailedExitcodeOption = False,
    output: DiffOutput = DiffFormat.HUMAN,
) -> int:
    """Show the changes of a plan without applying it.

    Shows the waves with their exact payload, the partitions, and the replicas, leaders and bytes of
    each broker before and after. Reads a live cluster or a snapshot.
    """
    from kadmin.operations.reading.preview import preview_snapshot
    from kadmin.report.pages.html import require_renderer

    if html is not None:
        require_renderer()
    rules = read_policy(policy)
    live_cluster = cluster if inventory is None else None
    plan = as_applied(live_cluster, read_plan_for(live_cluster, file), throttle)
    given = with_load(read_facts(sizes), plan)
    if inventory is not None:
        preview = preview_snapshot(plan, inventory, given, rules, datetime.now(UTC))
    else:
        cluster = asking_brokers(require_cluster(cluster), without=without_brokers)
        preview = _live(plan, cluster, given, rules, timeout)
    if html is not None:
        from kadmin.report.pages.reports import plan_report

        write_text(html, plan_report(str(file), preview))
    found = preview.examination
    repeated = {
        "--inventory": inventory,
        "--sizes": sizes,
        "--throttle": throttle,
        "--policy": policy,
    }
    following = _unattended(
        plan, found, cluster, {**repeated, "--without-brokers": without_brokers}
    )
    _show(output, file, plan, found, following)
    return _detailed_exit_code(found) if detailed_exitcode else 0


def _detailed_exit_code(found: Examination) -> int:
    return found.refusals[0].exit_code if found.refusals else 2 * (found.work is not None)


def _live(
    plan: Plan, cluster: ClusterAddress, given: ClusterFacts, rules: Policy, timeout: float | None
) -> PlanPreview:
    from kadmin.operations.execute.live import preview_live

    with open_reading(cluster, timeout_s=timeout) as context:
        return preview_live(context, plan, given, rules)


def _show(output: DiffFormat, file: Path, plan: Plan, found: Examination, following: str) -> None:
    from kadmin.report.plans.answer import diff_answer
    from kadmin.report.plans.markdown import diff_markdown
    from kadmin.report.plans.text import diff_text

    if output is DiffFormat.MARKDOWN:
        typer.echo(diff_markdown(str(file), plan, found).removesuffix("\n") + following)
        return
    screen = screen_of(sys.stdout)
    shown = options.OutputFormat(output.value)
    answer(
        shown,
        lambda: screen.wrapped(diff_text(plan, found)) + following,
        lambda: diff_answer(found),
    )


def _unattended(
    plan: Plan, found: Examination, cluster: ClusterAddress | None, options: Mapping[str, object]
) -> str:
    """Return the lines after a diff that would change something.

    None for a plan that would be refused.
    """
    if found.work is None or found.refusals:
        return ""
    return f"\n\n{UNATTENDED}:\n\n    {unattended_command(plan, cluster, options)}"
