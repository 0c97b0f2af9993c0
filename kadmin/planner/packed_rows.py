"""Packs table rows into binary cells, which Spark shuffles without decoding each row.

Goals: shuffle and collect millions of rows at the cost of copying them.
Constraints: a cell holds the rows of one table and one cluster in one batch, as a compressed Arrow stream; the order of
cells is undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.planner.cluster_arrays import ArrowTable

PACKED = "cluster string, name string, rows binary"
"""The schema of pack_batches in Spark's notation."""
_SCHEMA = pa.schema([("cluster", pa.string()), ("name", pa.string()), ("rows", pa.binary())])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


def pack_batches(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield cells with the rows of record batches of the table `name`, without their column `cluster`."""
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        clusters = rows.column("cluster").combine_chunks().dictionary_encode()
        numbers = clusters.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        order = np.argsort(numbers, kind="stable")
        ordered = rows.drop_columns(["cluster"]).take(pa.array(order))
        starts = np.flatnonzero(np.diff(numbers[order], prepend=-2))
        for first, last in zip(starts, [*starts[1:], len(order)], strict=True):
            number = int(numbers[order[first]])
            cluster = None if number < 0 else clusters.dictionary[number].as_py()
            yield pack(cluster, name, ordered.slice(first, last - first)).to_batches()[0]


def unpack(cells: Iterable[bytes], schema: Any) -> ArrowTable:  # noqa: ANN401 - pyarrow ships no type information
    """Return the rows of some cells as one table with `schema`."""
    read = [pa.ipc.open_stream(cell).read_all() for cell in cells]
    return pa.concat_tables([schema.empty_table(), *(rows.cast(schema) for rows in read)]).combine_chunks()


def pack(cluster: str | None, name: str, rows: ArrowTable) -> ArrowTable:
    """Return a table of one row: a cell with the rows of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as stream:
        stream.write_table(rows)
    return pa.Table.from_pylist(
        [{"cluster": cluster, "name": name, "rows": sink.getvalue().to_pybytes()}], schema=_SCHEMA
    )
