"""Finds, reads and checks a load history.

It is `partition_load.parquet` in the folder that `spec.load.from` names.

Goals: a file that cannot be a history is refused with its place and the cause, by both engines
alike.
Constraints: columns that the planner does not need may be there, and are not read. A single
cluster's history may have the column `cluster`, with one name.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from kadmin.errors import InvalidInputError, KadminError
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.inventory.parquet_tables import arrow_table
from kadmin.next_step import command
from kadmin.planner.load.columns import (
    BYTES_IN,
    BYTES_OUT,
    CLUSTER,
    HOURS,
    PARTITION,
    PARTITION_LOAD,
    REQUESTS,
    START,
    TOPIC,
    WEEKS,
)
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import NoReturn

    from kadmin.inventory.header import Header
    from kadmin.next_step import NextStep
    from kadmin.plan.model import DocumentFile, RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable
    from kadmin.planner.kernel.placement_problem import Bools

BUILD_BY_WEEK = command("load build", "--per-week", "--samples", "PATH", "--out", "DIR")
"""The command that writes a history with a row for each partition and week."""

NAMED = "named"
"""The column of rows that keeps the name of the cluster as the history has it; null where it has
none."""

_RATES = pa.list_(pa.float32())
ROWS = pa.schema(
    [
        (NAMED, pa.string()),
        (TOPIC, pa.string()),
        (PARTITION, pa.int32()),
        (START, pa.timestamp("us", "UTC")),
        (WEEKS, pa.int32()),
        (BYTES_IN, _RATES),
        (BYTES_OUT, _RATES),
        (REQUESTS, _RATES),
    ]
)
"""The rows of one cluster's history."""

RATE_COLUMNS = (BYTES_IN, BYTES_OUT, REQUESTS)
VALUES_OF_ABSENT: Mapping[str, int | None] = {NAMED: None, WEEKS: 1, REQUESTS: None}
"""The value in each row of a column that a history may lack: a row is of one week."""
_WEEK_US = 7 * 24 * 3600 * 10**6
_FIRST_MONDAY_US = 4 * 24 * 3600 * 10**6
"""1970-01-05, the first Monday after the epoch."""


def history_path(request: RebalanceRequest) -> Path | None:
    """Return the path of the request's history, whose folder is relative to its file.

    None where it asks for none.
    """
    load = request.load
    return None if load is None else path_in(load.folder, request.header.file)


def path_in(folder: str, file: DocumentFile | None) -> Path:
    """Return the path of the history in a folder that a document names, relative to its file."""
    base = Path() if file is None else Path(file.name).parent
    return base / folder / PARTITION_LOAD


def history_types(path: Path, header: Header) -> dict[str, Any]:
    """Return the Arrow type of each column that is read and not empty, by name.

    Raises InvalidInputError.
    """
    if not path.exists():
        raise missing_history(path, "spec.load.from")
    try:
        found = parquet.ParquetDataset(path).schema
    except (pa.ArrowInvalid, OSError) as error:
        raise _refusal(path, f"{path} is not a Parquet table.", str(error)) from error
    needed = [name for name in ROWS.names if name not in VALUES_OF_ABSENT] + [
        CLUSTER
    ] * header.fleet
    if missing := [name for name in needed if name not in found.names]:
        cause = f"it has {', '.join(sorted(found.names)) or 'none'}"
        raise _refusal(path, f"{path} lacks the columns: {', '.join(missing)}.", cause)
    present = {
        name: found.field(name).type for name in (CLUSTER, *ROWS.names) if name in found.names
    }
    types = {name: kind for name, kind in present.items() if not pa.types.is_null(kind)}
    wrong = [
        f"{name} is {kind}, not {_TYPES[name][0]}"
        for name, kind in types.items()
        if not _TYPES[name][1](kind)
    ]
    if wrong:
        raise _refusal(path, f"{path} has columns of other types.", "; ".join(wrong))
    return types


def read_history(request: RebalanceRequest, header: Header) -> dict[str, ArrowTable]:
    """Return the rows of each cluster of the header by its name, without checking them.

    None without spec.load. Raises InvalidInputError.
    """
    path = history_path(request)
    if path is None:
        return {}
    rows = read_rows(path, header)
    if not header.fleet:
        return {SINGLE_CLUSTER: rows}
    return {name: rows.filter(pc.equal(rows.column(NAMED), name)) for name in header.clusters}


def rows_valid(rows: ArrowTable) -> bool:
    """Whether every row of one cluster is valid; `explain_bad_history` names those that are not."""
    return len(_clusters(rows)) <= 1 and not any(_bad_rows(rows))


def as_array(column: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return a column as one array; Arrow's combine_chunks copies a single chunk, too."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def as_rows(found: ArrowTable) -> ArrowTable:
    """Return a history's table with the columns of ROWS.

    Raises ArrowInvalid for values of other types.
    """
    if CLUSTER in found.column_names:
        found = found.rename_columns(
            [NAMED if name == CLUSTER else name for name in found.column_names]
        )
    for field in ROWS:
        if field.name not in found.column_names:
            value = pa.scalar(VALUES_OF_ABSENT.get(field.name), field.type)
            found = found.append_column(field, pa.repeat(value, len(found)))
    return found.select(ROWS.names).cast(ROWS)


def explain_bad_history(path: Path, header: Header) -> NoReturn:
    """Raise InvalidInputError with the bad rows of a history in which an engine found some."""
    rows = read_rows(path, header)
    names = _clusters(rows)
    if not header.fleet and len(names) > 1:
        cause = f"it has {name_some(sorted(names))}, and the inventory is of one cluster"
        raise _refusal(path, f"{path} is the history of several clusters.", cause)
    if bad := list(_bad_rows(rows)):
        raise _refusal(path, f"{path} has bad rows.", "; ".join(bad))
    raise KadminError(f"The planner found bad rows in {path}, which a second reading did not find.")


def _clusters(rows: ArrowTable) -> list[str]:
    """Return the names of clusters that rows have."""
    return [name for name in rows.column(NAMED).unique().to_pylist() if name is not None]


def _refusal(path: Path, message: str, cause: str) -> InvalidInputError:
    return InvalidInputError(message, cause=cause, next_step=build_history(path))


def build_history(path: Path) -> NextStep:
    """Return the command that writes a history to the folder of a path."""
    folder = shlex.quote(str(path.parent))
    return command("load build", "--samples", "PATH", "--out", folder)


def missing_history(path: Path, field: str) -> InvalidInputError:
    """Return the error for a history that is not there; the field of a document names it."""
    return _refusal(path, f"There is no {path}.", f"{field} names the folder of a load history")


def read_rows(path: Path, header: Header) -> ArrowTable:
    """Read the rows of a history, without checking them; raises InvalidInputError."""
    names = list(history_types(path, header))
    found = arrow_table(parquet, path, [name for name in names if name not in RATE_COLUMNS])
    # One at a time: decoding takes four times its memory.
    for name in (name for name in names if name in RATE_COLUMNS):
        found = found.append_column(name, arrow_table(parquet, path, [name]).column(name))
        pa.default_memory_pool().release_unused()
    try:
        return as_rows(found)
    except pa.ArrowInvalid as error:
        raise _refusal(path, f"{path} has bad rows.", str(error)) from error


def _is_rates(kind: Any) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(
        lists and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type))
    )


def _is_string(kind: Any) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_time(kind: Any) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    """Whether Spark reads the type, too: it does not read nanoseconds."""
    return bool(pa.types.is_timestamp(kind) and kind.unit != "ns")


_TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    CLUSTER: ("a string", _is_string),
    TOPIC: ("a string", _is_string),
    PARTITION: ("an integer", pa.types.is_integer),
    START: ("a timestamp in microseconds", _is_time),
    WEEKS: ("an integer", pa.types.is_integer),
    **dict.fromkeys(RATE_COLUMNS, ("a list of numbers", _is_rates)),
}


def _bad_rows(rows: ArrowTable) -> Iterator[str]:
    """Yield the problems of rows, column by column; rows count from 1."""
    for name in (TOPIC, PARTITION, START, WEEKS):
        yield from _counted(name, "null", pc.is_null(rows.column(name)))
    for name, lowest in ((PARTITION, 0), (WEEKS, 1)):
        what = "negative" if lowest == 0 else f"below {lowest}"
        yield from _counted(name, what, pc.less(rows.column(name), lowest))
    since = pc.subtract(rows.column(START).cast(pa.int64()), _FIRST_MONDAY_US)
    weeks = pc.floor(pc.divide(since.cast(pa.float64(), safe=False), float(_WEEK_US))).cast(
        pa.int64()
    )
    yield from _counted(
        START, "not a Monday 00:00 UTC", pc.not_equal(pc.multiply(weeks, _WEEK_US), since)
    )
    for name in RATE_COLUMNS:
        yield from _bad_rates(name, rows.column(name))
    yield from _counted(f"{TOPIC}, {PARTITION}, {START}", "with a duplicate key", _repeated(rows))


def _bad_rates(name: str, column: Any) -> Iterator[str]:  # noqa: ANN401 - pyarrow ships no type information
    lengths = pc.list_value_length(column)
    yield from _counted(
        name, f"with a list of a length other than {HOURS}", pc.not_equal(lengths, HOURS)
    )
    values = as_array(column)
    tests: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("with a NaN or infinite rate", lambda flat: pc.invert(pc.is_finite(flat))),
        ("with a negative rate", lambda flat: pc.less(flat, 0.0)),
    )
    for what, test in tests:
        wrong = test(values.flatten())
        if pc.any(wrong).as_py():
            parents = pc.list_parent_indices(values).filter(wrong).unique().to_numpy()
            yield from _counted(name, what, np.isin(np.arange(len(values)), parents))


def _repeated(rows: ArrowTable) -> Bools:
    """Whether each row has the key of one before it."""
    keys = [rows.column(name).combine_chunks() for name in (NAMED, TOPIC, PARTITION, START)]
    codes = [key.dictionary_encode(null_encoding="encode").indices.to_numpy() for key in keys]
    order = np.lexsort(codes[::-1])
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for code in codes:
        same &= code[order][1:] == code[order][:-1]
    repeated = np.zeros(len(order), np.bool_)
    repeated[order[1:][same]] = True
    return repeated


def _counted(column: str, what: str, wrong: Any) -> Iterator[str]:  # noqa: ANN401 - pyarrow ships no type information
    """Yield one message for the rows of a mask, whose nulls are no fault."""
    mask = (
        wrong
        if isinstance(wrong, np.ndarray)
        else np.asarray(pc.fill_null(wrong, fill_value=False), np.bool_)
    )
    if found := np.flatnonzero(mask).tolist():
        counted = "1 row" if len(found) == 1 else f"{len(found)} rows"
        yield f"{column}: {counted} {what} (first: row {found[0] + 1})"
