"""Builds the load over time on Spark.

Samples become hourly roll-ups, roll-ups partition_load and broker_load.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyarrow import parquet
from pyspark.errors import PySparkException

from kadmin import __version__
from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.planner.load import columns
from kadmin.planner.load.columns import COVERAGE
from kadmin.planner.load_build.brokers import added_up
from kadmin.planner.load_build.figures import (
    PER_WEEK,
    Agreement,
    BuiltLoad,
    SamplesRead,
    UnknownName,
)
from kadmin.planner.load_build.history import write_history
from kadmin.planner.load_build.load_tasks import OF_BROKERS, LoadOfTopics
from kadmin.planner.load_build.pieces import opened, ranges, whole_file
from kadmin.planner.load_build.roll_ups import (
    Update,
    bring_hours_up_to_date,
    find,
    folder_of,
    hold,
    hours_of,
    in_tasks,
    update,
)
from kadmin.planner.load_build.weeks import WeekMerge, first_hour_of_week, time_of
from kadmin.planner.proposal import ignore_stages
from kadmin.planner.spark_session import LOGGING, cause_of, spark_session
from kadmin.schema.shapes import to_json
from kadmin.whole_files import write_whole
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.export_series import ExportGaps
    from kadmin.planner.load_build.grouping import Table
    from kadmin.planner.load_build.history import Day, History
    from kadmin.planner.load_build.roll_ups import Found
    from kadmin.planner.load_build.sources import SampleSource
    from kadmin.planner.proposal import Options

_DEFAULTS = {"spark.driver.memory": "1500m", "spark.sql.shuffle.partitions": "16"}
# Unlike a proposal, reading rows is long enough for the optimizing compiler to pay off.
_JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={LOGGING.as_uri()} -Xlog:disable -Xlog:all=warning:stderr"
)
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_TIME_ZONE = "spark.sql.session.timeZone"
_PIECE_ROWS = 2**18
"""The hours of partitions that a task makes the load of."""
_STRAY = 1000
"""Divisor of the fullest day's samples: a day with fewer comes from a clock that was wrong."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class LoadTask:
    """The source of samples, the folder of the result, and the merge of weeks.

    None keeps each week apart. With `explain`, the report has Spark's plans.
    """

    source: SampleSource
    out: Path
    merge: WeekMerge | None = WeekMerge.MEAN
    explain: bool = False

    @property
    def merge_name(self) -> str:
        """The merge's name in answers."""
        return PER_WEEK if self.merge is None else self.merge.value


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The figures of the load, as in load.json, and Spark's plans of the jobs."""

    figures: Mapping[str, Any]
    plans: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The days that count, by name, and the stray ones; hours are from 1970."""

    days: Mapping[str, Day]
    stray_days: tuple[str, ...]

    @property
    def start(self) -> int:
        """Return the hour of the first Monday."""
        return first_hour_of_week(min(day.first_hour for day in self.days.values()))

    @property
    def weeks(self) -> int:
        """Return the weeks from the first Monday on that have hours."""
        return (max(day.last_hour for day in self.days.values()) - self.start) // columns.HOURS + 1

    @property
    def fleet(self) -> bool:
        """Whether the samples name their clusters."""
        return any(day.fleet for day in self.days.values())


def build_load(
    task: LoadTask, options: Options, on_stage: Callable[[str], None] = ignore_stages
) -> LoadReport:
    """Bring the hourly roll-ups up to date with the samples.

    Then write partition_load, broker_load and load.json. Calls `on_stage` with the name of each
    stage. Raises InvalidInputError for samples that cannot be used, BusyError where another run
    writes to the same folder, NotCompletedError where Spark does not start or fails.
    """
    plans: dict[str, str] = {}
    made = f"{task.merge_name} {__version__}"

    def explain(name: str, frame: DataFrame) -> None:
        if task.explain:
            plans[name] = _plan(frame)

    with hold(task.out):
        found = find(task.source, task.out)
        if (
            found.reading is None
            and found.history.made == made
            and not task.explain
            and _is_whole(task.out)
        ):
            figures = json.loads((task.out / columns.LOAD_JSON).read_text(encoding="utf-8"))
            nothing = SamplesRead(**_samples_read(Update(found.history)))
            return LoadReport({**figures, **json.loads(to_json(nothing))}, plans)
        on_stage("starting Spark")
        with spark_session(_with_defaults(options, task.source)) as session, _in_utc(session):
            try:
                if found.reading is not None:
                    on_stage(_reading(task.source, found))
                done = update(
                    session, task.source, task.out, found, lambda rows: explain("hourly", rows)
                )
                new = sum(day.hours is None for day in done.history.days.values())
                if new:
                    on_stage(f"hourly rates of partitions ({count(new, 'day')})")
                history = bring_hours_up_to_date(
                    session, task.out, done.history, lambda rows: explain("partitions", rows)
                )
                scope = _scope(history, done.gaps)
                explain("partition_load", _write(session, task, scope, on_stage))
            except (PySparkException, Py4JError, ConnectionError) as error:
                raise NotCompletedError("Spark failed.", cause=cause_of(error)) from error
        figures = _figures(task, scope, done)
        write_whole(task.out / columns.LOAD_JSON, json.dumps(figures, indent=2) + "\n")
        write_history(folder_of(task.out), replace(history, made=made))
    return LoadReport(figures, plans)


def _is_whole(out: Path) -> bool:
    return all(
        (out / name).is_file()
        for name in (columns.PARTITION_LOAD, columns.BROKER_LOAD, columns.LOAD_JSON)
    )


def _reading(source: SampleSource, found: Found) -> str:
    files = f" (files: {len(found.names):,})"
    return f"rolling up samples by hour{files if source.listed else ''}"


def _with_defaults(options: Options, source: SampleSource) -> Options:
    """Return options with the settings for rows that Spark itself reads, if it does.

    On a server, with those alone that a session can set.
    """
    if source.by_file:
        return options
    defaults = {**_DEFAULTS, "spark.driver.extraJavaOptions": _java_options(os.environ)}
    kept = {
        key: value
        for key, value in defaults.items()
        if options.remote is None or key.startswith("spark.sql.")
    }
    return replace(options, conf={**kept, **options.conf})


def _java_options(environment: Mapping[str, str]) -> str:
    """Choose the collector with which the job needs a tenth less time.

    Do not where one is chosen: Java refuses a second.
    """
    given = " ".join(
        environment.get(name, "") for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
    )
    return _JAVA_OPTIONS if _COLLECTOR.search(given) else f"{_JAVA_OPTIONS} -XX:+UseParallelGC"


@contextmanager
def _in_utc(session: SparkSession) -> Iterator[None]:
    """Have Spark read times without a zone as UTC; the session may be the caller's."""
    before = session.conf.get(_TIME_ZONE, None)
    session.conf.set(_TIME_ZONE, "UTC")
    try:
        yield
    finally:
        session.conf.unset(_TIME_ZONE) if before is None else session.conf.set(_TIME_ZONE, before)


def _scope(history: History, gaps: ExportGaps) -> _Scope:
    if not history.days:
        unknown = (
            "unknown names of series: "
            f"{name_some(name or 'no name, as rate() leaves it' for name in gaps.names)}"
        )
        raise InvalidInputError(
            "The samples have no row that can be used.",
            cause=unknown if gaps.names else "no time, topic, metric or value",
            next_step="--names FILE, with spec.metrics" if gaps.names else None,
        )
    most = max(day.samples for day in history.days.values())
    kept = {name: day for name, day in sorted(history.days.items()) if day.samples * _STRAY >= most}
    return _Scope(kept, tuple(sorted(history.days.keys() - kept.keys())))


def _write(
    session: SparkSession, task: LoadTask, scope: _Scope, on_stage: Callable[[str], None]
) -> DataFrame:
    """Write the two tables; returns the DataFrame that makes them."""
    on_stage(f"hours of the week ({count(len(scope.days), 'day')})")
    hours = hours_of(task.out, scope.days.values())
    topics = ranges(opened(hours), _PIECE_ROWS)
    unnamed = [] if scope.fleet else [columns.CLUSTER]
    with tempfile.TemporaryDirectory(dir=folder_of(task.out).absolute()) as folder:
        make = LoadOfTopics(hours, topics, folder, scope.start, scope.weeks, task.merge)
        made = in_tasks(session, len(topics), make, OF_BROKERS)
        of_brokers = made.toArrow()
        with _replacing(task.out / columns.PARTITION_LOAD) as write:
            for number in range(len(topics)):
                part = parquet.ParquetFile(make.part(number))
                for group in range(part.metadata.num_row_groups):
                    write(part.read_row_group(group).drop(unnamed))
    on_stage("comparing with what brokers reported")
    with _replacing(task.out / columns.BROKER_LOAD) as write:
        write(added_up(of_brokers).drop(unnamed))
    return made


@contextmanager
def _replacing(path: Path) -> Iterator[Callable[[Table], None]]:
    """Write a file in place of the last run's."""
    try:
        with whole_file(path) as write:
            yield write
    except OSError as error:
        raise NotCompletedError(f"Cannot write {path}.", cause=error.strerror) from error


def _figures(task: LoadTask, scope: _Scope, done: Update) -> dict[str, Any]:
    rows, coverage = _coverage_of(task.out / columns.PARTITION_LOAD)
    load = BuiltLoad(
        task.source.place,
        str(task.out),
        len(done.history.files),
        **_samples_read(done),
        start=time_of(scope.start),
        weeks=scope.weeks,
        merge=task.merge_name,
        days=tuple(scope.days),
        stray_days=scope.stray_days,
        rows=rows,
        coverage=coverage,
        agreement=_agreement_of(task.out / columns.BROKER_LOAD),
    )
    figures: dict[str, Any] = json.loads(to_json(load))
    return figures


def _samples_read(done: Update) -> dict[str, Any]:
    """Return the fields of SamplesRead."""
    return {
        "samples_read": done.samples,
        "samples_left_out": done.left_out,
        "instances_without_broker": done.gaps.instances,
        "unknown_names": tuple(
            UnknownName(name or None, metric) for name, metric in done.gaps.names.items()
        ),
        "underscored_topics": dict(done.gaps.topics),
        "days_read": tuple(done.days),
    }


def _plan(frame: DataFrame) -> str:
    """Return Spark's plan of a DataFrame, which it only prints."""
    text = StringIO()
    with redirect_stdout(text):
        frame.explain(mode="formatted")
    return text.getvalue().strip()


def _coverage_of(path: Path) -> tuple[int, float | None]:
    """Return the rows of a partition_load file, and their mean coverage; None without rows."""
    column = parquet.ParquetFile(path).read(columns=[COVERAGE]).column(COVERAGE)
    mean = pc.mean(column).as_py()
    return len(column), None if mean is None else round(mean, _DIGITS)


def _agreement_of(path: Path) -> Agreement:
    """Return the agreement of partitions' sums with brokers' reports.

    1 is agreement everywhere, None is unknown. It is 1 less the sum of all differences, broker by
    broker and hour by hour, over the sum of all reports, and never below 0. Hours without one of
    the two do not count.
    """
    read = parquet.ParquetFile(path).read()
    return Agreement(_agreement(read, "in"), _agreement(read, "out"))


def _agreement(read: Any, way: str) -> float | None:  # noqa: ANN401 - pyarrow ships no type information
    reported, partitions = (
        read.column(f"reported_{way}_per_s"),
        read.column(f"partitions_{way}_per_s"),
    )
    apart = pc.sum(pc.abs(pc.subtract(reported, partitions))).as_py()
    total = pc.sum(pc.if_else(pc.is_valid(partitions), reported, None)).as_py()
    return round(max(1 - apart / total, 0.0), _DIGITS) if total else None
