"""Writes hourly roll-ups of new samples and the hours of partitions that follow, by day.

It also reads them again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as f

from kadmin.inventory.samples import TIME
from kadmin.planner.load_build.export_series import ExportGaps
from kadmin.planner.load_build.history import (
    Day,
    History,
    NewSamples,
    locked,
    neighbouring_days,
    next_run,
    read_history,
    remove_leftovers,
    to_read,
    write_history,
)
from kadmin.planner.load_build.hourly import ROLL_UP, UNKNOWN_ID, day_of, merge, roll_up
from kadmin.planner.load_build.partitions import METERS, partition_hours
from kadmin.planner.load_build.prometheus import export_gaps
from kadmin.planner.load_build.rates import hourly_rates, is_sparse
from kadmin.planner.load_build.sample_files import sample_files
from kadmin.planner.load_build.sources import ENDINGS, samples
from kadmin.planner.spark_session import local_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.sample_files import SampleFile
    from kadmin.planner.load_build.sources import SampleSource

_DAY = "day"


def hold(out: Path) -> AbstractContextManager[None]:
    """Hold the lock of the load in `out`."""
    return locked(folder_of(out))


@dataclass(frozen=True, slots=True)
class Found:
    """The history so far, all sample files by name, and the new ones among them, `reading`.

    None for none. A source whose files are not listed is all new, and replaces the history.
    """

    history: History
    files: Mapping[str, SampleFile]
    reading: NewSamples | None

    @property
    def names(self) -> Collection[str]:
        """The names of the files to read."""
        new = None if self.reading is None else self.reading.files
        return self.files if new is None else new


@dataclass(frozen=True, slots=True)
class Update:
    """The history after a run, and the days that it wrote.

    It also has the samples that it read and that it left out. `gaps` are those of an export of
    Prometheus.
    """

    history: History
    days: tuple[str, ...] = ()
    samples: int = 0
    left_out: int = 0
    gaps: ExportGaps = field(default_factory=ExportGaps)


def find(source: SampleSource, out: Path) -> Found:
    """Find the samples that are new since the last run, and remove leftovers of a killed run."""
    folder = folder_of(out)
    history = read_history(folder)
    remove_leftovers(folder, history)
    if not source.listed:
        return Found(History(), {}, NewSamples(None))
    files = sample_files(Path(source.place), ENDINGS[source.format], history.files)
    return Found(history, files, to_read(history, files))


def update(
    session: SparkSession,
    source: SampleSource,
    out: Path,
    found: Found,
    on_plan: Callable[[DataFrame], None] = lambda _rows: None,
) -> Update:
    """Roll up the samples that are new; calls `on_plan` with the DataFrame of the roll-ups."""
    folder, history, reading = folder_of(out), found.history, found.reading
    if reading is None:
        return Update(history)
    counted = Observation()
    # Spark lists the files of a folder itself, unless they are of several forms.
    paths = _paths(source, found.names if source.names else reading.files or ())
    gaps = export_gaps(session, source.names, paths) if source.names else ExportGaps()
    merged_with = [folder / history.days[day].roll_ups for day in reading.merges]
    rows = _rolled_up(samples(session, source, paths), reading, merged_with, counted)
    on_plan(rows)
    days = _described(session, folder, _write_days(rows, folder))
    history = history.with_run(found.files, days)
    write_history(folder, history)
    return Update(
        history, tuple(sorted(days)), counted.get["samples"], counted.get["left_out"], gaps
    )


def bring_hours_up_to_date(
    session: SparkSession,
    out: Path,
    history: History,
    on_plan: Callable[[DataFrame], None] = lambda _rows: None,
) -> History:
    """Make the hours of partitions of the days that have none.

    Calls `on_plan` with their DataFrame.
    """
    wanted = {day.number: day for day in history.days.values() if day.hours is None}
    if not wanted:
        return history
    folder = folder_of(out)
    bounding = neighbouring_days(day for day in wanted.values() if day.sparse)
    asked = [day for day in history.days.values() if day.number in wanted.keys() | bounding]
    sparse = [day for day in asked if day.sparse]
    near = neighbouring_days(sparse) | {day.number for day in sparse}
    roll_ups = _read(session, [folder / day.roll_ups for day in asked])
    bounds = (
        _read(session, [folder / day.roll_ups for day in asked if day.number in near])
        if sparse
        else None
    )
    hours = partition_hours(hourly_rates(roll_ups, bounds, sum(day.sparse for day in sparse)))
    if len(asked) > len(wanted):
        hours = hours.where(f.floor(f.col("hour") / 24).isin(*wanted))
    on_plan(hours)
    history = history.with_hours(_write_days(hours, folder))
    write_history(folder, history)
    return history


def read_hours(session: SparkSession, out: Path, days: Iterable[Day]) -> DataFrame:
    """Return partition_hours of these days."""
    return session.read.parquet(*(local_url(folder_of(out) / str(day.hours)) for day in days))


def folder_of(out: Path) -> Path:
    """Return the folder of the roll-ups.

    Leftovers of a killed run are removed there by the next one.
    """
    return out / "hourly"


def _read(session: SparkSession, paths: Iterable[Path]) -> DataFrame:
    return session.read.parquet(*map(local_url, paths)).select(*ROLL_UP)


def _write_days(rows: DataFrame, folder: Path) -> dict[str, str]:
    """Write rows by day; returns the folder of each day."""
    run = next_run(folder)
    rows.withColumn(_DAY, day_of(f.col("hour"))).write.partitionBy(_DAY).parquet(
        local_url(folder / run)
    )
    return {
        each.name.partition("=")[2]: f"{run}/{each.name}"
        for each in (folder / run).glob(f"{_DAY}=*")
    }


def _described(session: SparkSession, folder: Path, days: Mapping[str, str]) -> dict[str, Day]:
    """Look through the roll-ups of days once: one row a day comes back."""
    if not days:
        return {}
    meter = (f.col("partition") == UNKNOWN_ID) & f.col("metric").isin(*METERS)
    rows = (
        _read(session, [folder / each for each in days.values()])
        .groupBy(day_of(f.col("hour")).cast("string").alias("day"))
        .agg(
            f.sum("samples").alias("samples"),
            f.count(f.when(is_sparse(), 1)).alias("sparse"),
            (f.count(f.when(meter, 1)) > 0).alias("metered"),
            # The maximum of a text would have Spark sort.
            f.bool_or(f.col("cluster") != "").alias("fleet"),
            f.min("hour").alias("first_hour"),
            f.max("hour").alias("last_hour"),
        )
        .toArrow()
        .to_pylist()
    )
    return {row["day"]: Day(days[row.pop("day")], **row) for row in rows}


def _paths(source: SampleSource, names: Iterable[str]) -> list[str]:
    path = Path(source.place)
    root = path if path.is_dir() else path.parent
    return [local_url(root / name) for name in names]


def _rolled_up(
    rows: DataFrame, reading: NewSamples, merged_with: list[Path], counted: Observation
) -> DataFrame:
    if reading.days:
        day = f.to_date(TIME)
        rows = rows.where(
            reduce(or_, (day.between(f.lit(first), f.lit(last)) for first, last in reading.days))
        )
    left_out = f.col("hour").isNull()
    fresh = (
        roll_up(rows)
        .observe(
            counted,
            f.coalesce(f.sum("samples"), f.lit(0)).alias("samples"),
            f.coalesce(f.sum(f.when(left_out, f.col("samples"))), f.lit(0)).alias("left_out"),
        )
        .where(~left_out)
    )
    return merge(fresh.unionByName(_read(rows.sparkSession, merged_with))) if merged_with else fresh
