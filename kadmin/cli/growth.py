"""`kadmin propose growth`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import read_cluster_or_inventory
from kadmin.cli.inputs import write_plan
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import StalePlanError, UsageError
from kadmin.next_step import command
from kadmin.wording import name_some

TopicsArgument: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="TOPIC", help="Topics, by name or glob.")
]
PartitionsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--partitions", metavar="N", help="The partitions that each topic is to have.", min=1
    ),
]
PerBrokerOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--per-broker", metavar="N", help="As many partitions for each live broker.", min=1
    ),
]


@on_cluster
def growth(
    topics: TopicsArgument,
    out: options.PlanOut,
    *,
    partitions: PartitionsOption = None,
    per_broker: PerBrokerOption = None,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose more partitions for topics.

    They are placed where they even out the cluster; nothing that exists moves. The plan cannot be
    rolled back: Kafka removes no partition of a topic.
    """
    from kadmin.globs import first_match, matches
    from kadmin.plan.growth import propose_growth
    from kadmin.report.plans.growth import growth_answer, growth_text

    if (partitions is None) == (per_broker is None):
        raise UsageError(
            "Exactly one of --partitions and --per-broker is needed.",
            next_step="add --partitions N or --per-broker N",
        )
    state = read_cluster_or_inventory(cluster, inventory, timeout)
    if missing := [
        each for each in topics if not any(matches(name, each) for name in state.topics)
    ]:
        raise StalePlanError(
            f"The cluster has no topic {name_some(missing)}.", next_step=command("inspect topics")
        )
    chosen = [name for name in state.topics if first_match(name, topics) is not None]
    total = partitions or (per_broker or 0) * len(state.brokers)
    proposal = propose_growth(state, chosen, total)
    write_plan(out, proposal.plan)
    answer(output, lambda: growth_text(proposal, out), lambda: growth_answer(proposal, out))
