"""Prints the tables of inspect and consumers: sorted, filtered, in the format asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from kadmin.cli.options import OutputFormat, TableFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.zookeeper.inspect import Inspection


@dataclass(frozen=True, slots=True)
class TableView:
    """How a table is shown: order, filters, format."""

    sort: Sequence[str]
    filters: Sequence[str]
    output: TableFormat

    def show(self, found: Inspection) -> None:
        """Print the table on stdout. What brokers did not answer, and in CSV what could not be read, is on stderr."""
        from kadmin.cli.output import answer
        from kadmin.cluster.names import escaped
        from kadmin.report.cluster.tables import table_answer, table_csv, table_text, unreadable_lines

        table = found.table.filtered(self.filters).sorted_by(self.sort)
        for line in found.unavailable or ():
            typer.echo(escaped(line), err=True)
        if self.output is TableFormat.CSV:
            typer.echo(table_csv(table))
            for line in unreadable_lines(found.unreadable):
                typer.echo(line, err=True)
            return
        answer(
            OutputFormat(self.output.value),
            lambda: table_text(table, found.unreadable),
            lambda: {**table_answer(table, found.unreadable, found.unavailable), **found.more},
        )
