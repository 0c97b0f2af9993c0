"""snapshot and diff: commands that read a cluster and change nothing."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli.options import (
    READ_TIMEOUT_S,
    BoundOption,
    OptionalZooKeeperOption,
    OutputFormat,
    OutputOption,
    PlanArgument,
    PolicyOption,
    SizesOption,
    ZooKeeperOption,
)
from kadmin.cli.report import HtmlOption, plan_page_text, seen_in_inventory, seen_live
from kadmin.errors import UsageError


class TableFormat(StrEnum):
    """The format of an inventory's two tables."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


class DiffFormat(StrEnum):
    """The format of a diff."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"


def snapshot(
    zookeeper: ZooKeeperOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The inventory folder to write.")],
    *,
    sizes: SizesOption = None,
    timeout: BoundOption = READ_TIMEOUT_S,
    table: Annotated[TableFormat, typer.Option("--table", help="Format of the two tables.")] = TableFormat.PARQUET,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Write the inventory of a live cluster: brokers and partitions, each topic read until it stood still."""
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_sizes
    from kadmin.cli.output import answer
    from kadmin.inventory import write_inventory
    from kadmin.operations.reading.snapshot import take_snapshot
    from kadmin.report.cluster.snapshot import snapshot_answer, snapshot_text

    known = read_sizes(sizes) if sizes is not None else None
    with open_context(zookeeper, timeout_s=timeout) as context:
        taken = take_snapshot(context, known)
    write_inventory(taken.inventory, out, table.value)
    answer(output, lambda: snapshot_text(taken, out), lambda: snapshot_answer(taken, out))


def diff(
    file: PlanArgument,
    *,
    zookeeper: OptionalZooKeeperOption = None,
    inventory: Annotated[Path | None, typer.Option("--inventory", metavar="DIR", help="A snapshot.")] = None,
    sizes: SizesOption = None,
    policy: PolicyOption = None,
    timeout: BoundOption = READ_TIMEOUT_S,
    html: HtmlOption = None,
    detailed_exitcode: Annotated[bool, typer.Option("--detailed-exitcode", help="Exit 2 on changes.")] = False,
    output: Annotated[DiffFormat, typer.Option("-o", "--output", help="Format of the answer.")] = DiffFormat.HUMAN,
) -> int:
    """Show what a plan would change: waves with their exact payload, partitions, brokers before and after."""
    from kadmin.cli.inputs import read_plan, read_policy, read_sizes, write_text
    from kadmin.cli.output import answer
    from kadmin.report.pages.html import require_renderer
    from kadmin.report.plans.answer import diff_answer
    from kadmin.report.plans.markdown import diff_markdown
    from kadmin.report.plans.text import diff_text

    if html is not None:
        require_renderer()
    plan, known, rules = read_plan(file), read_sizes(sizes), read_policy(policy)
    if inventory is not None:
        seen = seen_in_inventory(plan, inventory, known, rules)
    elif zookeeper is not None:
        from kadmin.cli.context import open_context

        with open_context(zookeeper, timeout_s=timeout) as context:
            seen = seen_live(context, plan, known, rules, ask=html is not None)
    else:
        raise UsageError("diff needs a cluster or a snapshot.", next_command="add --zookeeper or --inventory")
    if html is not None:
        write_text(html, plan_page_text(file, plan, seen))
    found = seen.found
    if output is DiffFormat.MARKDOWN:
        typer.echo(diff_markdown(str(file), plan, found), nl=False)
    else:
        answer(OutputFormat(output.value), lambda: diff_text(plan, found), lambda: diff_answer(found))
    return 2 if detailed_exitcode and found.work is not None else 0
