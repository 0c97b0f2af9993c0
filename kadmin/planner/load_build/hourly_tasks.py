"""The tasks of Spark that make hours of samples: they read, group and write Arrow tables.

Rows would take longer to go through the JVM than to be grouped. First tasks write the roll-ups of
their samples by day, second ones merge those of a day, third ones write its hours of partitions.
Spark may run a task twice: what it returns counts.

    000003/parts/2026-03-02/12-0.parquet    roll-ups of the samples of a first task
    000003/day=2026-03-02/rows.parquet      those of the day
    000004/day=2026-03-02/rows.parquet      its hours of partitions
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from kadmin.inventory.columns import CLUSTER
from kadmin.inventory.parquet_tables import arrow_types
from kadmin.inventory.samples import SAMPLE_COLUMNS, TIME
from kadmin.planner.load_build.grouping import names
from kadmin.planner.load_build.hourly import merge, roll_up
from kadmin.planner.load_build.partitions import partition_hours
from kadmin.planner.load_build.pieces import attempt, numbers_in, opened, ranges, whole_file, within
from kadmin.planner.load_build.rates import is_sparse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kadmin.planner.load_build.grouping import Table

PARTS = "samples bigint, left_out bigint, parts array<string>"
"""What a first task returns: its samples, those that cannot be used, and the files it wrote."""
DAYS = "day string, samples bigint, sparse bigint, fleet boolean, first_hour int, last_hour int"
"""What a second task returns: the fields of Day for each piece of a day."""

_TYPES = {each.name: arrow_types(pa)[each.kind] for each in (CLUSTER, *SAMPLE_COLUMNS)}
_TEXTS = [name for name, kind in _TYPES.items() if kind == pa.string()]
_READ_ROWS, _MOST_ROWS = 2**19, 2**21
"""Samples that are rolled up at once, and roll-ups that are merged at once: what bounds memory."""


@dataclass(frozen=True, slots=True)
class WantedDay:
    """A day whose hours are to be made: its name, its number from 1970, the files of its roll-ups.

    `beside` are those of the days beside it, where its hours need them.
    """

    name: str
    number: int
    roll_ups: tuple[str, ...]
    beside: tuple[str, ...]


def roll_up_files(
    numbers: Iterable[Any],
    tasks: Sequence[Sequence[str]],
    days: Collection[tuple[int, int]],
    folder: str,
) -> Iterator[Any]:
    """Roll up the plain Parquet files of the tasks with these numbers; returns PARTS."""
    paths = (path for number in numbers_in(numbers) for path in tasks[number])
    tables = (table for path in paths for table in _samples_in(path))
    yield _rolled_up(tables, days, Path(folder))


def roll_up_rows(
    batches: Iterable[Any], days: Collection[tuple[int, int]], folder: str
) -> Iterator[Any]:
    """Roll up samples that Spark read, with the columns of samples; returns PARTS."""
    tables = (pa.Table.from_batches([batch]) for batch in batches)
    yield _rolled_up(tables, days, Path(folder))


def merge_days(
    numbers: Iterable[Any], days: Sequence[tuple[str, Sequence[str]]], folder: str
) -> Iterator[Any]:
    """Write the roll-ups of the days with these numbers, made of their files; returns DAYS."""
    for number in numbers_in(numbers):
        day, paths = days[number]
        with whole_file(_of_day(folder, day)) as write:
            for roll_ups in map(merge, _pieces(paths)):
                write(roll_ups)
                yield _described(day, roll_ups)


def hours_of_days(numbers: Iterable[Any], days: Sequence[WantedDay], folder: str) -> Iterator[Any]:
    """Write the hours of partitions of the days with these numbers, and return the numbers."""
    for number in numbers_in(numbers):
        day = days[number]
        first, after = day.number * 24, day.number * 24 + 24
        with whole_file(_of_day(folder, day.name)) as write:
            for piece in _pieces(day.roll_ups, day.beside):
                near = _between(piece, first - 1, after + 1) if day.beside else piece
                write(_between(partition_hours(merge(near)), first, after))
        yield pa.RecordBatch.from_pydict({"id": [number]})


def _of_day(folder: str, day: str) -> Path:
    return Path(folder) / f"day={day}" / "rows.parquet"


def _between(rows: Table, first: int, after: int) -> Table:
    """Return the rows from an hour on and before another."""
    hour = np.asarray(rows["hour"])
    return rows.filter(pa.array((first <= hour) & (hour < after)))


def _described(day: str, roll_ups: Table) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    hour = np.asarray(roll_ups["hour"])
    figures = {
        "samples": int(np.asarray(roll_ups["samples"]).sum()),
        "sparse": int(is_sparse(roll_ups).sum()),
        "fleet": bool(names(roll_ups["cluster"]).numbers.any()),
    }
    ends = {
        name: pa.array([each], pa.int32())
        for name, each in (("first_hour", hour.min()), ("last_hour", hour.max()))
    }
    return pa.RecordBatch.from_pydict(
        {"day": [day], **{name: [each] for name, each in figures.items()}, **ends}
    )


def _samples_in(path: str) -> Iterator[Table]:
    try:
        there = {*parquet.read_schema(path).names}
        texts, present = ([name for name in each if name in there] for each in (_TEXTS, _TYPES))
        file = parquet.ParquetFile(path, read_dictionary=texts)
        for batch in file.iter_batches(_READ_ROWS, columns=present):
            rows = {
                name: batch[name] if name in there else pa.nulls(len(batch), kind)
                for name, kind in _TYPES.items()
            }
            yield pa.table({**rows, TIME: rows[TIME].cast(_TYPES[TIME])})
    except (pa.ArrowInvalid, OSError) as error:
        raise OSError(f"{path} cannot be read: {error}") from error


def _together(tables: Iterable[Table]) -> Iterator[Table]:
    """Put small tables together: each call of roll_up has a price of its own."""
    held: list[Table] = []
    for table in tables:
        held.append(table)
        if sum(map(len, held)) >= _READ_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _rolled_up(samples: Iterable[Table], days: Collection[tuple[int, int]], folder: Path) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    held: list[Table] = []
    read = left_out = 0
    parts: list[str] = []
    for table in _together(samples):
        found, useless = roll_up(table, days)
        read += useless + int(np.sum(found["samples"].to_numpy()))
        left_out += useless
        held.append(found)
        if sum(map(len, held)) > _MOST_ROWS:
            parts += _write_days(merge(pa.concat_tables(held)), folder, len(parts))
            held = []
    if held:
        parts += _write_days(merge(pa.concat_tables(held)), folder, len(parts))
    return pa.RecordBatch.from_pydict(
        {
            "samples": [read],
            "left_out": [left_out],
            "parts": pa.array([parts], pa.list_(pa.string())),
        }
    )


def _write_days(roll_ups: Table, folder: Path, number: int) -> list[str]:
    """Write roll-ups by day, in files that no other attempt of a task writes; returns them."""
    name, written = f"{attempt()}-{number}.parquet", []
    day = roll_ups["hour"].to_numpy() // 24
    for each in np.unique(day):
        path = folder / "parts" / str(np.datetime64(int(each), "D")) / name
        with whole_file(path) as write:
            write(roll_ups.filter(pa.array(day == each)))
        written.append(str(path))
    return written


def _pieces(paths: Sequence[str], beside: Sequence[str] = ()) -> Iterator[Table]:
    """Read roll-ups in pieces; those of the same topics `beside` come with them."""
    files, others = opened(paths), opened(beside)
    for topics in ranges(files, _MOST_ROWS):
        own = [within(file, topics) for file in files]
        if any(map(len, own)):
            yield pa.concat_tables([*own, *(within(file, topics) for file in others)])
