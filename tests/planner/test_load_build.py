"""Samples to a load history: what each kind of dirt does, against rates that are known."""

from __future__ import annotations

import fcntl
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.cli.in_process import command
from support.planner import sample_history as history

from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.planner.load.columns import (
    BROKER_LOAD,
    BYTES_IN,
    BYTES_OUT,
    HOURS,
    LOAD_JSON,
    PARTITION_LOAD,
)
from kadmin.planner.load_build.history import Day, History
from kadmin.planner.load_build.hourly import ROLL_UP
from kadmin.planner.load_build.job import LoadTask, build_load
from kadmin.planner.load_build.roll_ups import Update, find, folder_of, hold, update
from kadmin.planner.load_build.sample_files import sample_files
from kadmin.planner.load_build.sources import ENDINGS, SampleSource
from kadmin.planner.load_build.weeks import WeekMerge
from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import spark_session
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("load build")]

MANY = 90
"""Partitions of each topic that make a million samples."""
EXACT, NEAR, EDGE = 0.002, 0.05, 0.25
"""How far rates may be from the true ones: in hours with samples of their own, with less, and with
none after."""


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[SparkSession]:
    """One JVM for all tests of this file; the builder uses an active session and does not stop
    it.
    """
    conf = {"spark.driver.memory": "768m", "spark.sql.shuffle.partitions": "2"}
    with spark_session(Options(master="local[2]", conf=conf)) as running:
        yield running


@pytest.fixture(scope="module")
def dirty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples, in files by the hour of the day."""
    folder = tmp_path_factory.mktemp("dirty")
    rows = [row for moment in history.moments() for row in history.rows_at(moment)]
    history.write(folder / "samples-1.parquet", [*rows[::2], *history.useless()])
    history.write(folder / "samples-2.parquet", rows[1::2])
    (folder / ".samples-3.parquet.partial").write_bytes(b"is being written")
    return folder


@pytest.fixture(scope="module")
def built(dirty: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("load")
    build(dirty, out)
    return out


def build(samples: Path, out: Path) -> Mapping[str, Any]:
    return build_load(LoadTask(SampleSource(str(samples)), out), Options()).figures


def rates(out: Path, column: str = BYTES_IN) -> dict[tuple[str, int], list[float | None]]:
    rows = parquet.read_table(out / PARTITION_LOAD).to_pylist()
    return {(row["topic"], row["partition"]): row[column] for row in rows}


def true_rate(topic: str, partition: int, hour: int) -> float | None:
    """What comes in, in the week's first HOURS hours."""
    known = history.rate_of(topic, partition, hour) if hour < history.HOURS else None
    return (
        None if known is None else known * history.RECORD_BYTES * (1.1 if topic == "reset" else 1.0)
    )


INEXACT = {
    "thin": range(HOURS),
    "moved": [history.MOVED_AT_S // 3600],
    "reset": [history.RESET_AT_S // 3600],
}
"""The hours in which what is wrong costs some exactness."""


@pytest.mark.parametrize("topic", history.TOPICS)
def test_what_comes_in_is_what_came_in_whatever_is_wrong(built: Path, topic: str) -> None:
    require_true(rates(built), topic, history.PARTITIONS)


def test_a_million_samples_with_all_that_is_wrong_give_what_came_in(tmp_path: Path) -> None:
    rows = (row for moment in history.moments() for row in history.rows_at(moment, MANY))
    history.write(tmp_path / "samples" / "samples.parquet", rows)
    figures = build(tmp_path / "samples", tmp_path / "load")
    assert figures["samples_read"] > 1_000_000
    found = rates(tmp_path / "load")
    for topic in history.TOPICS:
        # Without start offsets, nothing tells the bytes of a record where segments are deleted
        # several times an hour.
        require_true(found, topic, history.PARTITIONS if topic == "shrinking" else MANY)


def require_true(
    found: Mapping[tuple[str, int], list[float | None]], topic: str, partitions: int
) -> None:
    """Compare every hour of every partition with what came in."""
    for partition in range(partitions):
        for hour, rate in enumerate(found[topic, partition]):
            wanted = true_rate(topic, partition, hour)
            if wanted is None:
                assert rate is None, (partition, hour)
                continue
            allowed = NEAR if hour in INEXACT.get(topic, ()) else EXACT
            if topic == "thin" and hour == history.HOURS - 1:
                allowed = EDGE
            assert rate == pytest.approx(wanted, rel=allowed), (partition, hour)


def test_what_groups_read_goes_out_and_silence_is_unknown(built: Path) -> None:
    out = rates(built, BYTES_OUT)
    wanted = true_rate("clean", 1, 20)
    assert out["clean", 1][20] == pytest.approx(wanted, rel=EXACT)
    assert out["clean", 1][history.HOURS :] == [None] * (HOURS - history.HOURS)
    assert set(out["unread", 0]) == {None}, "no group's offsets are known"


def test_the_figures_say_what_was_read_and_left_out(built: Path) -> None:
    figures = json.loads((built / LOAD_JSON).read_text(encoding="utf-8"))
    assert validate_value(figures, "answers/load-build") == []
    assert (figures["weeks"], figures["start"], figures["files"]) == (1, "2026-03-02T00:00:00Z", 2)
    assert (figures["samples_left_out"], figures["stray_days"]) == (4, ["1999-12-31"])
    assert figures["days"] == ["2026-03-02", "2026-03-03"]
    assert figures["agreement"]["in"] == pytest.approx(1 / 1.1, rel=0.01), (
        "partitions before they are scaled"
    )
    reported = parquet.read_table(built / BROKER_LOAD).to_pylist()
    assert {row["broker_id"] for row in reported if row["reported_in_per_s"] is not None} == {1}


def roll_ups(
    session: SparkSession, source: SampleSource, out: Path
) -> tuple[Update, list[dict[str, Any]]]:
    """Bring the roll-ups up to date; returns what was done, and all rows in order."""
    with hold(out):
        done = update(session, source, out, find(source, out))
        folders = (str(folder_of(out) / day.roll_ups) for day in done.history.days.values())
        rows = (
            session.read.parquet(*folders).select(*ROLL_UP).orderBy(*ROLL_UP).toArrow().to_pylist()
        )
    return done, rows


def test_what_is_new_is_added_and_what_changed_is_made_anew(
    dirty: Path, tmp_path: Path, session: SparkSession
) -> None:
    """Rule: a run after another gives the same as one over everything."""
    samples, out = tmp_path / "samples", tmp_path / "load"
    _, everything = roll_ups(session, SampleSource(str(dirty)), tmp_path / "once")
    first, second = sorted(dirty.glob("samples-*.parquet"))
    samples.mkdir()
    (samples / first.name).write_bytes(second.read_bytes())
    roll_ups(session, SampleSource(str(samples)), out)
    (samples / first.name).write_bytes(first.read_bytes())
    changed, _ = roll_ups(session, SampleSource(str(samples)), out)
    assert changed.days == ("1999-12-31", "2026-03-02", "2026-03-03")
    (samples / second.name).write_bytes(second.read_bytes())
    left_by_killed_runs = (
        out / "hourly" / "000009" / "day=2026-03-02",
        out / "hourly" / "tmpabc" / "written",
    )
    for each in left_by_killed_runs:
        each.mkdir(parents=True)
    added, rows = roll_ups(session, SampleSource(str(samples)), out)
    assert (added.days, rows) == (("2026-03-02", "2026-03-03"), everything)
    assert not any(each.parent.exists() for each in left_by_killed_runs)
    assert roll_ups(session, SampleSource(str(samples)), out) == (Update(added.history), everything)


def test_a_run_without_anything_new_leaves_what_is_whole(
    dirty: Path, built: Path, tmp_path: Path
) -> None:
    out, stages = tmp_path / "load", list[str]()
    shutil.copytree(built, out)
    task = LoadTask(SampleSource(str(dirty)), out)
    figures = build_load(task, Options(), stages.append).figures
    assert (figures["samples_read"], figures["days_read"], stages) == (0, [], [])
    (out / BROKER_LOAD).unlink()
    assert build_load(task, Options(), stages.append).figures["samples_read"] == 0
    assert parquet.read_table(out / BROKER_LOAD) == parquet.read_table(built / BROKER_LOAD)
    assert build_load(replace(task, merge=WeekMerge.MAX), Options()).figures["merge"] == "max"
    assert [each.partition(" (")[0] for each in stages] == [
        "starting Spark",
        "hours of the week",
        "comparing with what brokers reported",
    ]


def test_a_day_more_gives_the_same_as_all_days_at_once(built: Path, tmp_path: Path) -> None:
    """Rule: hours of a day are made once, and again only where samples of the day beside it bound
    them.
    """
    samples, out = tmp_path / "samples", tmp_path / "load"
    for name, hours in {"first": range(24), "second": range(24, history.HOURS)}.items():
        rows = (row for moment in history.moments(hours) for row in history.rows_at(moment))
        history.write(samples / f"{name}.parquet", rows)
        build(samples, out)
    tables = {name: parquet.read_table(built / name) for name in (PARTITION_LOAD, BROKER_LOAD)}
    assert {name: parquet.read_table(out / name) for name in tables} == tables
    index = out / "hourly" / "index.json"
    ended_early = json.loads(index.read_text()) | {"made": None}
    ended_early["days"]["2026-03-02"]["hours"] = None
    index.write_text(json.dumps(ended_early))
    build(samples, out)
    assert {name: parquet.read_table(out / name) for name in tables} == tables


def day_of(number: int) -> Day:
    """Every other day has sparse hours."""
    first = number * 24
    return Day(
        f"1/{number}",
        samples=10,
        sparse=number % 2,
        fleet=False,
        first_hour=first,
        last_hour=first + 23,
    )


def test_hours_bounded_by_the_days_beside_are_made_anew() -> None:
    days = {f"2026-03-0{number}": day_of(number) for number in range(1, 7)}
    first = History().with_run({}, days).with_hours({name: f"2/{name}" for name in days})
    second = first.with_run({}, {"2026-03-04": replace(days["2026-03-04"], samples=11)})
    assert [name for name, day in second.days.items() if day.hours is None] == [
        "2026-03-03",
        "2026-03-04",
        "2026-03-05",
    ]
    third = first.with_run({}, {"2026-03-05": replace(days["2026-03-05"], samples=11)})
    assert [name for name, day in third.days.items() if day.hours is None] == ["2026-03-05"]


def test_a_file_whose_times_are_numbers_may_have_rows_of_any_day(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"ts": [1_772_409_600.0]}), tmp_path / "seconds.parquet")
    (found,) = sample_files(tmp_path, ENDINGS["parquet"], {}).values()
    assert found.has("2026-03-02")


def test_every_format_gives_the_same(dirty: Path, tmp_path: Path, session: SparkSession) -> None:
    _, wanted = roll_ups(session, SampleSource(str(dirty)), tmp_path / "from-parquet")
    frame = session.read.parquet(*(str(each) for each in sorted(dirty.glob("samples-*.parquet"))))
    for name in ("csv", "json", "orc"):
        frame.write.format(name).option("header", "true").save(str(tmp_path / name))
        done, rows = roll_ups(
            session, SampleSource(str(tmp_path / name), name), tmp_path / f"from-{name}"
        )
        assert (rows, bool(done.history.files)) == (wanted, name != "orc"), name
    frame.write.saveAsTable("kept_samples", path=str(tmp_path / "table"))
    try:
        assert (
            roll_ups(session, SampleSource("kept_samples", table=True), tmp_path / "from-table")[1]
            == wanted
        )
    finally:
        session.sql("DROP TABLE kept_samples")


@pytest.mark.parametrize(
    "text", ["nonsense", "[]", '{"files": {}}', '{"files": {"a": [1]}, "days": {}}']
)
def test_an_index_that_is_not_kadmins_is_refused(
    dirty: Path, tmp_path: Path, session: SparkSession, text: str
) -> None:
    index = tmp_path / "hourly" / "index.json"
    index.parent.mkdir()
    index.write_text(text)
    with pytest.raises(InvalidInputError, match="was not written by kadmin") as refused:
        roll_ups(session, SampleSource(str(dirty)), tmp_path)
    assert refused.value.next_command == f"rm -r {index.parent}"
    assert index.read_text() == text


def test_two_runs_at_once_do_not_meet(dirty: Path, tmp_path: Path) -> None:
    (tmp_path / "hourly").mkdir()
    with (tmp_path / "hourly" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="Another process builds the load"):
            build(dirty, tmp_path)


def test_the_command_tells_what_it_built(dirty: Path, tmp_path: Path) -> None:
    done = command(
        "load",
        "build",
        "--samples",
        str(dirty),
        "--out",
        str(tmp_path / "load"),
        "--max",
        "--explain",
    )
    assert done.status == 0, done.err
    assert "2 days in 1 week from 2026-03-02 (max)" in done.out
    assert "warning: 4 samples left out" in done.out
    assert "MapInArrow" in done.out
    assert f"20 rows -> {tmp_path / 'load'}" in done.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "There are no samples in"),
        ({"ts": [1.0]}, "it has no column topic, metric, kind, value"),
        ({"time": [1.0]}, "it has no column ts"),
        (b"nonsense", "is not a Parquet file"),
    ],
    ids=["nothing", "columns", "time", "no Parquet"],
)
def test_what_holds_no_samples_is_refused(tmp_path: Path, content: object, message: str) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    if isinstance(content, bytes):
        (samples / "a.parquet").write_bytes(content)
    elif content is not None:
        parquet.write_table(pa.table(content), samples / "a.parquet")
    with pytest.raises(InvalidInputError) as refused:
        build(samples, tmp_path / "load")
    assert message in f"{refused.value.message} {refused.value.cause}"


def test_a_file_that_is_damaged_is_named(tmp_path: Path) -> None:
    whole = tmp_path / "samples" / "a.parquet"
    history.write(whole, history.rows_at(next(iter(history.moments()))))
    data = bytearray(whole.read_bytes())
    data[4:200] = bytes(196)
    whole.write_bytes(data)
    with pytest.raises(NotCompletedError, match="Spark failed") as failed:
        build(whole.parent, tmp_path / "load")
    assert f"{whole} cannot be read: " in (failed.value.cause or "")


def test_rows_of_which_none_can_be_used_are_refused(tmp_path: Path) -> None:
    history.write(tmp_path / "samples" / "a.parquet", history.useless()[:4])
    with pytest.raises(InvalidInputError, match="no row that can be used"):
        build(tmp_path / "samples", tmp_path / "load")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give either --samples or --table."),
        (("--samples", "s", "--table", "t"), "Give either --samples or --table."),
        (("--samples", "s", "--max", "--p95"), "--max and --p95 exclude each other."),
        (("--samples", "s", "--option", "header"), "--option header is not KEY=VALUE."),
    ],
)
def test_what_the_command_refuses(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = command("load", "build", "--out", str(tmp_path / "load"), *arguments)
    assert (done.status, message in done.err) == (64, True)
