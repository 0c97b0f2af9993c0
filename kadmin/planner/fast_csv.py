"""Reads plain CSV tables with Arrow, column by column, for the local engine.

Goals: read large tables much faster than kadmin.inventory, which decodes cell by cell.
Constraints: every value equals kadmin.inventory's. A table with any other cell is left to kadmin.inventory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from kadmin.inventory.columns import ColumnKind
from kadmin.inventory.reading import refuse_columns
from kadmin.planner.cluster_arrays import arrow_schema

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.inventory.columns import InventoryTable
    from kadmin.planner.cluster_arrays import ArrowTable

_PLAIN = {
    ColumnKind.INT: r"^-?[0-9]{1,19}$",
    ColumnKind.LONG: r"^-?[0-9]{1,19}$",
    ColumnKind.DOUBLE: r"^-?[0-9]{1,19}(\.[0-9]{1,19})?$",
    ColumnKind.BOOL: r"^(true|false)$",
    ColumnKind.INTS: r"^-?[0-9]{1,19}(;-?[0-9]{1,19})*$",
}


def read_plain_csv(path: Path, table: InventoryTable) -> ArrowTable | None:
    """Return a table with every column, absent ones null; None where a cell is not plain.

    Raises InvalidInputError for unknown or missing columns.
    """
    schema = arrow_schema(table)
    cells = csv.ConvertOptions(
        column_types={field.name: pa.string() for field in schema}, strings_can_be_null=True, null_values=[""]
    )
    try:
        read = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=cells)
        if len(set(read.column_names)) < len(read.column_names):
            return None
        refuse_columns(path, table, read.column_names)
        arrays = [
            _converted(read.column(column.name), column.kind, field.type)
            if column.name in read.column_names
            else pa.nulls(len(read), field.type)
            for column, field in zip(table.columns, schema, strict=True)
        ]
    except (pa.ArrowInvalid, OSError):
        return None
    return pa.Table.from_arrays(arrays, schema=schema)


def _converted(texts: Any, kind: ColumnKind, arrow_type: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    if kind is ColumnKind.STRING:
        return texts
    if not pc.all(pc.match_substring_regex(texts, _PLAIN[kind]), min_count=0).as_py():
        raise pa.ArrowInvalid("a cell is not plain")
    return (pc.split_pattern(texts, ";") if kind is ColumnKind.INTS else texts).cast(arrow_type)
