"""Defines the columns of the tables, and checks their values.

Goals: report every bad row in one run: table, column, what is wrong, the number of rows and the
first of them.
Constraints: the same messages for CSV, JSON lines and Parquet; no third-party library.
Example: `partitions.csv: size_bytes: 2 rows negative (first: row 7)`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from kadmin.cluster.disks import DiskState
from kadmin.cluster.names import is_legal_topic_name
from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Columns: TypeAlias = "Mapping[str, Sequence[Any]]"
"""Values by column name. All columns of a table have the same length; None is null, Misread a value
of a wrong type."""

MOST_INT = 2**31 - 1
MOST_LONG = 2**63 - 1


class ColumnKind(StrEnum):
    """The type of a column; the value is its name in messages."""

    INT = "an integer"
    LONG = "a long integer"
    DOUBLE = "a number"
    BOOL = "true or false"
    STRING = "a string"
    INTS = "a list of integers"
    TIME = "a time"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `lowest` is the least integer allowed; null is allowed unless `required`.

    `values` are the strings that it may hold, any where there are none.
    A column that is `left_out` is not written where every value is null: few clusters have a value
    for it, and versions of kadmin without the column can read the table.
    """

    name: str
    kind: ColumnKind
    required: bool = False
    lowest: int = 0
    left_out: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InventoryTable:
    """One of the tables: its columns in order.

    It also has the columns whose values together are unique. An inventory may lack one that is
    `optional`; it is not written without rows.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    optional: bool = False

    def of_fleet(self) -> InventoryTable:
        """Return the table with the column `cluster` in front, as a fleet's tables have it."""
        return replace(self, columns=(CLUSTER, *self.columns), key=(CLUSTER.name, *self.key))

    def as_written(self, values: Columns) -> InventoryTable:
        """Return the table with the columns that are written for these values."""
        kept = (
            each
            for each in self.columns
            if not each.left_out or any(v is not None for v in values[each.name])
        )
        return replace(self, columns=tuple(kept))


@dataclass(frozen=True, slots=True)
class Misread:
    """A cell that is not of its column's type."""


_PATH = "path"
CLUSTER = Column("cluster", ColumnKind.STRING, required=True)
BROKERS = InventoryTable(
    "brokers",
    (
        Column("broker_id", ColumnKind.INT, required=True),
        Column("rack", ColumnKind.STRING),
        Column("alive", ColumnKind.BOOL),
        Column("capacity_bytes", ColumnKind.LONG),
        Column("net_in_bytes_per_s", ColumnKind.DOUBLE, left_out=True),
        Column("net_out_bytes_per_s", ColumnKind.DOUBLE, left_out=True),
        Column("cpu", ColumnKind.DOUBLE, left_out=True),
    ),
    ("broker_id",),
)
PARTITIONS = InventoryTable(
    "partitions",
    (
        Column("topic", ColumnKind.STRING, required=True),
        Column("partition", ColumnKind.INT, required=True),
        Column("replicas", ColumnKind.INTS, required=True),
        Column("leader", ColumnKind.INT, lowest=-1),
        Column("isr", ColumnKind.INTS),
        Column("size_bytes", ColumnKind.LONG),
        Column("bytes_in_per_s", ColumnKind.DOUBLE),
        Column("bytes_out_per_s", ColumnKind.DOUBLE),
        Column("tiered_bytes", ColumnKind.LONG, left_out=True),
    ),
    ("topic", "partition"),
)
DISKS = InventoryTable(
    "disks",
    (
        Column("broker_id", ColumnKind.INT, required=True),
        Column(_PATH, ColumnKind.STRING, required=True),
        Column("total_bytes", ColumnKind.LONG),
        Column("usable_bytes", ColumnKind.LONG),
        Column("state", ColumnKind.STRING, required=True, values=tuple(DiskState)),
    ),
    ("broker_id", _PATH),
    optional=True,
)
REPLICAS = InventoryTable(
    "replicas",
    (
        Column("topic", ColumnKind.STRING, required=True),
        Column("partition", ColumnKind.INT, required=True),
        Column("broker_id", ColumnKind.INT, required=True),
        Column(_PATH, ColumnKind.STRING, required=True),
        Column("size_bytes", ColumnKind.LONG),
    ),
    ("topic", "partition", "broker_id"),
    optional=True,
)


def check_columns(table: InventoryTable, columns: Columns, *, name: str) -> Iterator[Diagnostic]:
    """Yield the problems of the values of a table, called `name` in messages.

    Rows count from 1 below its header.
    """
    for column in table.columns:
        if column.name in columns:
            values = columns[column.name]
            # In a large table far fewer than rows, because replica lists repeat.
            different = set(values)
            for what, test in _tests(column):
                bad = {value for value in different if test(value)}
                yield from _wrong_rows(
                    name, column.name, what, (value in bad for value in values) if bad else ()
                )
    yield from _wrong_rows(
        name, ", ".join(table.key), "with a duplicate key", _repeated(table, columns)
    )


def _wrong_rows(table: str, column: str, what: str, wrong: Iterable[bool]) -> Iterator[Diagnostic]:
    rows = [number for number, bad in enumerate(wrong, start=1) if bad]
    if rows:
        counted = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
        yield Diagnostic(
            codes.UNREADABLE, f"{table}: {column}: {counted} {what} (first: row {rows[0]})"
        )


def _tests(column: Column) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    yield f"not {column.kind.value}", lambda value: isinstance(value, Misread)
    if column.required:
        yield "null", lambda value: value is None
    if column.kind in (ColumnKind.INT, ColumnKind.LONG):
        bound = column.lowest
        yield (
            ("negative" if bound == 0 else f"below {bound}"),
            lambda value: isinstance(value, int) and value < bound,
        )
        most = MOST_INT if column.kind is ColumnKind.INT else MOST_LONG
        yield f"above {most}", lambda value: isinstance(value, int) and value > most
    if column.kind is ColumnKind.DOUBLE:
        yield "NaN or infinite", lambda value: isinstance(value, float) and not math.isfinite(value)
        yield "negative", lambda value: isinstance(value, float) and value < 0
    if column.kind is ColumnKind.INTS:
        yield from _list_tests(column)
    if column.name == "topic":
        yield "not a Kafka topic name", _no_topic
    if column.name in {CLUSTER.name, _PATH}:
        yield "empty", lambda value: value == ""
    if column.values:
        yield (
            f"none of {', '.join(column.values)}",
            lambda value: isinstance(value, str) and value not in column.values,
        )


def _list_tests(column: Column) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    yield "with null in the list", lambda value: isinstance(value, tuple) and None in value
    yield "with a negative broker id", lambda value: any(broker < 0 for broker in _ids(value))
    yield (
        f"with a broker id above {MOST_INT}",
        lambda value: any(broker > MOST_INT for broker in _ids(value)),
    )
    yield "with a broker twice", lambda value: len(set(_ids(value))) < len(_ids(value))
    if column.required:
        yield "empty", lambda value: value == ()


def _ids(value: object) -> list[int]:
    return [each for each in value if each is not None] if isinstance(value, tuple) else []


def _no_topic(value: object) -> bool:
    return isinstance(value, str) and not is_legal_topic_name(value)


def _repeated(table: InventoryTable, columns: Columns) -> Iterator[bool]:
    keys = list(zip(*(columns[name] for name in table.key if name in columns), strict=True))
    if len(set(keys)) == len(keys):
        return
    seen: Counter[tuple[Any, ...]] = Counter()
    for key in keys:
        whole = not any(part is None or isinstance(part, Misread) for part in key)
        seen[key] += whole
        yield whole and seen[key] > 1
