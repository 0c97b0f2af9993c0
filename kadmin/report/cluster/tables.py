"""The tables of `inspect` as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from kadmin.answers.unreadable import UnreadableZnode
from kadmin.cluster.names import escaped
from kadmin.insight.tables.table import text_of
from kadmin.plan.units import readable_size
from kadmin.report.text import NOTHING, table, wrapped
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.model import Unreadable
    from kadmin.insight.tables.table import Cell, Table

_SHOWN_PROBLEMS = 20
_BYTES = "_bytes"
"""The end of the names of columns that hold bytes: exact in JSON and CSV, for filters and order,
rounded for people."""


def table_text(found: Table, unreadable: Sequence[Unreadable], width: int | None = None) -> str:
    """Show the rows as aligned columns, an upright table as a list; then the unreadable znodes.

    `width` is that of a terminal.
    """
    if found.upright:
        shown = "\n".join(_upright(found)) or f"no {found.name}"
    else:
        rows = [
            [_human(*each) for each in zip(found.columns, row, strict=True)] for row in found.rows
        ]
        shown = table(found.columns, rows, width)
    return "\n".join([shown, *unreadable_lines(unreadable)])


def table_csv(found: Table) -> str:
    """Return the rows as CSV with a header.

    Lists are separated by semicolons, as in inventories.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(found.columns)
    writer.writerows([text_of(cell, ";") for cell in row] for row in found.rows)
    return out.getvalue().removesuffix("\n")


def table_answer(
    found: Table, unreadable: Iterable[Unreadable], unavailable: Sequence[str] | None = None
) -> dict[str, Any]:
    """Answer `inspect`: the rows under the table's name, each an object of its columns.

    `unavailable` lists the missing answers of brokers; None leaves it out, for tables without
    brokers' answers.
    """
    return {
        found.name.replace("-", "_"): [
            dict(zip(found.columns, (_json(cell) for cell in row), strict=True))
            for row in found.rows
        ],
        "unreadable": [
            UnreadableZnode(escaped(each.path), escaped(each.reason), each.denied)
            for each in unreadable
        ],
        **({} if unavailable is None else {"unavailable": [escaped(each) for each in unavailable]}),
    }


def unreadable_lines(unreadable: Sequence[Unreadable]) -> list[str]:
    """Return a line for each unreadable znode with the reason."""
    lines = [
        line
        for each in unreadable[:_SHOWN_PROBLEMS]
        for line in wrapped(f"not readable: {each.path}: {each.reason}", "  ")
    ]
    rest = len(unreadable) - _SHOWN_PROBLEMS
    return [*lines, f"and {count(rest, 'more unreadable znode')}"] if rest > 0 else lines


def _upright(found: Table) -> Iterable[str]:
    width = max(len(column) for column in found.columns)
    for row in found.rows:
        for column, cell in zip(found.columns, row, strict=True):
            yield from wrapped(f"{column.ljust(width)}  {_human(column, cell)}", " " * (width + 2))


def _human(column: str, cell: Cell) -> int | str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int) and column.endswith(_BYTES):
        return readable_size(cell)
    return cell if isinstance(cell, int) else text_of(cell) or NOTHING


def _json(cell: Cell) -> Any:  # noqa: ANN401 - a value of JSON
    return list(cell) if isinstance(cell, tuple) else cell
