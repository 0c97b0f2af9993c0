"""propose: plans that kadmin makes itself."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.election import propose_election
from kadmin.cli.options import OutputFormat, OutputOption
from kadmin.errors import InvalidInputError, NotCompletedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kadmin.plan.model import ReassignmentPlan, RebalanceRequest
    from kadmin.planner.proposal import Options, Proposal

_CLEARED = "\r\x1b[K"

propose_app = typer.Typer(name="propose", help="Propose a plan.", no_args_is_help=True, rich_markup_mode=None)
propose_app.command("election")(propose_election)


class Engine(StrEnum):
    """What runs the planner; both make the same plan."""

    SPARK = "spark"
    LOCAL = "local"


@propose_app.command()
@bounded
def rebalance(
    request: Annotated[Path, typer.Argument(metavar="REQUEST", help="A RebalanceRequest; - reads standard input.")],
    inventory: Annotated[Path, typer.Option("--inventory", metavar="DIR", help="The inventory to plan on.")],
    out: Annotated[Path, typer.Option("--out", metavar="PLAN", help="The plan to write; of a fleet, a folder.")],
    *,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="FILE", help="Write the figures as JSON.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for people; of a fleet, a folder.")
    ] = None,
    engine: Annotated[Engine, typer.Option("--engine", help="What runs the planner.")] = Engine.SPARK,
    master: Annotated[str | None, typer.Option("--master", metavar="URL", help="Spark's master.")] = None,
    conf: Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark.")] = None,
    explain: Annotated[
        list[str] | None, typer.Option("--explain", metavar="TOPIC-PARTITION", help="Say why it is in the plan.")
    ] = None,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Propose a balanced plan from an inventory, with figures against the proven bounds."""
    from kadmin.cli.inputs import write_text
    from kadmin.cli.output import answer
    from kadmin.report.pages.html import require_renderer
    from kadmin.report.proposals import proposals_text

    if html is not None:
        require_renderer()
    _require_libraries(engine)
    wished = _read_request(request)
    options = _options(master, conf or [])
    with _stages() as tell:
        proposals = _propose(engine, wished, inventory, options, tell)
        for number, (path, plan) in enumerate(_paths(out, proposals).items(), start=1):
            tell(f"writing {path} ({number} of {len(proposals)}): {len(plan.reassignments):,} reassignments")
            write_text(path, _dump(path, plan))
    listed = [dict(proposal.figures) for proposal in proposals.values()]
    if figures is not None:
        write_text(figures, json.dumps({"clusters": listed}, indent=2, ensure_ascii=False) + "\n")
    if html is not None:
        for path, page in _pages(html, out, inventory, proposals):
            write_text(path, page)
    explained = _explained(explain or [], proposals)
    answer(
        output,
        lambda: proposals_text(listed, explained, out),
        lambda: {"clusters": listed} | ({"explained": explained} if explained else {}),
    )


def _require_libraries(engine: Engine) -> None:
    needed = ("numpy", "pyarrow") if engine is Engine.LOCAL else ("numpy", "pyarrow", "pandas", "pyspark")
    if missing := [name for name in needed if find_spec(name) is None]:
        raise UsageError(
            f"The planner needs {', '.join(missing)}, not installed here.", next_command="pip install 'kadmin[spark]'"
        )


def _read_request(path: Path) -> RebalanceRequest:
    from kadmin.cli.inputs import read_document
    from kadmin.documents import parse_document
    from kadmin.plan.model import RebalanceRequest

    document = parse_document(read_document(path), str(path))
    if not isinstance(document, RebalanceRequest):
        raise InvalidInputError(f"{path} is a plan, not a RebalanceRequest.", next_command=f"kadmin apply {path} -z ZK")
    return document


def _options(master: str | None, conf: list[str]) -> Options:
    from kadmin.planner.proposal import Options

    pairs = [setting.partition("=") for setting in conf]
    if wrong := [key for key, equals, _ in pairs if not equals or not key.startswith("spark.")]:
        raise UsageError(f"--conf {wrong[0]} is not spark.KEY=VALUE.")
    return Options(master, {key: value for key, _, value in pairs})


def _explained(wished: list[str], proposals: Mapping[str, Proposal]) -> dict[str, str]:
    """Return a sentence for each partition asked for, in each cluster of a fleet that reassigns it."""
    if not wished:
        return {}
    told: dict[str, str] = {}
    for name, proposal in proposals.items():
        for partition, why in proposal.reasons.items():
            if str(partition) in wished:
                told[f"{name}: {partition}" if name else str(partition)] = f"is in the plan because {why}"
    found = {key.rpartition(": ")[2] for key in told}
    return told | {key: "is not in the plan: it stays as it is" for key in wished if key not in found}


@contextmanager
def _stages() -> Iterator[Callable[[str], None]]:
    """Draw each stage over the last one where a terminal looks, and leave nothing behind; say nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _stage: None
        return
    started = time.monotonic()
    try:
        yield lambda stage: typer.echo(f"{_CLEARED}{time.monotonic() - started:5.1f} s  {stage}", err=True, nl=False)
    finally:
        typer.echo(_CLEARED, err=True, nl=False)


def _propose(
    engine: Engine, request: RebalanceRequest, inventory: Path, options: Options, tell: Callable[[str], None]
) -> Mapping[str, Proposal]:
    if engine is Engine.LOCAL:
        from kadmin.planner.local import propose
    else:
        from kadmin.planner.spark import propose
    return propose(request, inventory, options, tell)


def _paths(out: Path, proposals: Mapping[str, Proposal]) -> dict[Path, ReassignmentPlan]:
    return {_path(out, name, ".json"): proposal.plan for name, proposal in proposals.items()}


def _pages(html: Path, out: Path, folder: Path, proposals: Mapping[str, Proposal]) -> Iterator[tuple[Path, str]]:
    from kadmin.cli.report import plan_page_text, seen_in
    from kadmin.inventory import read_inventory
    from kadmin.plan.model import Policy

    found = read_inventory(folder)
    where = f"snapshot {folder}, taken at {found.taken_at}"
    for name, proposal in proposals.items():
        seen = seen_in(proposal.plan, found.clusters[name], where, {}, Policy())
        yield (
            _path(html, name, ".html"),
            plan_page_text(_path(out, name, ".json"), proposal.plan, seen, proposal.figures),
        )


def _path(out: Path, name: str, suffix: str) -> Path:
    """Return the file itself for a single cluster, one in the folder `out` for each of a fleet."""
    from kadmin.inventory import SINGLE_CLUSTER

    if name == SINGLE_CLUSTER:
        return out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotCompletedError(f"Cannot write {out}.", cause=error.strerror or str(error)) from error
    return out / f"{name}{suffix}"


def _dump(path: Path, plan: ReassignmentPlan) -> str:
    from kadmin.documents import dump_json, dump_yaml

    return dump_yaml(plan) if path.suffix in (".yaml", ".yml") else dump_json(plan)
