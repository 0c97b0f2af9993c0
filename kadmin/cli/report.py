"""report, and the pages of `diff --html` and `propose rebalance --html`: one HTML file; nothing is changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from kadmin.cli.deadline import alarm
from kadmin.cli.options import READ_TIMEOUT_S, OptionalZooKeeperOption, PolicyOption, SizesOption, TimeoutOption
from kadmin.errors import InvalidInputError, StalePlanError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.inventory import ClusterInventory
    from kadmin.operations.context import Context
    from kadmin.operations.decide.examine import Examination
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy

HtmlOption: TypeAlias = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page for people here, too.")
]


@dataclass(frozen=True, slots=True)
class Seen:
    """A plan examined on a state that was read `where`."""

    where: str
    state: ClusterState
    facts: ClusterFacts
    found: Examination


def report(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[ID|PLAN]", help="An operation, the last if left out; or a plan, with --inventory."),
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write; stdout if absent.")] = None,
    zookeeper: OptionalZooKeeperOption = None,
    inventory: Annotated[Path | None, typer.Option("--inventory", metavar="DIR", help="A snapshot.")] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="FILE", help="The plan's figures, as propose wrote them.")
    ] = None,
    sizes: SizesOption = None,
    policy: PolicyOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Write one HTML file that says what an operation did, or what a plan would do to a snapshot."""
    from kadmin.cli.inputs import read_sizes, write_text
    from kadmin.report.pages.html import require_renderer

    require_renderer()
    known = read_sizes(sizes)
    if inventory is not None:
        if what is None:
            raise UsageError("A snapshot needs a plan.", next_command="kadmin report PLAN --inventory DIR")
        with alarm(timeout):
            text = _plan_text(Path(what), inventory, known, policy, figures)
    elif zookeeper is None:
        raise UsageError(
            "report needs a cluster or a snapshot.",
            next_command="kadmin report ID -z ZK, or kadmin report PLAN --inventory DIR",
        )
    elif what is not None and Path(what).is_file():
        raise UsageError("A plan needs a snapshot here.", next_command=f"kadmin diff {what} --html FILE -z ZK")
    elif figures is not None:
        raise UsageError("--figures goes with a plan and --inventory.", next_command="kadmin report --help")
    else:
        from kadmin.cli.context import open_context

        with open_context(zookeeper, timeout_s=READ_TIMEOUT_S if timeout is None else timeout) as context:
            text = _operation_text(context, what, known)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"{out}: {len(text.encode()) / 1000:,.0f} kB")


def seen_in_inventory(plan: Plan, folder: Path, known: Mapping[TopicPartition, int], rules: Policy) -> Seen:
    """Examine a plan on a snapshot of one cluster."""
    from kadmin.inventory import read_inventory

    found = read_inventory(folder)
    return seen_in(plan, found.single(), f"snapshot {folder}, taken at {found.taken_at}", known, rules)


def seen_in(
    plan: Plan, cluster: ClusterInventory, where: str, known: Mapping[TopicPartition, int], rules: Policy
) -> Seen:
    """Examine a plan on one cluster of an inventory."""
    from kadmin.inventory import facts_of, state_of
    from kadmin.operations.decide.examine import examine

    state, facts = state_of(cluster), facts_of(cluster)
    facts = replace(facts, sizes={**facts.sizes, **known})
    return Seen(where, state, facts, examine(plan, state, facts, rules))


def seen_live(context: Context, plan: Plan, known: Mapping[TopicPartition, int], rules: Policy, *, ask: bool) -> Seen:
    """Examine a plan on a live cluster; `ask` the brokers for the sizes that a page shows."""
    from kadmin.operations.execute.apply import prepare
    from kadmin.plan.facts import ClusterFacts

    preview = prepare(context, plan, known, rules)
    sizes, unavailable = _sizes(preview.state, known) if ask else (known, "")
    where = f"the live cluster, at {context.clock.timestamp()}{unavailable}"
    return Seen(where, preview.state, ClusterFacts(sizes=sizes), preview.examination)


def plan_page_text(source: Path, plan: Plan, seen: Seen, figures: Mapping[str, Any] | None = None) -> str:
    """Return the page of a plan from that file."""
    from kadmin.insight.predict.forecast import forecast
    from kadmin.report.pages.html import render
    from kadmin.report.pages.plan_page import PlanFacts, plan_page

    facts = PlanFacts(plan, str(source), seen.where, seen.state.cluster_id, figures)
    return render(plan_page(facts, seen.found, forecast(plan, seen.state, seen.facts.sizes, seen.facts.capacities)))


def _plan_text(
    path: Path, folder: Path, known: Mapping[TopicPartition, int], policy: Path | None, figures: Path | None
) -> str:
    from kadmin.cli.inputs import read_plan, read_policy

    plan, rules = read_plan(path), read_policy(policy)
    seen = seen_in_inventory(plan, folder, known, rules)
    told = None if figures is None else _read_figures(figures, seen.state.cluster_id)
    return plan_page_text(path, plan, seen, told)


def _read_figures(path: Path, cluster_id: str | None) -> Mapping[str, Any]:
    from kadmin.cli.inputs import read_document
    from kadmin.schema import validate_value

    try:
        value = json.loads(read_document(path))
    except ValueError as error:
        raise InvalidInputError(f"{path} is not JSON.", cause=str(error)) from error
    if validate_value(value, "answers/figures"):
        raise InvalidInputError(
            f"{path} holds no figures of kadmin.", next_command="kadmin propose rebalance ... --figures FILE"
        )
    for each in value["clusters"]:
        if each["cluster_id"] == cluster_id:
            found: dict[str, Any] = each
            return found
    raise StalePlanError(f"{path} holds no figures of cluster {cluster_id}.")


def _operation_text(context: Context, operation_id: str | None, known: Mapping[TopicPartition, int]) -> str:
    from kadmin.insight.predict.forecast import retrospect
    from kadmin.operations.reading.snapshot import read_state
    from kadmin.operations.record.timeline import progress_of, read_timeline
    from kadmin.report.pages.html import render
    from kadmin.report.pages.operation_page import operation_page

    state = read_state(context)
    found = read_timeline(context, operation_id)
    sizes, unavailable = _sizes(state, known) if found.targets else (known, "")
    forecast = retrospect(found.record.origin, state, sizes, {})
    read_at = f"at {context.clock.timestamp()}{unavailable}"
    return render(operation_page(found, forecast, progress_of(found, state), read_at))


def _sizes(state: ClusterState, known: Mapping[TopicPartition, int]) -> tuple[Mapping[TopicPartition, int], str]:
    """Return what the brokers say, `known` first, and why they could not be asked."""
    from kadmin.operations.reading.snapshot import ask_sizes

    asked, unavailable = ask_sizes(state)
    return {**(asked or {}), **known}, f"; brokers told no sizes: {unavailable}" if unavailable else ""
