"""Writes hourly roll-ups of new samples by day, and reads those that a history names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as f

from kadmin.inventory.samples import TIME
from kadmin.planner.load_build.history import (
    History,
    NewSamples,
    locked,
    next_run,
    read_history,
    remove_leftovers,
    to_read,
    write_history,
)
from kadmin.planner.load_build.hourly import ROLL_UP, day_of, is_usable, merge, roll_up
from kadmin.planner.load_build.sample_files import sample_files
from kadmin.planner.load_build.sources import ENDINGS, samples
from kadmin.planner.spark_tables import local_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.sources import SampleSource

_DAY = "day"


def hold(out: Path) -> AbstractContextManager[None]:
    """Hold the lock of the load in `out`."""
    return locked(folder_of(out))


@dataclass(frozen=True, slots=True)
class Update:
    """The history after a run, the days that it wrote, and the samples that it read and that it left out."""

    history: History
    days: tuple[str, ...] = ()
    samples: int = 0
    left_out: int = 0


def update(
    session: SparkSession,
    source: SampleSource,
    out: Path,
    on_stage: Callable[[str], None],
    on_plan: Callable[[DataFrame], None],
) -> Update:
    """Roll up the samples that are new since the last run.

    A source whose files are not listed is read whole, and takes the place of all that was there.
    """
    folder = folder_of(out)
    history = read_history(folder)
    remove_leftovers(folder, history)
    files = sample_files(Path(source.place), ENDINGS[source.format], history.files) if source.listed else {}
    reading = to_read(history, files) if source.listed else NewSamples(None)
    if reading is None:
        return Update(history)
    number = len(files if reading.files is None else reading.files)
    on_stage(f"rolling up samples by hour (files: {number:,})" if source.listed else "rolling up samples by hour")
    counted = Observation()
    rows = _rolled_up(session, source, reading, [folder / history.days[day] for day in reading.merges], counted)
    on_plan(rows)
    run = next_run(folder)
    rows.withColumn(_DAY, day_of(f.col("hour"))).write.partitionBy(_DAY).parquet(local_url(folder / run))
    days = {each.name.partition("=")[2]: f"{run}/{each.name}" for each in (folder / run).glob(f"{_DAY}=*")}
    history = (history if source.listed else History()).with_run(files, days)
    write_history(folder, history)
    return Update(history, tuple(sorted(days)), counted.get["samples"], counted.get["left_out"])


def read(session: SparkSession, out: Path, history: History, days: Iterable[str]) -> DataFrame:
    """Return the roll-ups of these days."""
    return _read(session, [folder_of(out) / history.days[day] for day in days])


def folder_of(out: Path) -> Path:
    """Return the folder of the roll-ups, in which what a killed run left is removed by the next one."""
    return out / "hourly"


def _read(session: SparkSession, paths: Iterable[Path]) -> DataFrame:
    return session.read.parquet(*map(local_url, paths)).select(*ROLL_UP)


def _rolled_up(
    session: SparkSession, source: SampleSource, reading: NewSamples, merged_with: list[Path], counted: Observation
) -> DataFrame:
    place = Path(source.place)
    root = place if place.is_dir() else place.parent
    rows = samples(session, source, [local_url(root / name) for name in reading.files or ()])
    if reading.days:
        day = f.to_date(TIME)
        rows = rows.where(reduce(or_, (day.between(f.lit(first), f.lit(last)) for first, last in reading.days)))
    rows = rows.observe(counted, f.count(f.lit(1)).alias("samples"), f.count(f.when(~is_usable(), 1)).alias("left_out"))
    fresh = roll_up(rows)
    return merge(fresh.unionByName(_read(session, merged_with))) if merged_with else fresh
