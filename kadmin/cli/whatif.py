"""whatif: what a loss of brokers or a plan would do; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli.options import (
    READ_TIMEOUT_S,
    BoundOption,
    OptionalZooKeeperOption,
    OutputFormat,
    OutputOption,
    PlanArgument,
    SizesOption,
)
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition

whatif_app = typer.Typer(help="What a loss of brokers or a plan would do.", no_args_is_help=True)

InventoryOption: TypeAlias = Annotated[Path | None, typer.Option("--inventory", metavar="DIR", help="A snapshot.")]
UncleanOption: TypeAlias = Annotated[
    bool, typer.Option("--unclean", help="As if unclean leader elections were allowed for every topic.")
]
MinInsyncOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--min-insync-replicas",
        metavar="N",
        help="The brokers' own min.insync.replicas: it is in no znode, and counts where a topic has none.",
        min=1,
    ),
]


@whatif_app.command("lose")
def lose(
    *,
    broker: Annotated[
        list[str] | None, typer.Option("--broker", metavar="ID[,ID...]", help="A broker; may be repeated.")
    ] = None,
    rack: Annotated[list[str] | None, typer.Option("--rack", metavar="RACK", help="A rack; may be repeated.")] = None,
    zookeeper: OptionalZooKeeperOption = None,
    inventory: InventoryOption = None,
    sizes: SizesOption = None,
    unclean: UncleanOption = False,
    min_insync_replicas: MinInsyncOption = 1,
    timeout: BoundOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Predict the loss of brokers: who leads then, what is offline, what refuses acks=all, the load of the others."""
    from kadmin.cli.output import answer
    from kadmin.insight.predict.whatif import brokers_lost, placements_of, predict_loss
    from kadmin.report.whatif import loss_answer, loss_text

    if not broker and not rack:
        raise UsageError("Nothing is lost.", next_command="add --broker ID or --rack RACK")
    named = [_broker_id(each) for given in broker or () for each in given.split(",")]
    state, known = _read(zookeeper, inventory, sizes, timeout)
    lost = brokers_lost(state, named, rack or ())
    placements = placements_of(state, known, unclean=unclean, min_insync=min_insync_replicas)
    found = predict_loss(placements, state.brokers, lost)
    answer(output, lambda: loss_text(lost, found), lambda: loss_answer(lost, found))


@whatif_app.command("plan")
def plan_(
    file: PlanArgument,
    *,
    zookeeper: OptionalZooKeeperOption = None,
    inventory: InventoryOption = None,
    sizes: SizesOption = None,
    unclean: UncleanOption = False,
    min_insync_replicas: MinInsyncOption = 1,
    timeout: BoundOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Predict what a plan does to leaders and loads, and what the loss of each broker would do before and after."""
    from kadmin.cli.inputs import read_plan
    from kadmin.cli.output import answer
    from kadmin.insight.predict.plans import planned, require_fitting
    from kadmin.insight.predict.whatif import compare, placements_of, single_losses
    from kadmin.report.whatif import plan_answer, plan_text

    plan = read_plan(file)
    state, known = _read(zookeeper, inventory, sizes, timeout)
    require_fitting(plan, state)
    before = placements_of(state, known, unclean=unclean, min_insync=min_insync_replicas)
    after = planned(plan, before, state)
    found = compare(before, after, state.brokers, state.brokers)
    losses = single_losses(before, state.brokers), single_losses(after, state.brokers)
    answer(output, lambda: plan_text(found, *losses), lambda: plan_answer(found, *losses))


def _read(
    zookeeper: str | None, inventory: Path | None, sizes: Path | None, timeout_s: float
) -> tuple[ClusterState, Mapping[TopicPartition, int]]:
    from kadmin.cli.inputs import read_sizes

    known = read_sizes(sizes)
    if inventory is not None:
        from kadmin.inventory import facts_of, read_inventory, state_of

        single = read_inventory(inventory).single()
        return state_of(single), {**facts_of(single).sizes, **known}
    if zookeeper is None:
        raise UsageError("whatif needs a cluster or a snapshot.", next_command="add --zookeeper or --inventory")
    from kadmin.cli.context import open_context
    from kadmin.cluster.names import escaped
    from kadmin.operations.reading.snapshot import ask_sizes, read_state

    with open_context(zookeeper, timeout_s=timeout_s) as context:
        state = read_state(context)
        if sizes is not None:
            return state, known
        asked, unavailable = ask_sizes(state)
    if unavailable is not None:
        typer.echo(f"bytes are not known: {escaped(unavailable)}", err=True)
    return state, asked or {}


def _broker_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{text!a} is not a broker id.", next_command="--broker 1 --broker 2, or --broker 1,2")
    return int(text)
