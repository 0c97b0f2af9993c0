"""`kadmin inspect`: tables of a cluster's contents."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster, require_cluster
from kadmin.cli.context import open_reading, open_zookeeper, require_zookeeper
from kadmin.cli.inputs import broker_ids
from kadmin.cli.output import TableView, answer
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import NotCompletedError, UnreachableError, UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from kadmin.insight.tables.admin_nodes import AdminSurvey
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context

_CLEAR = "\x1b[2J\x1b[H"
_Found = TypeVar("_Found")
_Context = TypeVar("_Context", bound="Context")

inspect_app = typer.Typer(help="Show tables of a cluster's contents and conditions.")


WatchOption: TypeAlias = Annotated[
    bool, typer.Option("--watch", help="Refresh every 2 s, until ^C or --timeout.")
]

TABLES = {
    "brokers": "Show every broker that is registered or holds replicas.",
    "topics": "Show every topic, with counts of partitions in trouble.",
    "partitions": "Show every partition: replicas, leader, ISR, conditions.",
    "controller": "Show the controller; in KRaft mode the whole quorum.",
    "admin-entries": "Show the entries of the three admin znodes as one table.",
    "cluster": "Show the cluster's id, versions and counts.",
    "configs": "Show dynamic configs; leftovers marked, credentials hidden.",
    "consumers": "Show old consumers in ZooKeeper; with -b Kafka's groups.",
    "notifications": "Show pending notifications: config, ISR, log dir, ACL.",
    "producer-ids": "Show the last block of producer ids, and how many are left.",
    "acls": "Show Kafka's ACLs.",
}


_NEXT_STEPS: Mapping[str, NextStep | str] = {
    "admin-entries": command("inspect admin"),
    "notifications": command("inspect controller") + ": brokers learn of changes from its log",
    "producer-ids": "kafka-metadata-shell on a controller: no request of brokers shows them",
    "acls": "kafka-acls.sh --bootstrap-server BROKERS --list",
    "tree": command("inspect cluster"),
    "znode": command("inspect cluster"),
}
"""Alternatives to tables that only ZooKeeper has, for clusters that are reached through their
brokers."""


@inspect_app.command("admin")
@on_cluster
def inspect_admin(
    cluster: ClusterAddress | Fleet,
    *,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> int:
    """Show the three admin znodes, or reassignments in flight.

    With -z, shows each entry with its conditions; CSV has the rows of `inspect admin-entries`. With
    -b, shows each reassignment in flight with the operation on record that requested it.
    """
    from kadmin.report.zookeeper.admin_nodes import admin_answer, admin_text
    from kadmin.worlds.zookeeper.doctor.gather import survey_admin

    view = TableView((), (), output)
    if isinstance(cluster, Fleet):
        return _show_table(
            lambda each: "admin" if each.zookeeper is None else "admin-entries",
            cluster,
            view,
            watch=watch,
            timeout_s=timeout,
        )
    if cluster.zookeeper is None or output is options.TableFormat.CSV:
        name = "admin" if cluster.zookeeper is None else "admin-entries"
        return _show_table(lambda _: name, cluster, view, watch=watch, timeout_s=timeout)

    def render(survey: AdminSurvey) -> None:
        answer(
            options.OutputFormat(output.value),
            lambda: admin_text(survey),
            lambda: admin_answer(survey),
        )

    opened = partial(open_zookeeper, next_step=_NEXT_STEPS["admin-entries"])
    _show(opened, cluster, survey_admin, render, watch=watch, timeout_s=timeout)
    return 0


@inspect_app.command("disks")
@on_cluster
def inspect_disks(
    *,
    broker: Annotated[
        list[str] | None,
        typer.Option("--broker", metavar="ID[,ID...]", help="Disks of these brokers. Repeatable."),
    ] = None,
    cluster: ClusterAddress | Fleet | None = None,
    inventory: options.Inventory = None,
    sort: options.Sort = None,
    filters: options.Filter = None,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> int:
    """Show the disks of brokers: fill, replicas, bytes, moves.

    A disk is a log directory of `log.dirs`. The brokers are asked for them, also with -z.
    """
    from kadmin.operations.reading.disks import disks_of_snapshot
    from kadmin.operations.reading.disks import inspect_disks as read

    named = broker_ids(broker or (), "--broker 1 --broker 2, or --broker 1,2")
    view = TableView(sort or (), filters or (), output)
    if inventory is not None:
        if watch:
            raise UsageError("A snapshot does not change.", next_step="leave --watch out")
        view.show(disks_of_snapshot(inventory, named))
        return 0
    return _inspect(
        cluster if isinstance(cluster, Fleet) else require_cluster(cluster),
        lambda _: None,
        lambda _, context: read(context, named),
        view,
        watch=watch,
        timeout_s=timeout,
    )


def _table_command(name: str, words: str) -> None:
    @inspect_app.command(name, help=words)
    @on_cluster
    def show(
        cluster: ClusterAddress | Fleet,
        *,
        sort: options.Sort = None,
        filters: options.Filter = None,
        watch: WatchOption = False,
        timeout: options.WatchTimeout = None,
        output: options.TableOutput = options.TableFormat.HUMAN,
    ) -> int:
        view = TableView(sort or (), filters or (), output)
        return _show_table(lambda _: name, cluster, view, watch=watch, timeout_s=timeout)


def _show_table(
    name_for: Callable[[ClusterAddress], str],
    cluster: ClusterAddress | Fleet,
    view: TableView,
    *,
    watch: bool,
    timeout_s: float | None,
) -> int:
    def read(of: ClusterAddress, context: Context) -> Inspection:
        return context.inspect(name_for(of))

    return _inspect(
        cluster,
        lambda of: _NEXT_STEPS.get(name_for(of)),
        read,
        view,
        watch=watch,
        timeout_s=timeout_s,
    )


def _inspect(
    cluster: ClusterAddress | Fleet,
    next_step_of: Callable[[ClusterAddress], NextStep | str | None],
    read: Callable[[ClusterAddress, Any], Inspection],
    view: TableView,
    *,
    watch: bool,
    timeout_s: float | None,
) -> int:
    """Show a table of one cluster, or of several.

    `next_step_of` is the alternative to reading znodes.
    """
    if isinstance(cluster, Fleet):
        from kadmin.cli.side_by_side import highest_exit_code, read_side_by_side

        def guarded(of: ClusterAddress, context: Context) -> Inspection:
            if (next_step := next_step_of(of)) is not None:
                require_zookeeper(of, next_step)
            return read(of, context)

        options.refuse_watch(watch=watch)
        found = read_side_by_side(cluster, guarded, timeout_s or options.READ_TIMEOUT_S)
        view.show_fleet(
            {each.name: each.found for each in found if each.found is not None},
            {each.name: each.error for each in found if each.error is not None},
        )
        return highest_exit_code(each.error for each in found)
    next_step = next_step_of(cluster)
    opened = open_reading if next_step is None else partial(open_zookeeper, next_step=next_step)
    _show(
        opened,
        cluster,
        lambda context: read(cluster, context),
        view.show,
        watch=watch,
        timeout_s=timeout_s,
    )
    return 0


for _name, _words in TABLES.items():
    _table_command(_name, _words)


@inspect_app.command("tree")
@on_cluster
def inspect_tree(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The znode to start from, below the chroot.")
    ] = "/",
    *,
    cluster: ClusterAddress | Fleet,
    depth: Annotated[
        int, typer.Option("--depth", metavar="LEVELS", help="Levels below PATH to show.", min=0)
    ] = 2,
    sort: options.Sort = None,
    filters: options.Filter = None,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> int:
    """Show the znodes below a path.

    Shows size and number of children, and whether kadmin decodes the data.
    """
    from kadmin.worlds.zookeeper.inspection import inspect_tree as read

    view = TableView(sort or (), filters or (), output)
    return _inspect(
        cluster,
        lambda _: _NEXT_STEPS["tree"],
        lambda _, context: read(context, path, depth),
        view,
        watch=watch,
        timeout_s=timeout,
    )


@inspect_app.command("znode")
@on_cluster
def inspect_znode(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The znode's path, below the chroot.")
    ],
    *,
    cluster: ClusterAddress | Fleet,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> int:
    """Show one znode: its data, raw and decoded, its ACL and stat."""
    from kadmin.worlds.zookeeper.inspection import inspect_znode as read

    view = TableView((), (), output)
    return _inspect(
        cluster,
        lambda _: _NEXT_STEPS["znode"],
        lambda _, context: read(context, path),
        view,
        watch=watch,
        timeout_s=timeout,
    )


def _show(
    opened: Callable[..., AbstractContextManager[_Context]],
    cluster: ClusterAddress | Fleet,
    read: Callable[[_Context], _Found],
    render: Callable[[_Found], None],
    *,
    watch: bool,
    timeout_s: float | None,
) -> None:
    """Read and render once, or again and again with `watch`.

    Only the first read must end before the deadline.
    """
    bound_s = options.watch_bound(timeout_s, watch=watch)
    with opened(cluster, timeout_s=bound_s) as context:
        rendered = False
        while True:
            try:
                found = read(context)
            except (NotCompletedError, UnreachableError):
                if not rendered or context.clock.now() < context.clock.until:
                    raise
                typer.echo(
                    "--timeout was reached during a read; the last table is complete", err=True
                )
                return
            if watch and screen_of(sys.stdout).live:
                typer.echo(_CLEAR, nl=False)
            render(found)
            rendered = True
            if not watch or context.clock.now() + options.BETWEEN_READS_S >= context.clock.until:
                return
            context.clock.wait(options.BETWEEN_READS_S)
            # Python drops an error that a signal handler raises in a finalizer: then only the clock
            # has the signal.
            context.clock.stop_if_asked("nothing was changed")
