"""propose election: the partitions whose leader is not the preferred one and could be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli.options import READ_TIMEOUT_S, BoundOption, OptionalZooKeeperOption, OutputFormat, OutputOption
from kadmin.errors import UsageError


def propose_election(
    out: Annotated[Path, typer.Option("--out", metavar="PLAN", help="The plan to write, .yaml or .json.")],
    *,
    zookeeper: OptionalZooKeeperOption = None,
    inventory: Annotated[Path | None, typer.Option("--inventory", metavar="DIR", help="A snapshot.")] = None,
    timeout: BoundOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Write an election of what is off and can be elected: preferred replica alive and in sync."""
    from kadmin.cli.inputs import write_plan
    from kadmin.cli.output import answer
    from kadmin.plan.election import propose_election as propose
    from kadmin.report.proposals import election_answer, election_text

    if inventory is not None:
        from kadmin.inventory import read_inventory, state_of

        state = state_of(read_inventory(inventory).single())
    elif zookeeper is not None:
        from kadmin.cli.context import open_context
        from kadmin.operations.reading.snapshot import read_state

        with open_context(zookeeper, timeout_s=timeout) as context:
            state = read_state(context)
    else:
        raise UsageError("An election needs a cluster or a snapshot.", next_command="add --zookeeper or --inventory")
    proposal = propose(state)
    write_plan(out, proposal.plan)
    answer(output, lambda: election_text(proposal, out), lambda: election_answer(proposal, out))
