"""A table of plain values, which `inspect` shows, sorts and filters."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kadmin.cluster.names import escaped, one_line
from kadmin.errors import UsageError
from kadmin.globs import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Cell: TypeAlias = int | str | bool | tuple[int, ...] | tuple[str, ...] | None
Row = TypeVar("Row")

CLUSTER = "cluster"
"""The first column of a table of several clusters."""

_DESCENDING = "-"
_WORDS = {True: ("true", "yes"), False: ("false", "no")}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below named columns; `name` is the plural noun of the rows.

    Text in cells is escaped for terminals. `upright` marks a table of at most one row, which is
    shown as a list of its columns. In a table of several clusters `columns_of` says which columns,
    after that of the cluster, each of them has.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    upright: bool = False
    columns_of: Mapping[str, tuple[bool, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        shape: type[Row],
        rows: Iterable[Row],
        *,
        without: Sequence[str] = (),
        upright: bool = False,
    ) -> Table:
        """Return a table with a column for each field of a row's shape but some, text escaped."""
        columns = columns_of(shape, without)
        cells = attrgetter(*columns)
        return cls(name, columns, tuple(tuple(map(_safe, cells(row))) for row in rows), upright)

    def of_cluster(self, cluster: str) -> Table:
        """Return the rows of one cluster in a table of several, without the columns it lacks."""
        rows = [row[1:] for row in self.rows if row[0] == cluster]
        own = [index for index, has in enumerate(self.columns_of.get(cluster, ())) if has]
        columns = tuple(self.columns[1:][index] for index in own)
        return Table(self.name, columns, tuple(tuple(row[index] for index in own) for row in rows))

    def sorted_by(self, keys: Sequence[str]) -> Table:
        """Sort by columns, the first one first; `-column` is descending. Unknown values come last.

        Raises UsageError for an unknown column.
        """
        rows = list(self.rows)
        for key in reversed(keys):
            descending = key.startswith(_DESCENDING)
            column = self._index(key.removeprefix(_DESCENDING))
            with_value = [row for row in rows if row[column] is not None]
            with_value.sort(key=lambda row: _rank(row[column]), reverse=descending)
            rows = with_value + [row for row in rows if row[column] is None]
        return replace(self, rows=tuple(rows))

    def filtered(self, conditions: Sequence[str]) -> Table:
        """Keep the rows that meet every condition, `column=value` or `column!=value`.

        The value is a glob. A list matches with any of its elements; an empty value matches cells
        that are empty or unknown. Raises UsageError for a malformed condition and for an unknown
        column.
        """
        rows = self.rows
        for condition in conditions:
            name, equals, wanted = condition.partition("=")
            if not equals:
                raise UsageError(
                    f"{escaped(condition)} is not a filter.",
                    next_step="--filter COLUMN=VALUE or COLUMN!=VALUE",
                )
            column, meets = self._index(name.removesuffix("!")), not name.endswith("!")
            rows = tuple(row for row in rows if _matches(row[column], wanted) is meets)
        return replace(self, rows=rows)

    def _index(self, column: str) -> int:
        if column not in self.columns:
            raise UsageError(
                f"{self.name} have no column {escaped(column)!r}.",
                cause=f"the columns are {', '.join(self.columns)}",
            )
        return self.columns.index(column)


def columns_of(shape: Any, without: Sequence[str] = ()) -> tuple[str, ...]:  # noqa: ANN401 - the class of a row
    """Return the columns of rows of a shape, a dataclass."""
    return tuple(each.name for each in fields(shape) if each.name not in without)


def together(tables: Mapping[str, Table]) -> Table:
    """Return the rows of several clusters' tables as one, with the cluster's name first.

    A cell that is absent is None. The columns are those of any of them.
    """
    columns = tuple(dict.fromkeys(column for each in tables.values() for column in each.columns))
    rows = [
        (
            name,
            *(
                row[each.columns.index(column)] if column in each.columns else None
                for column in columns
            ),
        )
        for name, each in tables.items()
        for row in each.rows
    ]
    own = {
        name: tuple(column in each.columns for column in columns) for name, each in tables.items()
    }
    named = next((each.name for each in tables.values()), "rows")
    return Table(named, (CLUSTER, *columns), tuple(rows), columns_of=own)


def text_of(cell: Cell, separator: str = ",") -> str:
    """Return a cell as one line of text, empty where it is unknown."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return _WORDS[cell][0]
    return separator.join(map(str, cell)) if isinstance(cell, tuple) else str(cell)


def moment(since_1970_ms: int) -> str | None:
    """Return a time as `2026-01-31T12:00:00Z`; None for 0, an unknown time."""
    return (
        f"{datetime.fromtimestamp(since_1970_ms // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
        if since_1970_ms
        else None
    )


def _safe(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return one_line(cell)
    # Elements of a tuple have one type.
    if isinstance(cell, tuple) and cell and isinstance(cell[0], str):
        return tuple(one_line(str(each)) for each in cell)
    return cell


def _rank(cell: Cell) -> tuple[int, int | str | tuple[int | str, ...]]:
    # A column holds one type of values; the number keeps values of another type comparable.
    if isinstance(cell, int):
        return (0, int(cell))
    return (1, cell) if isinstance(cell, tuple) else (2, cell or "")


def _matches(cell: Cell, wanted: str) -> bool:
    if isinstance(cell, bool):
        return any(matches(word, wanted) for word in _WORDS[cell])
    if isinstance(cell, tuple) and cell and any(matches(str(each), wanted) for each in cell):
        return True
    return matches(text_of(cell), wanted)
