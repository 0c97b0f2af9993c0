"""Rows packed into binary cells, a few for each cluster: Spark carries those about without looking at the rows.

Goals: millions of rows shuffled and brought home at the price of copying them. Constraints: a cell holds the rows of
one table that one batch had for one cluster, as a compressed Arrow stream; their order means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.planner.cluster_arrays import ArrowTable

PACKED = "cluster string, name string, rows binary"
"""What pack_batches yields, as Spark writes schemas."""
_SCHEMA = pa.schema([("cluster", pa.string()), ("name", pa.string()), ("rows", pa.binary())])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


def pack_batches(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield the cells of record batches of the table `name`; each has a column `cluster`, which the cells leave out."""
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
    """Return the rows of some cells as one table of that schema."""
    read = [pa.ipc.open_stream(cell).read_all() for cell in cells]
    return pa.concat_tables([schema.empty_table(), *(rows.cast(schema) for rows in read)]).combine_chunks()


def pack(cluster: str | None, name: str, rows: ArrowTable) -> ArrowTable:
    """Return one cell with a table's rows, in a table of its own."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as stream:
        stream.write_table(rows)
    return pa.Table.from_pylist(
        [{"cluster": cluster, "name": name, "rows": sink.getvalue().to_pybytes()}], schema=_SCHEMA
    )
