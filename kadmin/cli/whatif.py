"""`kadmin whatif lose` and `kadmin whatif plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster, require_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import broker_ids, read_facts, read_plan, read_sizes
from kadmin.cli.output import answer, note
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import NotCompletedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kadmin.insight.predict.losses import PlacedPartition
    from kadmin.insight.predict.stop import StopObstacle, StopReason
    from kadmin.plan.rules import ClusterView

whatif_app = typer.Typer(help="Predict the effect of a loss of brokers, or of a plan.")

UncleanOption: TypeAlias = Annotated[
    bool, typer.Option("--unclean", help="Assume that every topic allows unclean leader elections.")
]
MinInsyncOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--min-insync-replicas",
        metavar="N",
        help=(
            "min.insync.replicas of topics without a value of their own, if the cluster does not "
            "report its default."
        ),
        min=1,
    ),
]
FailOnOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="LIST",
        help=(
            "Exit with 8 where a partition is one of these: offline, under-min-isr, unclean, "
            "separated by commas."
        ),
    ),
]


@whatif_app.command("lose")
@on_cluster
def lose(
    *,
    broker: Annotated[
        list[str] | None,
        typer.Option("--broker", metavar="ID[,ID...]", help="Brokers that are lost. Repeatable."),
    ] = None,
    rack: Annotated[
        list[str] | None,
        typer.Option("--rack", metavar="RACK", help="A rack whose brokers are lost. Repeatable."),
    ] = None,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    sizes: options.Sizes = None,
    unclean: UncleanOption = False,
    min_insync_replicas: MinInsyncOption = 1,
    fail_on: FailOnOption = None,
    margin: options.Margin = 0,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Predict the loss of brokers or of a rack.

    Shows the new leaders, the partitions that are offline or refuse acks=all, and the load of the
    other brokers. With --fail-on, lists the partitions that forbid the loss, as `broker check
    --stop` does; one that cannot be judged is among them.
    """
    from kadmin.insight.predict.whatif import brokers_lost, placements_of, predict_loss
    from kadmin.report.whatif import loss_answer, loss_text

    if not broker and not rack:
        raise UsageError("No broker or rack is named.", next_step="add --broker ID or --rack RACK")
    named = broker_ids(broker or (), "--broker 1 --broker 2, or --broker 1,2")
    fatal = _reasons(fail_on, margin)
    found = _read(cluster, inventory, sizes, timeout)
    lost = brokers_lost(found.state, named, rack or ())
    placements = placements_of(
        found.state, found.facts.sizes, unclean=unclean, min_insync=min_insync_replicas
    )
    loss = predict_loss(placements, found.state.brokers, lost)
    obstacles = _obstacles(found, placements, lost, fatal, margin) if fatal else None
    answer(
        output,
        lambda: loss_text(lost, loss, obstacles or ()),
        lambda: loss_answer(lost, loss, obstacles),
    )
    return NotCompletedError.exit_code if obstacles else 0


@whatif_app.command("plan")
@on_cluster
def plan_(
    file: options.PlanFile,
    *,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    sizes: options.Sizes = None,
    unclean: UncleanOption = False,
    min_insync_replicas: MinInsyncOption = 1,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Predict the leaders, the loads and the risk after a plan.

    The risk is the effect of the loss of each single broker, before and after the plan.
    """
    from kadmin.insight.predict.plans import planned, require_fitting
    from kadmin.insight.predict.whatif import compare, placements_of, single_losses
    from kadmin.report.whatif import plan_answer, plan_text

    plan = read_plan(file)
    found = _read(cluster, inventory, sizes, timeout)
    state = found.state
    require_fitting(plan, state)
    before = placements_of(
        state, found.facts.sizes, unclean=unclean, min_insync=min_insync_replicas
    )
    after = planned(plan, before, state)
    change = compare(before, after, state.brokers, state.brokers)
    losses = single_losses(before, state.brokers), single_losses(after, state.brokers)
    answer(output, lambda: plan_text(change, *losses), lambda: plan_answer(change, *losses))


def _read(
    cluster: ClusterAddress | None, inventory: Path | None, sizes: Path | None, timeout_s: float
) -> ClusterView:
    if inventory is not None:
        from kadmin.operations.reading.preview import read_snapshot

        return read_snapshot(inventory, read_sizes(sizes))
    from kadmin.operations.execute.live import read_live

    given = read_facts(sizes)
    with open_reading(require_cluster(cluster), timeout_s=timeout_s) as context:
        found = read_live(context, given)
    note((*found.why_unsized, *found.facts.hidden_topics))
    return found


def _reasons(fail_on: str | None, margin: int) -> frozenset[StopReason]:
    """Return the reasons of --fail-on, and that of what cannot be judged; none without it."""
    from kadmin.insight.predict.stop import StopReason

    if fail_on is None:
        if margin:
            raise UsageError("--margin goes with --fail-on.", next_step="--fail-on under-min-isr")
        return frozenset()
    names = [
        reason.value
        for reason in (StopReason.OFFLINE, StopReason.UNDER_MIN_ISR, StopReason.UNCLEAN)
    ]
    named = fail_on.split(",")
    for each in named:
        if each not in names:
            raise UsageError(
                f"{each!a} is none of {', '.join(names)}.", next_step=f"--fail-on {','.join(names)}"
            )
    return frozenset({*map(StopReason, named), StopReason.UNKNOWN})


def _obstacles(
    found: ClusterView,
    placements: tuple[PlacedPartition, ...],
    lost: Sequence[int],
    reasons: Collection[StopReason],
    margin: int,
) -> tuple[StopObstacle, ...]:
    """Return what forbids the loss for one of the reasons."""
    from kadmin.insight.predict.stop import StopEvidence, judge_stop

    doubts = found.facts.hidden_topics
    evidence = StopEvidence(placements, frozenset(found.state.brokers), doubts=doubts)
    judged = judge_stop(evidence, lost, margin).obstacles
    return tuple(each for each in judged if each.reason in reasons)
