"""`kadmin inspect`: tables of decoded znodes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from kadmin.cli import options
from kadmin.cli.context import open_context
from kadmin.cli.output import TableView, answer
from kadmin.cli.terminal import screen_of
from kadmin.errors import NotCompletedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.zookeeper.backend import ZooKeeperContext

_CLEAR = "\x1b[2J\x1b[H"
_Found = TypeVar("_Found")

inspect_app = typer.Typer(help="Show what ZooKeeper holds, decoded, with what is wrong with it.")


WatchOption: TypeAlias = Annotated[bool, typer.Option("--watch", help="Read again every 2 s, until ^C or --timeout.")]

TABLES = {
    "brokers": "Show every broker that is registered or holds replicas.",
    "topics": "Show every topic, with counts of partitions in trouble.",
    "partitions": "Show every partition: replicas, leader, ISR, conditions.",
    "controller": "Show the controller, its epoch, and earlier controllers.",
    "admin-entries": "Show the entries of the three admin znodes as one table.",
    "cluster": "Show the cluster's id, versions and counts.",
    "configs": "Show dynamic configs; leftovers marked, credentials hidden.",
    "consumers": "Show members, owners and offsets of old consumers.",
    "notifications": "Show unread messages: config, ISR, log dir and ACL changes.",
    "producer-ids": "Show the last block of producer ids, and how many are left.",
    "acls": "Show Kafka's ACLs.",
}


@inspect_app.command("admin")
def inspect_admin(
    zookeeper: options.ZooKeeper,
    *,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show the three admin znodes, entry by entry.

    Each entry is shown with what is wrong with it. CSV has the rows of `inspect admin-entries`.
    """
    from kadmin.operations.zookeeper.doctor import AdminSurvey, survey_admin
    from kadmin.operations.zookeeper.inspect import inspect
    from kadmin.report.zookeeper.admin_nodes import admin_answer, admin_text

    if output is options.TableFormat.CSV:
        view = TableView((), (), output)
        _show(zookeeper, lambda context: inspect(context, "admin-entries"), view.show, watch=watch, timeout_s=timeout)
        return

    def render(survey: AdminSurvey) -> None:
        answer(options.OutputFormat(output.value), lambda: admin_text(survey), lambda: admin_answer(survey))

    _show(zookeeper, survey_admin, render, watch=watch, timeout_s=timeout)


def _table_command(name: str, words: str) -> None:
    @inspect_app.command(name, help=words)
    def show(
        zookeeper: options.ZooKeeper,
        *,
        sort: options.Sort = None,
        filters: options.Filter = None,
        watch: WatchOption = False,
        timeout: options.WatchTimeout = None,
        output: options.TableOutput = options.TableFormat.HUMAN,
    ) -> None:
        from kadmin.operations.zookeeper.inspect import inspect

        view = TableView(sort or (), filters or (), output)
        _show(zookeeper, lambda context: inspect(context, name), view.show, watch=watch, timeout_s=timeout)


for _name, _words in TABLES.items():
    _table_command(_name, _words)


@inspect_app.command("tree")
def inspect_tree(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The znode to start from, below the chroot.")] = "/",
    *,
    zookeeper: options.ZooKeeper,
    depth: Annotated[int, typer.Option("--depth", metavar="LEVELS", help="Levels below PATH to show.", min=0)] = 2,
    sort: options.Sort = None,
    filters: options.Filter = None,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show the znodes below a path.

    Shows size and number of children, and whether kadmin decodes the data.
    """
    from kadmin.operations.zookeeper.inspect import inspect_tree as read

    view = TableView(sort or (), filters or (), output)
    _show(zookeeper, lambda context: read(context, path, depth), view.show, watch=watch, timeout_s=timeout)


@inspect_app.command("znode")
def inspect_znode(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The znode's path, below the chroot.")],
    *,
    zookeeper: options.ZooKeeper,
    watch: WatchOption = False,
    timeout: options.WatchTimeout = None,
    output: options.TableOutput = options.TableFormat.HUMAN,
) -> None:
    """Show one znode: its data, raw and decoded, its ACL and stat."""
    from kadmin.operations.zookeeper.inspect import inspect_znode as read

    view = TableView((), (), output)
    _show(zookeeper, lambda context: read(context, path), view.show, watch=watch, timeout_s=timeout)


def _show(
    zookeeper: str,
    read: Callable[[ZooKeeperContext], _Found],
    render: Callable[[_Found], None],
    *,
    watch: bool,
    timeout_s: float | None,
) -> None:
    """Read and render once, or again and again with `watch`; only the first read must end before the deadline."""
    bound_s = options.watch_bound(timeout_s, watch=watch)
    with open_context(zookeeper, timeout_s=bound_s) as context:
        rendered = False
        while True:
            try:
                found = read(context)
            except (NotCompletedError, UnreachableError):
                if not rendered or context.clock.now() < context.clock.until:
                    raise
                typer.echo("--timeout was reached during a read; the last table is complete", err=True)
                return
            if watch and screen_of(sys.stdout).live:
                typer.echo(_CLEAR, nl=False)
            render(found)
            rendered = True
            if not watch or context.clock.now() + options.BETWEEN_READS_S >= context.clock.until:
                return
            context.clock.wait(options.BETWEEN_READS_S)
            # Python drops what a signal raised where it came in a finalizer: then the clock alone knows of it.
            context.clock.stop_if_asked("nothing was changed")
