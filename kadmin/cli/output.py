"""Prints a command's answer on stdout: text, JSON by a published schema, or a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from kadmin.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kadmin.errors import KadminError
    from kadmin.insight.tables.inspection import Inspection


def answer(
    output: options.OutputFormat, text: Callable[[], str], value: Callable[[], object]
) -> None:
    """Print the answer in the format asked for."""
    if output is options.OutputFormat.JSON:
        from kadmin.schema.shapes import to_json

        typer.echo(to_json(value()))
    else:
        from kadmin.cli.terminal import screen_of

        typer.echo(screen_of(sys.stdout).linked(text()))


def note(lines: Iterable[str]) -> None:
    """Print lines on stderr: answers that are missing, with the reasons."""
    from kadmin.cluster.names import escaped

    for line in lines:
        typer.echo(escaped(line), err=True)


@dataclass(frozen=True, slots=True)
class TableView:
    """The view of a table: order, filters, format."""

    sort: Sequence[str]
    filters: Sequence[str]
    output: options.TableFormat

    def show(self, found: Inspection) -> None:
        """Print the table on stdout.

        Missing answers of brokers, and in CSV unreadable znodes, are listed on stderr.
        """
        from kadmin.cli.terminal import screen_of
        from kadmin.report.cluster.tables import (
            table_answer,
            table_csv,
            table_text,
            unreadable_lines,
        )

        table = found.table.filtered(self.filters).sorted_by(self.sort)
        note(found.unavailable or ())
        if self.output is options.TableFormat.CSV:
            typer.echo(table_csv(table))
            for line in unreadable_lines(found.unreadable):
                typer.echo(line, err=True)
            return
        answer(
            options.OutputFormat(self.output.value),
            lambda: table_text(table, found.unreadable, screen_of(sys.stdout).width),
            lambda: {**table_answer(table, found.unreadable, found.unavailable), **found.more},
        )

    def show_fleet(
        self, found: Mapping[str, Inspection], failed: Mapping[str, KadminError]
    ) -> None:
        """Print the tables of several clusters as one, with the column `cluster`.

        What failed is on stderr in CSV.
        """
        from kadmin.insight.tables.table import together
        from kadmin.report.cluster.tables import (
            table_answer,
            table_csv,
            table_text,
            unreadable_lines,
        )
        from kadmin.report.fleet import failures_text, fleet_answer
        from kadmin.schema.shapes import to_json

        joined = together({name: each.table for name, each in found.items()})
        table = joined.filtered(self.filters).sorted_by(self.sort) if found else joined
        if self.output is options.TableFormat.JSON:
            values = {
                name: (
                    0,
                    {
                        **table_answer(table.of_cluster(name), each.unreadable, each.unavailable),
                        **each.more,
                    },
                )
                for name, each in found.items()
            }
            typer.echo(to_json(fleet_answer(sorted({*found, *failed}), values, failed)))
            return
        notes = [
            f"{name}: {line}"
            for name, each in found.items()
            for line in (*(each.unavailable or ()), *unreadable_lines(each.unreadable))
        ]
        lines = [*notes, *failures_text(failed)]
        in_csv = self.output is options.TableFormat.CSV
        if found:
            typer.echo(table_csv(table) if in_csv else table_text(table, ()))
        for line in lines:
            typer.echo(line, err=in_csv)
