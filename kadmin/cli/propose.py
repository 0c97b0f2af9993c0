"""`kadmin propose rebalance` and `election`; the other proposals are beside this module."""

from __future__ import annotations

import re
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import read_cluster_or_inventory
from kadmin.cli.deadline import bounded
from kadmin.cli.decommission import decommission
from kadmin.cli.demotion import demotion
from kadmin.cli.growth import growth
from kadmin.cli.inputs import make_folder, read_policy, read_request, write_plan, write_text
from kadmin.cli.maintenance import maintenance
from kadmin.cli.output import answer
from kadmin.cli.recovery import recovery
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import NotCompletedError, UsageError
from kadmin.planner.engine_choice import Engine, choose_engine
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from kadmin.plan.model import Policy, ReassignmentPlan, RebalanceRequest
    from kadmin.planner.proposal import Options, Proposal

_CONNECT_URL = re.compile(r"sc://([^/;:]+|\[[0-9A-Fa-f:.]+\])(:\d+)?(/|$)")
_CLEARED = "\r\x1b[K"

propose_app = typer.Typer(help="Propose a plan: partitions to move, elect, demote or add.")


class HeldOut(StrEnum):
    """The week of a load history that takes no part in the plan."""

    LAST_WEEK = "LAST_WEEK"


RequestArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="REQUEST", help="The RebalanceRequest; - reads standard input.")
]
PlannedInventoryOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--inventory", metavar="DIR", help="The inventory to plan on, of one cluster or of a fleet."
    ),
]
OutOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--out", metavar="PLAN", help="The plan to write, .yaml or .json; of a fleet, a folder."
    ),
]
FiguresOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--figures", metavar="FILE", help="Also write the figures, as JSON, to this file."
    ),
]
PagesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Also write an HTML page to this file; of a fleet, a folder."
    ),
]
EngineOption: TypeAlias = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Where the planner runs; all give the same plan. auto: in this process for one "
        "cluster, on Spark for a fleet, for millions of partitions and with Spark's options.",
    ),
]
MasterOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark's master. Default: on this machine."),
]
RemoteOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="sc://HOST:PORT", help="A Spark Connect server, instead of --master."
    ),
]
ConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A Spark setting. Repeatable."),
]
ExplainOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--explain", metavar="TOPIC-PARTITION", help="Explain why the plan moves it. Repeatable."
    ),
]


HoldoutOption: TypeAlias = Annotated[
    HeldOut | None,
    typer.Option(
        "--holdout",
        case_sensitive=False,
        help="Plan without the last week of the load history, and evaluate the plan on that week.",
    ),
]


ExitCodeOption: TypeAlias = Annotated[
    bool,
    typer.Option("--exit-code", help="End with 8 where spec.only_if finds nothing worth moving."),
]


@propose_app.command()
@bounded
def rebalance(
    request: RequestArgument,
    inventory: PlannedInventoryOption,
    out: OutOption,
    *,
    figures: FiguresOption = None,
    html: PagesOption = None,
    engine: EngineOption = Engine.AUTO,
    master: MasterOption = None,
    remote: RemoteOption = None,
    conf: ConfOption = None,
    explain: ExplainOption = None,
    holdout: HoldoutOption = None,
    exit_code: ExitCodeOption = False,
    policy: options.Policy = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Propose a balanced reassignment for an inventory.

    Shows the figures before and after, next to proven bounds. With spec.only_if no plan is written
    that gains less load than that.
    """
    from kadmin.planner.explain import explain as explain_partitions
    from kadmin.report.pages.html import require_renderer
    from kadmin.report.proposals import is_worth, proposals_answer, proposals_text

    if html is not None:
        require_renderer()
    require_libraries(spark_libraries(remote) if engine is Engine.SPARK else LOAD_LIBRARIES)
    wanted = _request(request, holdout, exit_code=exit_code)
    settings, rules = spark_options(master, remote, conf or []), read_policy(policy)
    chosen = _engine(wanted, inventory, settings) if engine is Engine.AUTO else engine
    with stages() as show:
        proposals = _propose(chosen, wanted, inventory, settings, show, rules)
        worth = {name: each for name, each in proposals.items() if is_worth(each.figures)}
        paths = _paths(out, worth, ".json")
        _write_plans(paths, worth, show)
    listed = [dict(proposal.figures) for proposal in proposals.values()]
    _write_figures(figures, listed)
    if html is not None:
        _write_pages(html, worth, inventory, paths)
    explained = explain_partitions(explain or [], proposals)
    (warnings,) = {proposal.warnings for proposal in proposals.values()}
    throttled = wanted.throttle is not None
    answer(
        output,
        lambda: proposals_text(listed, explained, warnings, inventory, out, throttled=throttled),
        lambda: proposals_answer(listed, explained, warnings),
    )
    return NotCompletedError.exit_code if exit_code and not worth else 0


@propose_app.command()
@on_cluster
def election(
    out: options.PlanOut,
    *,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose an election of preferred leaders.

    The plan lists partitions that are not led by their preferred replica although it is alive and
    in sync.
    """
    from kadmin.plan.election import propose_election
    from kadmin.report.proposals import election_answer, election_text

    proposal = propose_election(read_cluster_or_inventory(cluster, inventory, timeout))
    write_plan(out, proposal.plan)
    answer(output, lambda: election_text(proposal, out), lambda: election_answer(proposal, out))


propose_app.command()(demotion)
propose_app.command()(maintenance)
propose_app.command()(decommission)
propose_app.command()(recovery)
propose_app.command()(growth)


def _request(path: Path, held_out: HeldOut | None, *, exit_code: bool) -> RebalanceRequest:
    request = read_request(path)
    if exit_code and request.only_if is None:
        raise UsageError(
            f"--exit-code is of spec.only_if, and {path} has none.",
            next_step="leave --exit-code out, or add spec.only_if",
        )
    if held_out is None:
        return request
    if request.load is None:
        raise UsageError(
            f"--holdout {held_out} is of a load history, and {path} asks for none.",
            next_step="leave --holdout out, or name the folder of a load history in spec.load.from",
        )
    return replace(request, load=replace(request.load, hold_out=True))


LOAD_LIBRARIES = ("numpy", "pyarrow")
"""The libraries that read a load history, and that the local engine needs."""


def spark_libraries(remote: str | None) -> tuple[str, ...]:
    """Return the libraries that Spark needs, on a Spark Connect server or not."""
    connect = () if remote is None else ("grpc", "grpc_status", "google.rpc", "zstandard")
    return ("numpy", "pyarrow", "pandas", "pyspark", *connect)


def require_libraries(needed: Sequence[str], what: str = "The planner") -> None:
    """Raise UsageError where a library is not installed, which `what` needs."""
    if missing := missing_libraries(needed):
        extras = {"planner": LOAD_LIBRARIES, "spark": spark_libraries(None)}
        extra = next(
            (name for name, libraries in extras.items() if set(needed) <= set(libraries)), "connect"
        )
        raise UsageError(
            f"{what} needs {', '.join(missing)}, not installed here.",
            next_step=f"pip install 'kadmin-kafka[{extra}]'",
        )


def missing_libraries(needed: Sequence[str]) -> list[str]:
    """Return the libraries that are not installed."""
    return [name for name in needed if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def spark_options(master: str | None, remote: str | None, conf: list[str]) -> Options:
    """Return the options to start or reach Spark; raises UsageError for invalid ones."""
    from kadmin.planner.proposal import Options, server_of

    if master is not None and remote is not None:
        raise UsageError(
            "--master and --remote exclude each other: a Spark Connect server has its own master."
        )
    if remote is not None and _CONNECT_URL.match(remote) is None:
        raise UsageError(f"--remote {server_of(remote)} is not sc://HOST:PORT.")
    pairs = [setting.partition("=") for setting in conf]
    if wrong := [key for key, equals, _ in pairs if not equals or not key.startswith("spark.")]:
        raise UsageError(f"--conf {wrong[0]} is not spark.KEY=VALUE.")
    return Options(master, {key: value for key, _, value in pairs}, remote=remote)


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """Show the current stage in one line of a terminal, cleared at the end.

    Elsewhere show nothing.
    """
    if not screen_of(sys.stderr).live:
        yield lambda _stage: None
        return
    started = time.monotonic()
    try:
        yield lambda stage: typer.echo(
            f"{_CLEARED}{time.monotonic() - started:5.1f} s  {stage}", err=True, nl=False
        )
    finally:
        typer.echo(_CLEARED, err=True, nl=False)


def _engine(request: RebalanceRequest, inventory: Path, settings: Options) -> Engine:
    """Choose an engine, and say on stderr which and why."""
    engine, reason = choose_engine(request, inventory, settings)
    if reason is not None:
        typer.echo(reason, err=True)
    if engine is Engine.SPARK:
        require_libraries(spark_libraries(settings.remote))
    return engine


def _propose(
    engine: Engine,
    request: RebalanceRequest,
    inventory: Path,
    settings: Options,
    show: Callable[[str], None],
    policy: Policy,
) -> Mapping[str, Proposal]:
    if engine is Engine.LOCAL:
        from kadmin.planner.local import propose
    else:
        from kadmin.planner.spark import propose
    return propose(request, inventory, settings, show, policy)


def _write_plans(
    paths: Mapping[str, Path], proposals: Mapping[str, Proposal], show: Callable[[str], None]
) -> None:
    for number, (name, path) in enumerate(paths.items(), start=1):
        plan = proposals[name].plan
        show(
            f"writing {path} ({number} of {len(proposals)}): "
            f"{count(len(plan.reassignments), 'reassignment')}"
        )
        write_text(path, _dump(path, plan))


def _write_figures(path: Path | None, figures: Sequence[Mapping[str, Any]]) -> None:
    from kadmin.schema.shapes import to_json

    if path is not None:
        write_text(path, to_json({"clusters": figures}) + "\n")


def _write_pages(
    html: Path, proposals: Mapping[str, Proposal], inventory: Path, plans: Mapping[str, Path]
) -> None:
    from kadmin.report.pages.reports import proposal_reports

    pages = _paths(html, proposals, ".html")
    for name, page in proposal_reports(proposals, inventory, plans):
        write_text(pages[name], page)


def _paths(out: Path, names: Collection[str], suffix: str) -> dict[str, Path]:
    """Return the file of each cluster.

    `out` for a single one, one in the folder `out` for each of a fleet.
    """
    from kadmin.inventory import SINGLE_CLUSTER

    if not names:
        return {}
    fleet = [name for name in names if name != SINGLE_CLUSTER]
    if not fleet:
        return {SINGLE_CLUSTER: out}
    make_folder(out)
    return {name: out / f"{name}{suffix}" for name in fleet}


def _dump(path: Path, plan: ReassignmentPlan) -> str:
    from kadmin.documents import dump_json, dump_yaml

    return dump_yaml(plan) if path.suffix in (".yaml", ".yml") else dump_json(plan)
