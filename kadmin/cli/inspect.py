"""inspect: znodes decoded, as tables that are sorted, filtered, and shown again while one looks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from kadmin.cli.options import READ_TIMEOUT_S, OutputFormat, ZooKeeperOption
from kadmin.errors import NotCompletedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kadmin.operations.zookeeper.backend import ZooKeeperContext
    from kadmin.operations.zookeeper.inspect import Inspection

BETWEEN_LOOKS_S = 2.0
_CLEAR = "\x1b[2J\x1b[H"
_Seen = TypeVar("_Seen")

inspect_app = typer.Typer(help="Znodes decoded, with what is wrong with them.", no_args_is_help=True)


class TableFormat(StrEnum):
    """The format of a table on stdout."""

    HUMAN = "human"
    JSON = "json"
    CSV = "csv"


TableOption: TypeAlias = Annotated[TableFormat, typer.Option("-o", "--output", help="Format of the answer on stdout.")]
SortOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--sort", metavar="COLUMN", help="Sort by a column, -COLUMN descending; may be repeated."),
]
FilterOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="COLUMN=VALUE", help="Keep rows that match (a glob; != for the others); may be repeated."
    ),
]
WatchOption: TypeAlias = Annotated[
    bool, typer.Option("--watch", help="Look again every two seconds, until --timeout (then unbounded) or a signal.")
]
WatchBoundOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="Bound on the whole command; 60 without --watch.", min=0.1),
]

TABLES = {
    "brokers": "Show every broker that is registered or holds replicas.",
    "topics": "Show every topic, with how many of its partitions are in trouble.",
    "partitions": "Show every partition: leader, ISR, and what is not as it should be.",
    "controller": "Show the controller and its epoch, and what ZooKeeper still tells of those before.",
    "admin-entries": "Show every entry of the three admin znodes, with what is wrong with it.",
    "cluster": "Show the cluster: its id, its versions, how much of what.",
    "configs": "Show the dynamic configs of every entity, leftovers marked, credentials hidden.",
    "consumers": "Show what old consumers keep in ZooKeeper: members, owners, offsets.",
    "notifications": "Show messages that nobody has taken away: config, ISR, log directory and ACL changes.",
    "producer-ids": "Show the last block of producer ids, and how many are left.",
    "acls": "Show Kafka's access rules.",
}


@inspect_app.callback()
def inspect() -> None:
    """Show znodes decoded, with what is wrong with them."""


@inspect_app.command("admin")
def inspect_admin(
    zookeeper: ZooKeeperOption,
    *,
    watch: WatchOption = False,
    timeout: WatchBoundOption = None,
    output: TableOption = TableFormat.HUMAN,
) -> None:
    """Show the three admin znodes entry by entry; CSV has the rows of admin-entries."""
    from kadmin.cli.output import answer
    from kadmin.operations.zookeeper.doctor import AdminSurvey, survey_admin
    from kadmin.operations.zookeeper.inspect import inspect
    from kadmin.report.zookeeper.admin_nodes import admin_answer, admin_text

    if output is TableFormat.CSV:
        told = Shape((), (), output).tell
        _show(zookeeper, lambda context: inspect(context, "admin-entries"), told, watch=watch, timeout_s=timeout)
        return

    def tell(survey: AdminSurvey) -> None:
        answer(OutputFormat(output.value), lambda: admin_text(survey), lambda: admin_answer(survey))

    _show(zookeeper, survey_admin, tell, watch=watch, timeout_s=timeout)


def _table_command(name: str, words: str) -> None:
    @inspect_app.command(name, help=words)
    def show(
        zookeeper: ZooKeeperOption,
        *,
        sort: SortOption = None,
        filters: FilterOption = None,
        watch: WatchOption = False,
        timeout: WatchBoundOption = None,
        output: TableOption = TableFormat.HUMAN,
    ) -> None:
        from kadmin.operations.zookeeper.inspect import inspect

        shape = Shape(sort or (), filters or (), output)
        _show(zookeeper, lambda context: inspect(context, name), shape.tell, watch=watch, timeout_s=timeout)


for _name, _words in TABLES.items():
    _table_command(_name, _words)


@inspect_app.command("tree")
def inspect_tree(
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Where to begin.")] = "/",
    *,
    zookeeper: ZooKeeperOption,
    depth: Annotated[int, typer.Option("--depth", metavar="LEVELS", help="How deep to go.", min=0)] = 2,
    sort: SortOption = None,
    filters: FilterOption = None,
    watch: WatchOption = False,
    timeout: WatchBoundOption = None,
    output: TableOption = TableFormat.HUMAN,
) -> None:
    """Show the znodes below a path: size, children, and whether their data can be decoded."""
    from kadmin.operations.zookeeper.inspect import inspect_tree as read

    shape = Shape(sort or (), filters or (), output)
    _show(zookeeper, lambda context: read(context, path, depth), shape.tell, watch=watch, timeout_s=timeout)


@inspect_app.command("znode")
def inspect_znode(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The znode, below the chroot.")],
    *,
    zookeeper: ZooKeeperOption,
    watch: WatchOption = False,
    timeout: WatchBoundOption = None,
    output: TableOption = TableFormat.HUMAN,
) -> None:
    """Show one znode: its facts, its ACL, its data as it is and decoded."""
    from kadmin.operations.zookeeper.inspect import inspect_znode as read

    told = Shape((), (), output).tell
    _show(zookeeper, lambda context: read(context, path), told, watch=watch, timeout_s=timeout)


@dataclass(frozen=True, slots=True)
class Shape:
    """How an inspection is told: order, filters, format."""

    keys: Sequence[str]
    conditions: Sequence[str]
    output: TableFormat

    def tell(self, found: Inspection) -> None:
        """Print the table; in CSV there is no place for what could not be read, so stderr has it.

        What brokers did not tell is for people on stderr whatever the format.
        """
        from kadmin.cli.output import answer
        from kadmin.cluster.names import escaped
        from kadmin.report.tables import table_answer, table_csv, table_text, unreadable_lines

        table = found.table.filtered(self.conditions).sorted_by(self.keys)
        for line in found.unavailable or ():
            typer.echo(escaped(line), err=True)
        if self.output is TableFormat.CSV:
            typer.echo(table_csv(table))
            for line in unreadable_lines(found.unreadable):
                typer.echo(line, err=True)
            return
        form = OutputFormat(self.output.value)
        answer(
            form,
            lambda: table_text(table, found.unreadable),
            lambda: {**table_answer(table, found.unreadable, found.unavailable), **found.more},
        )


def _show(
    zookeeper: str,
    look: Callable[[ZooKeeperContext], _Seen],
    tell: Callable[[_Seen], None],
    *,
    watch: bool,
    timeout_s: float | None,
) -> None:
    from kadmin.cli.context import open_context

    bound_s = timeout_s if timeout_s is not None or watch else READ_TIMEOUT_S
    with open_context(zookeeper, timeout_s=bound_s) as context:
        looks = 0
        while True:
            try:
                found = look(context)
            except (NotCompletedError, UnreachableError):
                if looks == 0 or context.clock.now() < context.clock.until:
                    raise
                typer.echo("--timeout ended before the last look did", err=True)
                return
            looks += 1
            if watch and sys.stdout.isatty():
                typer.echo(_CLEAR, nl=False)
            tell(found)
            if not watch or context.clock.now() + BETWEEN_LOOKS_S >= context.clock.until:
                return
            context.clock.wait(BETWEEN_LOOKS_S)
