"""Converts one cluster's inventory tables, as Arrow, into numpy arrays.

The tables have the columns of kadmin.inventory, with rows in any order. The arrays are ordered by
topic and partition, and by broker id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kadmin.cluster.names import is_legal_topic_name
from kadmin.inventory.columns import BROKERS, MOST_INT, PARTITIONS, ColumnKind
from kadmin.inventory.parquet_tables import arrow_types
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.inventory.columns import Column, InventoryTable
    from kadmin.inventory.model import ClusterInventory
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

ArrowTable: TypeAlias = Any
"""A pyarrow.Table; pyarrow ships no type information."""

UNKNOWN = -1

_ABLE = ("net_in_bytes_per_s", "net_out_bytes_per_s", "cpu")


@dataclass(frozen=True, slots=True, eq=False)
class ClusterArrays:
    """One cluster's inventory as arrays.

    Brokers are those with a row and those that only hold replicas, by id. `broker_ids`, `alive` and
    `capacity` (bytes) have shape [B]; `racks` has one name or None per broker. `topics` are the
    names in order; `topic` [P] indexes them. `replicas` [P, W] holds broker indices, padded with
    -1. `size` [P] is in bytes. `capacity` and `size` are UNKNOWN where the inventory has null.
    `without_source` [P]: no replica is alive, or the leader is known and no live one is in sync.
    `able` has what brokers can carry, by column of the inventory, each [B], NaN where null.
    """

    broker_ids: Ints
    racks: tuple[str | None, ...]
    alive: Bools
    capacity: Ints
    able: Mapping[str, Floats]
    topics: tuple[str, ...]
    topic: Ints
    partition: Ints
    replicas: Ints
    size: Ints
    without_source: Bools


def arrow_schema(table: InventoryTable) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return the Arrow schema of a table."""
    types = arrow_types(pa)
    return pa.schema([(column.name, types[column.kind]) for column in table.columns])


def rows_as_arrow(cluster: ClusterInventory) -> tuple[ArrowTable, ArrowTable]:
    """Return the tables of brokers and partitions of a cluster that was read as rows."""
    brokers, partitions = arrow_schema(BROKERS), arrow_schema(PARTITIONS)
    return _columns_of(cluster.brokers, brokers), _columns_of(cluster.partitions, partitions)


def rows_by(column: str, rows: ArrowTable) -> dict[str | None, ArrowTable]:
    """Return the rows of each value of a column of strings, in their order.

    None has those where it is null.
    """
    values = rows.column(column).combine_chunks().dictionary_encode()
    numbers = values.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    ordered = rows.take(pa.array(np.argsort(numbers, kind="stable")))
    names = [None, *values.dictionary.to_pylist()]
    counts = np.bincount(numbers - UNKNOWN, minlength=len(names))
    starts = np.cumsum(counts) - counts
    return {
        name: ordered.slice(start, length)
        for name, start, length in zip(names, starts.tolist(), counts.tolist(), strict=True)
        if length
    }


def tables_valid(brokers: ArrowTable, partitions: ArrowTable) -> bool:
    """Whether every row is valid; kadmin.inventory.read_inventory names the rows that are not."""
    return all(
        all(
            _column_valid(read.column(column.name).combine_chunks(), column)
            for column in table.columns
        )
        and read.num_rows == _distinct_keys(read, table)
        for table, read in ((BROKERS, brokers), (PARTITIONS, partitions))
    )


def cluster_arrays(brokers: ArrowTable, partitions: ArrowTable) -> ClusterArrays:
    """Return one cluster as arrays; the tables must be valid."""
    rows = brokers.sort_by("broker_id")
    replicas = partitions.column("replicas").combine_chunks()
    registered = _ints(rows.column("broker_id"))
    ids = np.union1d(registered, _ints(replicas.flatten()))
    at = np.searchsorted(ids, registered)
    racks: list[str | None] = [None] * len(ids)
    for index, rack in zip(at.tolist(), rows.column("rack").to_pylist(), strict=True):
        racks[index] = rack
    alive = np.zeros(len(ids), np.bool_)
    alive[at] = rows.column("alive").fill_null(fill_value=True).to_numpy(zero_copy_only=False)
    capacity = np.full(len(ids), UNKNOWN, np.int64)
    capacity[at] = _ints(rows.column("capacity_bytes"))
    names, topic = _ranked(partitions.column("topic"))
    number = _ints(partitions.column("partition"))
    order = np.lexsort((number, topic))
    return ClusterArrays(
        broker_ids=ids,
        racks=tuple(racks),
        alive=alive,
        capacity=capacity,
        able={name: _doubles(rows.column(name), at, len(ids)) for name in _ABLE},
        topics=names,
        topic=topic[order],
        partition=number[order],
        replicas=_padded(replicas, ids)[order],
        size=_ints(partitions.column("size_bytes"))[order],
        without_source=_without_source(partitions, ids[alive])[order],
    )


def _without_source(partitions: ArrowTable, alive: Ints) -> Bools:
    """Whether each partition has no replica on brokers `alive`, [P].

    Where the leader is known, no in-sync replica; where the ISR is not known, the leader alone is
    in sync: as in kadmin.inventory.state.
    """
    leader = partitions.column("leader")
    isr = partitions.column("isr").combine_chunks()
    in_sync, led = _any_of(isr, alive), np.isin(_ints(leader), alive)
    unknown = isr.is_null().to_numpy(zero_copy_only=False)
    offline = leader.is_valid().to_numpy() & ~np.where(unknown, led, in_sync)
    return np.asarray(offline | ~_any_of(partitions.column("replicas").combine_chunks(), alive))


def _any_of(lists: Any, brokers: Ints) -> Bools:  # noqa: ANN401 - pyarrow ships no type information
    """Whether each list of broker ids has one of `brokers`, [N]; False where it is null."""
    row = np.repeat(np.arange(len(lists)), _ints(pc.fill_null(pc.list_value_length(lists), 0)))
    has = np.bincount(row, np.isin(_ints(lists.flatten()), brokers), minlength=len(lists))
    return np.asarray(has > 0)


def _columns_of(rows: tuple[Any, ...], schema: Any) -> ArrowTable:  # noqa: ANN401 - pyarrow ships no type information
    arrays = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _distinct_keys(read: ArrowTable, table: InventoryTable) -> int:
    """Count the distinct keys of a table; keys have no nulls, and their numbers are below 2**31."""
    keys = np.zeros(read.num_rows, np.int64)
    for name in table.key:
        values = read.column(name)
        if pa.types.is_string(values.type):
            values = values.combine_chunks().dictionary_encode().indices
        keys = keys * (MOST_INT + 1) + _ints(values)
    return len(np.unique(keys))


def _column_valid(values: Any, column: Column) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    if column.required and values.null_count:
        return False
    if column.name == "topic":
        names = values.unique().to_pylist()
        return all(is_legal_topic_name(name) for name in names)
    if column.kind in (ColumnKind.INT, ColumnKind.LONG):
        return not len(values) or (pc.min(values).as_py() or 0) >= column.lowest
    if column.kind is ColumnKind.DOUBLE:
        return bool(
            pc.all(pc.and_(pc.is_finite(values), pc.greater_equal(values, 0.0))).as_py()
            is not False
        )
    return column.kind is not ColumnKind.INTS or _lists_valid(values, column)


def _lists_valid(values: Any, column: Column) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    lengths = pc.list_value_length(values)
    flat = values.flatten()
    if flat.null_count or (len(flat) and pc.min(flat).as_py() < 0):
        return False
    if column.required and len(lengths) and pc.min(lengths).as_py() == 0:
        return False
    ascending = np.sort(_padded(values, np.unique(_ints(flat))), axis=1)
    return not ((ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NONE)).any()


def _doubles(values: Any, at: Ints, brokers: int) -> Floats:  # noqa: ANN401 - pyarrow ships no type information
    """Return values at their places among brokers, [B], NaN elsewhere and where null."""
    found = np.full(brokers, np.nan)
    found[at] = values.to_numpy()
    return found


def _ints(values: Any) -> Ints:  # noqa: ANN401 - pyarrow ships no type information
    return np.asarray(values.cast(pa.int64()).fill_null(UNKNOWN).to_numpy(), np.int64)


def _padded(lists: Any, ids: Ints) -> Ints:  # noqa: ANN401 - pyarrow ships no type information
    """Return lists of broker ids as indices into `ids`, [N, W], padded with -1."""
    lengths = _ints(pc.fill_null(pc.list_value_length(lists), 0))
    padded = np.full((len(lengths), int(lengths.max(initial=1))), NONE, np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.searchsorted(
        ids, _ints(lists.flatten())
    )
    return padded


def _ranked(names: Any) -> tuple[tuple[str, ...], Ints]:  # noqa: ANN401 - pyarrow ships no type information
    encoded = names.combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words), np.int64)
    rank[order] = np.arange(len(words))
    return tuple(words[each] for each in order), rank[_ints(encoded.indices)]
