"""Packs table rows into binary cells, which Spark shuffles without decoding each row.

Goals: shuffle and collect millions of rows at the cost of copying them.
Constraints: a cell holds rows of one table and one cluster, as a compressed Arrow stream; the order
of cells is undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kadmin.planner.cluster_arrays import rows_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.planner.cluster_arrays import ArrowTable

PACKED = "cluster string, name string, rows binary"
"""The schema of cells in Spark's notation."""
_SCHEMA = pa.schema([("cluster", pa.string()), ("name", pa.string()), ("rows", pa.binary())])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")
_ROWS = 100_000
"""The most rows of a cell."""
_CELLS = 50
"""The most cells of a batch. Spark makes a task of each batch, and sends tasks of up to 128 MiB."""


def pack_batches(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield cells with the rows of record batches of table `name`, without the column `cluster`."""
    for batch in batches:
        for cluster, rows in rows_by("cluster", pa.Table.from_batches([batch])).items():
            yield pack(cluster, name, rows.drop_columns(["cluster"])).to_batches()[0]


def pack_tables(tables: Mapping[tuple[str, str], ArrowTable]) -> ArrowTable:
    """Return a table of cells with the rows of tables, by the names of cluster and table.

    Each has at least one.
    """
    cells = pa.concat_tables(
        pack(cluster, name, rows.slice(start, _ROWS))
        for (cluster, name), rows in tables.items()
        for start in range(0, max(len(rows), 1), _ROWS)
    )
    return pa.Table.from_batches(cells.combine_chunks().to_batches(max_chunksize=_CELLS))


def unpack(cells: Iterable[bytes], schema: Any) -> ArrowTable:  # noqa: ANN401 - pyarrow ships no type information
    """Return the rows of some cells as one table with `schema`."""
    read = [pa.ipc.open_stream(cell).read_all() for cell in cells]
    return pa.concat_tables(
        [schema.empty_table(), *(rows.cast(schema) for rows in read)]
    ).combine_chunks()


def pack(cluster: str | None, name: str, rows: ArrowTable) -> ArrowTable:
    """Return a table of one row: a cell with the rows of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as stream:
        stream.write_table(rows)
    return pa.Table.from_pylist(
        [{"cluster": cluster, "name": name, "rows": sink.getvalue().to_pybytes()}], schema=_SCHEMA
    )
