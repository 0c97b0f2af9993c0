"""`kadmin propose demotion`."""

from __future__ import annotations

from typing import Annotated

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import read_cluster_or_inventory
from kadmin.cli.inputs import write_plan
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError


@on_cluster
def demotion(
    out: options.PlanOut,
    *,
    broker: Annotated[
        list[int] | None,
        typer.Option("--broker", metavar="ID", help="Demote this broker. Repeatable.", min=0),
    ] = None,
    rack: Annotated[
        list[str] | None,
        typer.Option("--rack", metavar="RACK", help="Demote the brokers of a rack. Repeatable."),
    ] = None,
    keep_racks: Annotated[
        bool,
        typer.Option(
            "--keep-racks", help="Choose new leaders in the rack of the old one where it has one."
        ),
    ] = False,
    cluster: ClusterAddress | None = None,
    inventory: options.Inventory = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose a plan that only takes the leaders of brokers.

    Their partitions keep their replicas: the lists are reordered, and the other brokers lead as
    evenly as the lists allow. `kadmin rollback` restores the lists and the leaders.
    """
    from kadmin.insight.predict.whatif import brokers_lost
    from kadmin.plan.demotion import propose_demotion
    from kadmin.report.proposals import demotion_answer, demotion_text

    if not broker and not rack:
        raise UsageError("No broker or rack is named.", next_step="add --broker ID or --rack RACK")
    state = read_cluster_or_inventory(cluster, inventory, timeout)
    proposal = propose_demotion(
        state, brokers_lost(state, broker or (), rack or ()), keep_racks=keep_racks
    )
    write_plan(out, proposal.plan)
    answer(output, lambda: demotion_text(proposal, out), lambda: demotion_answer(proposal, out))
