"""`kadmin propose maintenance`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import read_cluster_or_inventory
from kadmin.cli.inputs import read_throttle, write_plan
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError

BrokerOption: TypeAlias = Annotated[
    list[int] | None,
    typer.Option("--broker", metavar="ID", help="A broker, a round of its own. Repeatable.", min=0),
]
RackOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rack", metavar="RACK", help="A rack, whose brokers are one round. Repeatable."),
]
ThrottleOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--throttle", metavar="RATE", help="The rate of the catch-up: 50MB/s, or MIN..MAX."
    ),
]
MarginOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--margin",
        metavar="N",
        help="In-sync replicas that partitions keep beyond min.insync.replicas.",
        min=0,
    ),
]


@on_cluster
def maintenance(
    out: options.PlanOut,
    *,
    broker: BrokerOption = None,
    rack: RackOption = None,
    throttle: ThrottleOption = None,
    margin: MarginOption = 0,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose a plan to stop and start brokers.

    Each round gives the leaders of its brokers to others, waits until they were stopped and
    started, limits their catch-up, and gives the leaders back.
    """
    from kadmin.insight.predict.whatif import brokers_lost
    from kadmin.plan.demotion import propose_maintenance
    from kadmin.report.proposals import maintenance_answer, maintenance_text

    if not broker and not rack:
        raise UsageError("No broker or rack is named.", next_step="add --broker ID or --rack RACK")
    spec = None if throttle is None else read_throttle(rate=throttle)
    state = read_cluster_or_inventory(cluster, inventory, timeout)
    rounds = [
        *(brokers_lost(state, [each], ()) for each in broker or ()),
        *(brokers_lost(state, (), [each]) for each in rack or ()),
    ]
    plan = propose_maintenance(state, rounds, spec, margin)
    write_plan(out, plan)
    answer(output, lambda: maintenance_text(plan, out), lambda: maintenance_answer(plan, out))
