"""Reads and writes Parquet tables.

The only module here that needs pyarrow, which it imports when called.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from kadmin.errors import InvalidInputError, UsageError
from kadmin.inventory.columns import ColumnKind, Misread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kadmin.inventory.columns import Columns, InventoryTable


def read_parquet(
    path: Path, table: InventoryTable, names: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """Read a Parquet table, or the columns `names` of it.

    A column of a wrong type becomes Misread cells, with its nulls kept.
    """
    arrow, parquet = pyarrow_modules()
    try:
        read = arrow_table(parquet, path, names)
    except arrow.ArrowInvalid as error:
        raise InvalidInputError(f"{path} is not a Parquet table.", cause=str(error)) from error
    kinds = {column.name: column.kind for column in table.columns}
    return {
        name: _cells(arrow, read.column(name), kinds.get(name, ColumnKind.STRING))
        for name in read.column_names
    }


def arrow_table(parquet: Any, path: Path, names: Sequence[str] | None = None) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return a Parquet file, or a folder of them, as an Arrow table.

    `parquet` is the module pyarrow.parquet. Only a folder, as Spark writes it, needs Arrow's data
    sets, which are slow to import.
    """
    return (
        parquet.read_table(path, columns=names)
        if path.is_dir()
        else parquet.ParquetFile(path).read(columns=names)
    )


def write_parquet(file: IO[bytes], columns: Columns, table: InventoryTable) -> None:
    """Write a Parquet table: the table's columns only, in its order."""
    arrow, parquet = pyarrow_modules()
    types = arrow_types(arrow)
    fields = [
        arrow.field(column.name, types[column.kind], nullable=not column.required)
        for column in table.columns
    ]
    arrays = [arrow.array(columns[field.name], field.type) for field in fields]
    parquet.write_table(
        arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), file, compression="zstd"
    )


def arrow_types(arrow: Any) -> dict[ColumnKind, Any]:  # noqa: ANN401 - pyarrow ships no type information
    """Return the Arrow type of each kind of column; `arrow` is the module pyarrow."""
    return {
        ColumnKind.INT: arrow.int32(),
        ColumnKind.LONG: arrow.int64(),
        ColumnKind.DOUBLE: arrow.float64(),
        ColumnKind.BOOL: arrow.bool_(),
        ColumnKind.STRING: arrow.string(),
        ColumnKind.INTS: arrow.list_(arrow.int32()),
        ColumnKind.TIME: arrow.timestamp("us", "UTC"),
    }


def _cells(arrow: Any, column: Any, kind: ColumnKind) -> list[Any]:  # noqa: ANN401 - pyarrow ships no type information
    values: list[Any] = column.to_pylist()
    if holds(arrow.types, column.type, kind):
        if kind is ColumnKind.STRING:
            # Most texts occur many times: each is kept once.
            kept: dict[str, str] = {}
            return [kept.setdefault(value, value) for value in values]
        make = {ColumnKind.INTS: tuple, ColumnKind.DOUBLE: float}.get(kind)
        return (
            values if make is None else [None if value is None else make(value) for value in values]
        )
    return [None if value is None else Misread() for value in values]


def holds(types: Any, found: Any, kind: ColumnKind) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    """Whether a column of the Arrow type `found` is of that kind.

    `types` is the module pyarrow.types.
    """
    if types.is_null(found):
        return True
    if kind is ColumnKind.INTS:
        return bool(types.is_list(found) or types.is_large_list(found)) and bool(
            types.is_integer(found.value_type)
        )
    tests = {
        ColumnKind.INT: (types.is_integer,),
        ColumnKind.LONG: (types.is_integer,),
        ColumnKind.DOUBLE: (types.is_floating, types.is_integer),
        ColumnKind.BOOL: (types.is_boolean,),
        ColumnKind.STRING: (types.is_string, types.is_large_string),
    }
    return any(test(found) for test in tests[kind])


def pyarrow_modules() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet.

    Raises UsageError where they are not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            "Parquet tables need pyarrow, which is not installed.",
            cause=str(error),
            next_step=(
                "pip install 'kadmin-kafka[planner]'; "
                "a snapshot is written without it by --table csv"
            ),
        ) from error
    return pa, parquet
