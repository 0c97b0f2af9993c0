"""`kadmin propose decommission`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import read_cluster_or_inventory
from kadmin.cli.inputs import read_plan, read_throttle, write_plan
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import InvalidInputError, StalePlanError
from kadmin.next_step import command
from kadmin.wording import name_some

BrokersOption: TypeAlias = Annotated[
    list[int],
    typer.Option("--broker", metavar="ID", help="A broker that leaves. Repeatable.", min=0),
]
ThrottleOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--throttle", metavar="RATE", help="The rate of the drain: 50MB/s, or MIN..MAX."),
]
DrainOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--drain",
        metavar="PLAN",
        help="The reassignment that drains them, as propose rebalance makes it. Default: one copy "
        "for each replica, brokers and leaders even.",
    ),
]


@on_cluster
def decommission(
    broker: BrokersOption,
    out: options.PlanOut,
    *,
    throttle: ThrottleOption = None,
    drain: DrainOption = None,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose a plan with which brokers leave the cluster for good.

    They are cordoned, drained, proved empty, stopped by a person, and unregistered.
    """
    from kadmin.plan.drain import propose_decommission
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import ReassignmentPlan
    from kadmin.plan.rules import ClusterView
    from kadmin.report.proposals import decommission_answer, decommission_text

    given = None if drain is None else read_plan(drain)
    if given is not None and not isinstance(given, ReassignmentPlan):
        raise InvalidInputError(f"{drain} is no PartitionReassignment.")
    spec = None if throttle is None else read_throttle(rate=throttle)
    state = read_cluster_or_inventory(cluster, inventory, timeout)
    known = ClusterView(state, ClusterFacts()).racks
    if unknown := sorted(set(broker) - known.keys()):
        raise StalePlanError(
            f"The cluster has no broker {name_some(unknown)}.",
            cause=f"its brokers are {name_some(sorted(known), most=10)}",
            next_step=command("broker list"),
        )
    proposal = propose_decommission(state, broker, spec, given)
    write_plan(out, proposal.plan)
    answer(
        output,
        lambda: decommission_text(proposal, out),
        lambda: decommission_answer(proposal, out),
    )
