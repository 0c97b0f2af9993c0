"""`kadmin whatif lose` and `kadmin whatif plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster, require_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import read_facts, read_plan, read_sizes
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError

if TYPE_CHECKING:
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
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Predict the loss of brokers or of a rack.

    Shows the new leaders, the partitions that are offline or refuse acks=all, and the load of the
    other brokers.
    """
    from kadmin.insight.predict.whatif import brokers_lost, placements_of, predict_loss
    from kadmin.report.whatif import loss_answer, loss_text

    if not broker and not rack:
        raise UsageError("No broker or rack is named.", next_step="add --broker ID or --rack RACK")
    named = [_broker_id(each) for given in broker or () for each in given.split(",")]
    found = _read(cluster, inventory, sizes, timeout)
    lost = brokers_lost(found.state, named, rack or ())
    placements = placements_of(
        found.state, found.facts.sizes, unclean=unclean, min_insync=min_insync_replicas
    )
    loss = predict_loss(placements, found.state.brokers, lost)
    answer(output, lambda: loss_text(lost, loss), lambda: loss_answer(lost, loss))


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
    from kadmin.cluster.names import escaped
    from kadmin.operations.execute.live import read_live

    given = read_facts(sizes)
    with open_reading(require_cluster(cluster), timeout_s=timeout_s) as context:
        found = read_live(context, given)
    for reason in (*found.why_unsized, *found.facts.hidden_topics):
        typer.echo(escaped(reason), err=True)
    return found


def _broker_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise UsageError(
            f"{text!a} is not a broker id.", next_step="--broker 1 --broker 2, or --broker 1,2"
        )
    return int(text)
