"""Reads inventory tables as Spark DataFrames with typed columns, absent ones null, from Parquet, CSV or JSON lines.

Schemas are explicit and the mode is FAILFAST. Types that Spark would convert silently are checked against the file:
Parquet's footer, the header line of CSV, and the types of the values in JSON lines. BadTableError means that a table is
wrong; kadmin.inventory.read_inventory names the rows.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import functions as f

from kadmin.inventory.columns import CLUSTER, ColumnKind
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.inventory.parquet_tables import holds
from kadmin.inventory.reading import refuse_columns, table_path
from kadmin.inventory.text_tables import CSV_CELLS, EMPTY_LIST
from kadmin.planner.load import columns as load
from kadmin.planner.load.reading import NAMED, RATE_COLUMNS, history_types

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

    from kadmin.inventory.columns import Column, InventoryTable
    from kadmin.inventory.header import Header

SPARK_TYPES = {
    ColumnKind.INT: "int",
    ColumnKind.LONG: "bigint",
    ColumnKind.DOUBLE: "double",
    ColumnKind.BOOL: "boolean",
    ColumnKind.STRING: "string",
    ColumnKind.INTS: "array<int>",
}
HISTORY = "history"
"""The name of a load history's rows among packed ones."""

_HISTORY_TYPES = {
    load.TOPIC: "string",
    load.PARTITION: "int",
    load.START: "timestamp",
    load.WEEKS: "int",
    **dict.fromkeys(RATE_COLUMNS, "array<float>"),
}
_FIELD = re.compile(r"(\w+): ([A-Z]+)")


def local_url(path: Path) -> str:
    """Return a path of this machine as Spark reads it: not in its default file system, nor from a server's folder."""
    return f"file://{path.absolute()}"


class BadTableError(Exception):
    """A table whose types are not those of its columns."""


def read_frame(session: SparkSession, directory: Path, table: InventoryTable) -> DataFrame:
    """Return a table with a `cluster` column, added if absent; raises InvalidInputError for unknown columns."""
    path = table_path(directory, table)
    frame = {".parquet": _parquet, ".csv": _csv, ".jsonl": _json_lines}[path.suffix](session, path, table)
    columns = [_typed(column, frame) for column in table.columns]
    if CLUSTER not in table.columns:
        columns.insert(0, f.lit(SINGLE_CLUSTER).alias(CLUSTER.name))
    return frame.select(*columns)


def read_history_frame(session: SparkSession, path: Path, header: Header) -> DataFrame:
    """Return the load history of a header's clusters: a column `cluster`, and those of load.reading.ROWS.

    Raises InvalidInputError for a file that cannot be a history.
    """
    types = history_types(path, header)
    read = ", ".join(f"{name} {_history_type(kind)}" for name, kind in types.items())
    frame = session.read.schema(read).parquet(local_url(path))
    named = f.col(CLUSTER.name) if CLUSTER.name in types else f.lit(None).cast("string")
    cluster = named if header.fleet else f.lit(SINGLE_CLUSTER)
    rows = [
        (f.col(name) if name in types else f.lit(None)).cast(kind).alias(name) for name, kind in _HISTORY_TYPES.items()
    ]
    frame = frame.select(cluster.alias(CLUSTER.name), named.alias(NAMED), *rows)
    return frame.where(f.col(CLUSTER.name).isin(list(header.clusters)))


def _history_type(found: Any) -> str:  # noqa: ANN401 - pyarrow ships no type information
    """Return the Spark type of a history's Parquet column as stored."""
    if pa.types.is_timestamp(found):
        return "timestamp" if found.tz else "timestamp_ntz"
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return f"array<{_stored_type(found.value_type, ColumnKind.DOUBLE)}>"
    return _stored_type(found, ColumnKind.STRING)


def _typed(column: Column, frame: DataFrame) -> SparkColumn:
    found = f.col(column.name) if column.name in frame.columns else f.lit(None)
    return found.cast(SPARK_TYPES[column.kind]).alias(column.name)


def _parquet(session: SparkSession, path: Path, table: InventoryTable) -> DataFrame:
    found = parquet.ParquetDataset(path).schema
    refuse_columns(path, table, found.names)
    present = [column for column in table.columns if column.name in found.names]
    if not all(holds(pa.types, found.field(column.name).type, column.kind) for column in present):
        raise BadTableError
    read = [f"{column.name} {_stored_type(found.field(column.name).type, column.kind)}" for column in present]
    return session.read.schema(", ".join(read)).parquet(local_url(path))


def _stored_type(found: Any, kind: ColumnKind) -> str:  # noqa: ANN401 - pyarrow ships no type information
    """Return the Spark type of a Parquet column as stored; integers may be wider than the column's kind."""
    if kind is ColumnKind.INTS:
        return (
            f"array<{_stored_type(found.value_type, ColumnKind.INT)}>"
            if not pa.types.is_null(found)
            else SPARK_TYPES[kind]
        )
    if pa.types.is_integer(found):
        unsigned = pa.types.is_unsigned_integer(found)
        widths = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint", 128: "decimal(20,0)"}
        return widths[found.bit_width * 2 if unsigned else found.bit_width]
    return "float" if pa.types.is_float32(found) else SPARK_TYPES[kind]


def _csv(session: SparkSession, path: Path, table: InventoryTable) -> DataFrame:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        names = next(csv.reader(lines), [])
    refuse_columns(path, table, names)
    kinds = {column.name: column.kind for column in table.columns}
    read = ", ".join(f"{name} string" for name in names)
    frame = session.read.schema(read).csv(local_url(path), header=True, mode="FAILFAST", escape='"')
    return frame.select(*(_csv_column(name, kinds[name]) for name in names))


def _csv_column(name: str, kind: ColumnKind) -> SparkColumn:
    """Decode a column of strings; a cell that kadmin.inventory would refuse fails the job."""
    text = f.nullif(f.col(name), f.lit(""))
    if kind is ColumnKind.STRING:
        return text.alias(name)
    value = (f.split(text, EMPTY_LIST) if kind is ColumnKind.INTS else text).cast(SPARK_TYPES[kind])
    if kind is ColumnKind.INTS:
        value = f.when(text == EMPTY_LIST, f.array().cast(SPARK_TYPES[kind])).otherwise(value)
    legible = f.coalesce(f.when(is_legible(text, kind), value), f.raise_error(f.lit(f"{name}: not {kind}")))
    return f.when(text.isNotNull(), legible).alias(name)


def is_legible(text: SparkColumn, kind: ColumnKind) -> SparkColumn:
    """Whether kadmin.inventory accepts a cell of CSV; Spark alone would trim blanks and accept `+5` and `t`."""
    return text.rlike(f"^(?:{CSV_CELLS[kind].pattern})\\z")


def _json_lines(session: SparkSession, path: Path, table: InventoryTable) -> DataFrame:
    types = _json_types(session, path)
    refuse_columns(path, table, types or [column.name for column in table.columns])
    kinds = {column.name: column.kind for column in table.columns}
    if any(kinds[name] is ColumnKind.STRING and found not in ("STRING", "VOID") for name, found in types.items()):
        raise BadTableError
    read = ", ".join(f"{column.name} {SPARK_TYPES[column.kind]}" for column in table.columns)
    return session.read.schema(read).json(local_url(path), mode="FAILFAST")


def _json_types(session: SparkSession, path: Path) -> dict[str, str]:
    """Return the names and types of the values in the lines; Spark would read a number as a string silently."""
    lines = session.read.text(local_url(path)).where(f.trim("value") != "")
    found = lines.select(f.schema_of_variant_agg(f.parse_json("value"))).first()
    return dict(_FIELD.findall(str(found[0]))) if found is not None and found[0] is not None else {}
