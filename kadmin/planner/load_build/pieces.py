"""Files of roll-ups and hours: read in pieces of whole topics, and written whole."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark import TaskContext

from kadmin.planner.load_build.grouping import names
from kadmin.planner.load_build.hourly import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from kadmin.planner.load_build.grouping import Numbers, Table

    Topic: TypeAlias = tuple[str, str]
    """A topic by its cluster and name."""
    Range: TypeAlias = tuple[Topic, Topic | None]
    """Topics from one on and before another; None for no end."""

ALL: Range = (("", ""), None)
_GROUP_ROWS = 2**15
"""Rows of a row group, by which a piece is read."""


def opened(paths: Sequence[str]) -> list[Any]:
    """Open Parquet files of roll-ups or hours."""
    names_in = ((path, {*NAMES} & {*parquet.read_schema(path).names}) for path in paths)
    return [parquet.ParquetFile(path, read_dictionary=[*found]) for path, found in names_in]


def ranges(files: Sequence[Any], most_rows: int) -> list[Range]:
    """Share the topics of files out, so that a range has about so many rows, or one topic."""
    groups = sorted(
        (_ends(file, number)[0], file.metadata.row_group(number).num_rows)
        for file in files
        for number in range(file.metadata.num_row_groups)
    )
    starts, rows = [ALL[0]], 0
    for topic, count in groups:
        if rows + count > most_rows and topic > starts[-1]:
            starts, rows = [*starts, topic], 0
        rows += count
    return list(zip(starts, [*starts[1:], None], strict=True))


def within(file: Any, wanted: Range) -> Table:  # noqa: ANN401 - pyarrow ships no type information
    """Read a file's rows of these topics."""
    start, end = wanted
    numbers = []
    for number in range(file.metadata.num_row_groups):
        first, last = _ends(file, number)
        if (last is None or last >= start) and (end is None or first < end):
            numbers.append(number)
    table = file.read_row_groups(numbers)
    if wanted == ALL:
        return table
    inside = _from(table, start) & (True if end is None else ~_from(table, end))
    return table.filter(pa.array(inside))


def _ends(file: Any, number: int) -> Range:  # noqa: ANN401 - pyarrow ships no type information
    """Return bounds of the topics of a row group; None where the last one is not known."""
    group, columns = file.metadata.row_group(number), file.schema_arrow.names
    cluster, topic = (group.column(columns.index(name)).statistics for name in ("cluster", "topic"))
    if cluster is None or topic is None or not (cluster.has_min_max and topic.has_min_max):
        return ALL
    if cluster.min == cluster.max:
        return (cluster.min, topic.min), (cluster.max, topic.max)
    return (cluster.min, ""), None


def _from(table: Table, start: Topic) -> Numbers:
    """Whether rows are of this topic or a later one."""
    cluster, topic = names(table["cluster"]), names(table["topic"])
    after, same = np.array([(each > start[0], each == start[0]) for each in cluster.each]).T[
        :, cluster.numbers
    ]
    late = np.array([each >= start[1] for each in topic.each])[topic.numbers]
    found: Numbers = after | (same & late)
    return found


def numbers_in(batches: Iterable[Any]) -> list[int]:
    """Return the numbers that a task is given."""
    return [number for batch in batches for number in batch.column(0).to_pylist()]


def attempt() -> int:
    """Return a number that no other attempt of a task of this session has."""
    context = TaskContext.get()
    return 0 if context is None else context.taskAttemptId()


@contextmanager
def whole_file(path: Path) -> Iterator[Callable[[Table], None]]:
    """Give what writes tables to a file, which appears when all are written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{attempt()}")
    try:
        with ExitStack() as open_files:
            writers: list[Any] = []

            def write(table: Table) -> None:
                if not writers:
                    writer = parquet.ParquetWriter(partial, table.schema, compression="zstd")
                    writers.append(open_files.enter_context(writer))
                writers[0].write_table(table, _GROUP_ROWS)

            yield write
        if writers:
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
