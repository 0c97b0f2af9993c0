"""Writes hourly roll-ups of new samples and the hours of partitions that follow, by day.

It also reads them again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from kadmin.planner.load_build.hourly_tasks import (
    DAYS,
    PARTS,
    WantedDay,
    hours_of_days,
    merge_days,
    roll_up_files,
    roll_up_rows,
)
from kadmin.planner.load_build.prometheus import export_gaps
from kadmin.planner.load_build.sample_files import sample_files
from kadmin.planner.load_build.sources import ENDINGS, samples
from kadmin.planner.spark_session import local_url
from kadmin.planner.worker_package import ship_package

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.sample_files import SampleFile
    from kadmin.planner.load_build.sources import SampleSource

_TASK_BYTES = 32 * 2**20
"""The most bytes of Parquet files that a task rolls up."""


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
    folder, history, reading = folder_of(out.absolute()), found.history, found.reading
    if reading is None:
        return Update(history)
    # Spark lists the files of a folder itself, unless they are of several forms.
    names = found.names if source.names else reading.files or ()
    paths = [local_url(_path(source, name)) for name in names]
    gaps = export_gaps(session, source.names, paths) if source.names else ExportGaps()
    run = folder / next_run(folder)
    parts = _parts(session, source, found, paths, run)
    on_plan(parts)
    done = parts.toArrow().to_pylist()
    written = [path for each in done for path in each["parts"]]
    days = _merge(session, written, reading.merges, history, run)
    history = history.with_run(found.files, days)
    write_history(folder, history)
    samples, left_out = (sum(each[name] for each in done) for name in ("samples", "left_out"))
    return Update(history, tuple(sorted(days)), samples, left_out, gaps)


def bring_hours_up_to_date(
    session: SparkSession,
    out: Path,
    history: History,
    on_plan: Callable[[DataFrame], None] = lambda _rows: None,
) -> History:
    """Make the hours of partitions of the days that have none.

    Calls `on_plan` with their DataFrame.
    """
    folder = folder_of(out.absolute())
    wanted = [
        _wanted(history, name, folder) for name in history.days if history.days[name].hours is None
    ]
    if not wanted:
        return history
    run = folder / next_run(folder)
    task = partial(hours_of_days, days=wanted, folder=str(run))
    hours = in_tasks(session, len(wanted), task, "id bigint")
    on_plan(hours)
    hours.toArrow()
    history = history.with_hours(_days_in(run))
    write_history(folder, history)
    return history


def _wanted(history: History, name: str, folder: Path) -> WantedDay:
    day = history.days[name]
    beside = neighbouring_days([day]) if day.sparse else set()
    near = (each for each in history.days.values() if each.number in beside)
    return WantedDay(
        name,
        day.number,
        _files(folder / day.roll_ups),
        tuple(path for each in near for path in _files(folder / each.roll_ups)),
    )


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(map(str, sorted(folder.glob("[!._]*.parquet"))))


def hours_of(out: Path, days: Iterable[Day]) -> list[str]:
    """Return the files of partition_hours of these days."""
    folder = folder_of(out.absolute())
    return [path for day in days for path in _files(folder / str(day.hours))]


def folder_of(out: Path) -> Path:
    """Return the folder of the roll-ups.

    Leftovers of a killed run are removed there by the next one.
    """
    return out / "hourly"


def in_tasks(
    session: SparkSession, count: int, task: Callable[[Iterable[Any]], Iterator[Any]], returns: str
) -> DataFrame:
    """Return what a task returns for each number below the count, each in a task of its own."""
    ship_package(session)
    return session.range(0, count, 1, count).mapInArrow(task, returns)


def _days_in(run: Path) -> dict[str, str]:
    """Return the folder of each day that a run wrote."""
    return {each.name.partition("=")[2]: f"{run.name}/{each.name}" for each in run.glob("day=*")}


def _day_number(day: str) -> int:
    """Return the days from 1970 to a day."""
    return (date.fromisoformat(day) - date(1970, 1, 1)).days


def _path(source: SampleSource, name: str) -> Path:
    """Return the path of a source's file."""
    path = Path(source.place).absolute()
    return (path if path.is_dir() else path.parent) / name


def _parts(
    session: SparkSession, source: SampleSource, found: Found, paths: list[str], run: Path
) -> DataFrame:
    """Return what rolls samples up, as PARTS; plain Parquet files do not go through the JVM."""
    ranges = () if found.reading is None else found.reading.days
    days = [(_day_number(first), _day_number(last)) for first, last in ranges]
    tasks = _tasks(source, found)
    if tasks:
        task = partial(roll_up_files, tasks=tasks, days=days, folder=str(run))
        return in_tasks(session, len(tasks), task, PARTS)
    ship_package(session)
    rows = samples(session, source, paths)
    return rows.mapInArrow(partial(roll_up_rows, days=days, folder=str(run)), PARTS)


def _tasks(source: SampleSource, found: Found) -> list[list[str]]:
    """Share plain Parquet files out to tasks: those beside each other have rows of the same hours.

    None for a source that Spark reads.
    """
    if not source.by_file:
        return []
    tasks: list[list[str]] = []
    left = 0
    for name in found.names:
        file = found.files[name]
        # Spark takes a folder name=value as a column.
        if "=" in name or not file.plain:
            return []
        if left < file.size_bytes:
            tasks, left = [*tasks, []], _TASK_BYTES
        tasks[-1].append(str(_path(source, name)))
        left -= file.size_bytes
    return tasks


def _merge(
    session: SparkSession,
    parts: Iterable[str],
    merges: Collection[str],
    history: History,
    run: Path,
) -> dict[str, Day]:
    """Merge the parts of each day, and what is kept of those that are merged with."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(parts):
        files[Path(path).parent.name].append(path)
    for day in files.keys() & {*merges}:
        files[day] += _files(run.parent / history.days[day].roll_ups)
    if not files:
        return {}
    task = partial(merge_days, days=[*files.items()], folder=str(run))
    pieces = in_tasks(session, len(files), task, DAYS).toArrow()
    folders = _days_in(run)
    return {
        name: Day(
            folders[name],
            samples=sum(each["samples"] for each in of_day),
            sparse=sum(each["sparse"] for each in of_day),
            fleet=any(each["fleet"] for each in of_day),
            first_hour=min(each["first_hour"] for each in of_day),
            last_hour=max(each["last_hour"] for each in of_day),
        )
        for name in files
        for of_day in ([each for each in pieces.to_pylist() if each["day"] == name],)
    }
