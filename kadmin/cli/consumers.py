"""`kadmin consumers preview`, `coordinator` and `disturbed`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading, open_zookeeper
from kadmin.cli.inputs import read_plan
from kadmin.cli.output import TableView
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError
from kadmin.insight.predict.strategy import Strategy
from kadmin.next_step import command

consumers_app = typer.Typer(help="Preview consumer assignments; show groups a plan disrupts.")


GroupOption: TypeAlias = Annotated[
    str,
    typer.Option("--group", metavar="GROUP", help="The group; its members register in ZooKeeper."),
]
AddPartitionsOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--add-partitions", metavar="N", help="Partitions to add to each of its topics.", min=0
    ),
]
MembersOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--members", metavar="N", help="Assume this number of members, not the live ones.", min=1
    ),
]
LoseOption: TypeAlias = Annotated[
    str | None, typer.Option("--lose", metavar="MEMBER", help="Assume that this member leaves.")
]
StrategyOption: TypeAlias = Annotated[
    Strategy, typer.Option("--strategy", help="The group's partition.assignment.strategy.")
]


@consumers_app.command("preview")
@on_cluster
def preview(
    cluster: ClusterAddress,
    *,
    group: GroupOption,
    add_partitions: AddPartitionsOption = 0,
    members: MembersOption = None,
    lose: LoseOption = None,
    strategy: StrategyOption = Strategy.RANGE,
    sort: options.Sort = None,
    filters: options.Filter = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show the owner of each partition before and after a change.

    A change adds partitions, sets another number of members, or removes a member.
    """
    from kadmin.cluster.names import one_line
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.worlds.zookeeper.old_consumers import Change
    from kadmin.worlds.zookeeper.old_consumers import preview as look

    if not (add_partitions or members or lose):
        raise UsageError(
            "No change is named.", next_step="add --add-partitions N, --members N or --lose MEMBER"
        )
    with open_zookeeper(
        cluster, command("consumers disturbed", "PLAN"), timeout_s=timeout
    ) as context:
        found = look(context, group, Change(add_partitions, members, lose), strategy)
    idle_threads = [one_line(thread) for thread in found.idle]
    more = {"changed": found.changed, "idle": idle_threads}
    TableView(sort or (), filters or (), output).show(Inspection(found.table, (), more=more))
    idle = f"; idle then: {', '.join(idle_threads)}" if idle_threads else ""
    typer.echo(
        f"partitions that change hands: {found.changed} of {len(found.table.rows)}{idle}", err=True
    )


@consumers_app.command("coordinator")
@on_cluster
def coordinator(
    groups: Annotated[
        list[str], typer.Argument(metavar="GROUP", help="Names of groups; they need not exist.")
    ],
    *,
    cluster: ClusterAddress,
    sort: options.Sort = None,
    filters: options.Filter = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show the broker that coordinates each group.

    It is the leader of the group's partition of __consumer_offsets.
    """
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.operations.reading.consumers import coordinators

    with open_reading(cluster, timeout_s=timeout) as context:
        found = coordinators(context, groups)
    TableView(sort or (), filters or (), output).show(Inspection(found, ()))


@consumers_app.command("disturbed")
@on_cluster
def disturbed(
    file: options.PlanFile,
    *,
    cluster: ClusterAddress,
    sort: options.Sort = None,
    filters: options.Filter = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show the groups that a plan disrupts.

    The plan moves a partition that the group reads, changes the leader of one, or the group's
    coordinator, or adds partitions to its topics.
    """
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.operations.reading.consumers import disturbances
    from kadmin.wording import count

    plan = read_plan(file)
    with open_reading(cluster, timeout_s=timeout) as context:
        table, unavailable = disturbances(context, plan)
    TableView(sort or (), filters or (), output).show(Inspection(table, (), unavailable))
    concerned = {row[:2] for row in table.rows}
    typer.echo(f"{count(len(concerned), 'group')} disrupted by this plan", err=True)
