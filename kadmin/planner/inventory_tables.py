"""Reads an inventory as Arrow tables of brokers and partitions, cluster by cluster.

Both engines plan on them.

Goals: read Parquet and CSV column by column, much faster than kadmin.inventory, which decodes cell
by cell.
Constraints: every value equals kadmin.inventory's. Tables in which Arrow's values may differ are
read by it, and so are JSON lines: Arrow's reader of JSON crashes the process at a line `null`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS, ColumnKind
from kadmin.inventory.parquet_tables import arrow_table, holds
from kadmin.inventory.reading import refuse_columns, refuse_unknown_clusters, table_path
from kadmin.inventory.text_tables import CSV_CELLS, EMPTY_LIST
from kadmin.planner.cluster_arrays import arrow_schema, rows_as_arrow, rows_by

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.inventory.columns import InventoryTable
    from kadmin.inventory.header import Header
    from kadmin.planner.cluster_arrays import ArrowTable

_BLOCK = 2**20


def read_tables(directory: Path, header: Header) -> dict[str, tuple[ArrowTable, ArrowTable]]:
    """Return the tables of brokers and partitions of each cluster of the header, by its name.

    Raises InvalidInputError for unknown or missing columns, for clusters that the header does not
    name, and for bad rows if kadmin.inventory reads the tables; otherwise rows are not checked.
    """
    try:
        brokers, partitions = (
            _by_cluster(directory, header, table) for table in (BROKERS, PARTITIONS)
        )
    except (pa.ArrowInvalid, OSError):
        return {
            name: rows_as_arrow(cluster)
            for name, cluster in read_inventory(directory).clusters.items()
        }
    refuse_unknown_clusters(directory, header, {*brokers, *partitions})
    no_brokers, no_partitions = (
        arrow_schema(table).empty_table() for table in (BROKERS, PARTITIONS)
    )
    return {
        name: (brokers.get(name, no_brokers), partitions.get(name, no_partitions))
        for name in header.clusters
    }


def count_partitions(directory: Path) -> int:
    """Return the number of partitions in the tables of an inventory, which are not read.

    0 where the table cannot be read. Raises InvalidInputError where there is none.
    """
    path = table_path(directory, PARTITIONS)
    try:
        if path.suffix == ".parquet":
            return int(parquet.read_metadata(path).num_rows)
        with path.open("rb") as table:
            lines = sum(block.count(b"\n") for block in iter(lambda: table.read(_BLOCK), b""))
    except (pa.ArrowInvalid, OSError):
        return 0
    return max(lines - (path.suffix == ".csv"), 0)


def read_by_column(path: Path, table: InventoryTable) -> ArrowTable:
    """Return a table with every column, absent ones null.

    Raises ArrowInvalid or OSError for a table that Arrow cannot read exactly, and InvalidInputError
    for unknown or missing columns.
    """
    schema = arrow_schema(table)
    if path.suffix == ".parquet":
        read, converted = arrow_table(parquet, path), _stored
    elif path.suffix == ".csv":
        read, converted = _texts(path, schema), _parsed
    else:
        raise pa.ArrowInvalid("a table of JSON lines")
    if len(set(read.column_names)) < len(read.column_names):
        raise pa.ArrowInvalid("two columns of one name")
    refuse_columns(path, table, read.column_names)
    arrays = [
        converted(read.column(column.name), column.kind, field.type)
        if column.name in read.column_names
        else pa.nulls(len(read), field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _by_cluster(directory: Path, header: Header, table: InventoryTable) -> dict[str, ArrowTable]:
    """Return the rows of a table by cluster, without the column `cluster`.

    Raises as `read_by_column`.
    """
    rows = read_by_column(table_path(directory, table), header.shape(table))
    if not header.fleet:
        return {SINGLE_CLUSTER: rows}
    by_name = rows_by(CLUSTER.name, rows)
    if None in by_name:
        raise pa.ArrowInvalid("a row without a cluster")
    return {
        str(name): of_cluster.drop_columns([CLUSTER.name]) for name, of_cluster in by_name.items()
    }


def _texts(path: Path, schema: Any) -> ArrowTable:  # noqa: ANN401 - pyarrow ships no type information
    """Return the cells of a CSV table as strings; empty ones are null."""
    cells = csv.ConvertOptions(
        column_types={field.name: pa.string() for field in schema},
        strings_can_be_null=True,
        null_values=[""],
    )
    return csv.read_csv(
        path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=cells
    )


def _parsed(values: Any, kind: ColumnKind, arrow_type: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    if kind is ColumnKind.STRING:
        return values
    if not pc.all(
        pc.match_substring_regex(values, f"^(?:{CSV_CELLS[kind].pattern})$"), min_count=0
    ).as_py():
        raise pa.ArrowInvalid("a cell of another kind")
    return (pc.split_pattern(values, EMPTY_LIST) if kind is ColumnKind.INTS else values).cast(
        arrow_type
    )


def _stored(values: Any, kind: ColumnKind, arrow_type: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    if not holds(pa.types, values.type, kind):
        raise pa.ArrowInvalid("a column of another kind")
    return values.cast(arrow_type)
