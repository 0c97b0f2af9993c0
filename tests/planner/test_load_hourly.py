"""Samples to hours and weeks, without Spark: against plain Python, in parts, and known rates."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from kadmin.inventory.columns import CLUSTER
from kadmin.inventory.parquet_tables import arrow_types
from kadmin.inventory.samples import SAMPLE_COLUMNS, Metric
from kadmin.planner.load.columns import BYTES_IN, HOURS
from kadmin.planner.load_build import hourly_tasks, pieces
from kadmin.planner.load_build.brokers import RATES, added_up, corrected_rates
from kadmin.planner.load_build.grouping import Known
from kadmin.planner.load_build.hourly import HOUR_US, ROLL_UP, UNKNOWN_ID, merge, roll_up
from kadmin.planner.load_build.partitions import partition_hours
from kadmin.planner.load_build.record_sizes import bytes_per_record
from kadmin.planner.load_build.weeks import WeekMerge, each_week, merged_weeks

TYPES = arrow_types(pa)
SCHEMA = pa.schema([(each.name, TYPES[each.kind]) for each in (CLUSTER, *SAMPLE_COLUMNS)])
FIRST_US = 492_336 * HOUR_US
LAST_ID = 2**31 - 1

ids = st.sampled_from([None, 0, 1, 7, LAST_ID, -LAST_ID - 1])
names = st.sampled_from([None, "", "a", "b", "\N{GREEK SMALL LETTER ALPHA}"])
instants = st.integers(FIRST_US - 2, FIRST_US + 26 * HOUR_US) | st.sampled_from(
    [None, -1, 0, FIRST_US, FIRST_US + HOUR_US - 1, 2**62]
)
values = st.sampled_from([None, -1.0, -0.0, 0.4995, 2.0**53, 9.2e18, 1e19, math.nan, math.inf])
rows = st.fixed_dictionaries(
    {
        "cluster": names,
        "ts": instants,
        "topic": names,
        "partition": ids,
        "broker_id": ids,
        "group": names,
        "metric": st.sampled_from([*Metric, "other", None]),
        "kind": st.sampled_from(["counter", "gauge", None]),
        "value": values | st.integers(0, 5).map(float) | st.floats(0, 1e13),
    }
)


def table(samples: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    columns = {name: [row[name] for row in samples] for name in SCHEMA.names}
    columns["ts"] = pa.array(columns["ts"], pa.int64()).cast(TYPES[SAMPLE_COLUMNS[0].kind])
    return pa.table(columns, schema=SCHEMA)


def is_usable(row: dict[str, Any]) -> bool:
    value, at = row["value"], row["ts"]
    return (
        at is not None
        and at < 2**60
        and row["topic"] is not None
        and row["metric"] in [*Metric]
        and value is not None
        and 0 <= value <= 9.2e18
    )


def thousandths(value: float) -> int:
    return int(Decimal(min(value, 1e12) * 1000).quantize(Decimal(1), ROUND_HALF_UP))


def modelled(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Roll up row by row."""
    found: defaultdict[tuple[Any, ...], list[tuple[int, float]]] = defaultdict(list)
    for row in filter(is_usable, samples):
        counter = row["metric"] in {"log_end_offset", "group_offset"} or (
            row["metric"] != "log_size_bytes" and row["kind"] == "counter"
        )
        by_name = [row["cluster"] or "", row["topic"]]
        by_id = [
            UNKNOWN_ID if row[name] is None else row[name] for name in ("partition", "broker_id")
        ]
        key = (*by_name, *by_id, row["group"] or "", row["metric"], counter, row["ts"] // HOUR_US)
        found[key].append((row["ts"], row["value"]))
    return [
        dict(
            zip(
                ROLL_UP,
                (
                    *key,
                    len(points),
                    min(points)[0],
                    max(points)[0],
                    min(points)[1],
                    max(points)[1],
                    min(value for _, value in points),
                    max(value for _, value in points),
                    0 if key[6] else sum(thousandths(value) for _, value in points),
                ),
                strict=True,
            )
        )
        for key, points in sorted(found.items())
    ]


@given(st.lists(rows, max_size=40), st.integers(0, 40))
def test_roll_ups_are_those_of_each_row_whole_or_in_parts(
    samples: list[dict[str, Any]], cut: int
) -> None:
    whole, left_out = roll_up(table(samples))
    assert whole.to_pylist() == modelled(samples)
    assert left_out == sum(not is_usable(row) for row in samples)
    parts = [roll_up(table(each))[0] for each in (samples[:cut], samples[cut:])]
    assert merge(pa.concat_tables(parts)).to_pylist() == whole.to_pylist()
    assert merge(whole).to_pylist() == whole.to_pylist()


@given(st.lists(rows, max_size=20))
def test_other_days_are_as_if_they_were_not_there(samples: list[dict[str, Any]]) -> None:
    day = FIRST_US // HOUR_US // 24
    of_day = [
        row for row in samples if row["ts"] is not None and row["ts"] // (24 * HOUR_US) == day + 1
    ]
    found, left_out = roll_up(table(samples), [(day + 1, day + 1)])
    assert found.to_pylist() == modelled(of_day)
    assert left_out == sum(not is_usable(row) for row in of_day)


@pytest.mark.parametrize("times", [1, 3])
def test_samples_of_more_series_than_numbers_fit(times: int) -> None:
    """Ids from end to end of 32 bits, twice, need more than 64 bits together."""
    at = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp() * 1e6)
    row = {
        "cluster": "",
        "group": "",
        "metric": Metric.LOG_SIZE_BYTES,
        "kind": "gauge",
        "value": 1.0,
    }
    samples = [
        {**row, "ts": at, "topic": topic, "partition": one, "broker_id": other}
        for topic in ("a", "b", "c")
        for one in (-LAST_ID - 1, LAST_ID)
        for other in (LAST_ID, -LAST_ID - 1)
    ] * times
    found, _ = roll_up(table(samples))
    assert found.to_pylist() == modelled(samples)
    assert len(found) == 12


def test_a_day_is_made_in_pieces_of_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule: the pieces bound memory, and change nothing."""
    day, wanted = (
        f"{datetime.fromtimestamp(FIRST_US / 1e6, UTC):%Y-%m-%d}",
        FIRST_US // HOUR_US // 24,
    )
    row: dict[str, Any] = {"group": None, "broker_id": 1, "kind": "counter", "partition": 0}
    samples = [
        {**row, "ts": FIRST_US + at * HOUR_US // 4 + 7, "topic": f"topic-{topic}", "metric": metric}
        | {"value": 100.0 * (at + 4) * topic, "cluster": "west" if topic % 3 else None}
        for at in range(-4, 30 * 4)
        for topic in range(9)
        for metric in (Metric.LOG_END_OFFSET, Metric.LOG_SIZE_BYTES)
    ]
    whole, _ = roll_up(table(samples))
    monkeypatch.setattr(pieces, "_GROUP_ROWS", 5)
    monkeypatch.setattr(hourly_tasks, "_MOST_ROWS", 40)
    numbers = [pa.record_batch({"id": [0]})]
    parts = [str(part) for part in _written(tmp_path, [samples[::2], samples[1::2]])]
    in_days = defaultdict[str, list[str]](list)
    for part in parts:
        in_days[Path(part).parent.name].append(part)
    made = hourly_tasks.merge_days(numbers, [(day, in_days[day])], str(tmp_path / "1"))
    described = pa.Table.from_batches(made).to_pylist()
    merged = tmp_path / "1" / f"day={day}" / "rows.parquet"
    of_day = whole.filter(pc.equal(pc.divide(whole["hour"], 24), wanted))
    assert parquet.read_table(merged).to_pylist() == of_day.to_pylist()
    assert len(described) > 3
    assert sum(each["samples"] for each in described) == 24 * 4 * 9 * 2
    task = hourly_tasks.WantedDay(day, wanted, (str(merged),), tuple(parts))
    assert [
        each.to_pylist()
        for each in hourly_tasks.hours_of_days(numbers, [task], str(tmp_path / "2"))
    ]
    hours = parquet.read_table(tmp_path / "2" / f"day={day}" / "rows.parquet")
    every = partition_hours(whole)
    assert (
        hours.to_pylist()
        == every.filter(pc.equal(pc.divide(every["hour"], 24), wanted)).to_pylist()
    )


def _written(folder: Path, samples: list[list[dict[str, Any]]]) -> list[str]:
    """Write the roll-ups of samples as the first tasks do; returns their files."""
    files: list[str] = []
    for number, rows in enumerate(samples):
        sample = folder / f"samples-{number}.parquet"
        parquet.write_table(table(rows), sample)
        ids = [pa.record_batch({"id": [0]})]
        (done,) = hourly_tasks.roll_up_files(ids, [[str(sample)]], (), str(folder / str(number)))
        files += done.column("parts").to_pylist()[0]
    return files


@pytest.mark.parametrize("minutes", [0, 60])
def test_samples_of_topics_alone_give_no_partitions(minutes: int) -> None:
    meter = {"cluster": None, "topic": "a", "partition": None, "broker_id": 1, "group": None}
    samples = [
        {**meter, "metric": Metric.BYTES_IN, "kind": "counter", "value": 6.0 * minute}
        | {"ts": FIRST_US + minute * 60_000_000}
        for minute in range(minutes)
    ]
    hours = partition_hours(roll_up(table(samples))[0])
    rates, of_brokers = corrected_rates(hours)
    partitions = hours.slice(0, 0)
    assert (
        len(merged_weeks(partitions, rates, 0, 1, WeekMerge.MEAN)) == len(rates["in"].values) == 0
    )
    reported = [None] if minutes else []
    assert added_up(of_brokers)["reported_in_per_s"].to_pylist() == reported


def hours_of_partitions(rows: list[tuple[Any, ...]], *figures: str) -> Any:  # noqa: ANN401 - as above
    """Lay rows of a cluster, topic, partition, hour and figures out as partition_hours."""
    ids = {
        "cluster": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "hour": pa.int32(),
    }
    types = ids | {
        name: pa.int64() if name in {"size", "held"} else pa.float64() for name in figures
    }
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(types, columns, strict=True)), schema=pa.schema(types.items()))


def test_a_partition_that_seems_steady_by_chance_has_its_topics_bytes_per_record() -> None:
    """Its segments are deleted several times an hour: 2 of 30 hours seem steady, or half of them
    with any ratio.
    """
    rows: list[tuple[Any, ...]] = [
        ("", "a", 0, hour, 10.0, 1000.0 if hour % 3 else None, None, None) for hour in range(30)
    ]
    rows += [
        ("", "a", 1, hour, 900.0, 50.0 if hour in {7, 21, 28} else None, None, None)
        for hour in range(31)
    ]
    rows += [
        ("", "a", 2, hour, 900.0, 30.0 * hour if hour % 2 else None, None, None)
        for hour in range(30)
    ]
    rows += [
        ("", "b", 0, hour, 900.0, 50.0 if hour == 7 else None, None, None) for hour in range(30)
    ]
    rows += [("", "a", 3, hour, 10.0, 2000.0, 10, 10) for hour in range(30)]
    rows += [
        ("", "c", 0, hour, 900.0, 50.0 if hour < 10 else None, 7000, 100) for hour in range(30)
    ]
    rows += [("", "a", 3, 30, 0.0, 0.0, None, None)]
    hours = hours_of_partitions(rows, "records", "log", "size", "held")
    sizes = bytes_per_record(hours)
    found = {
        (row["topic"], row["partition"]): size
        for row, size in zip(hours.to_pylist(), sizes.column.to_pylist(), strict=True)
    }
    of_topic = (20 * 1000 + 30 * 2000) / (20 * 10 + 30 * 10)
    assert found == {
        ("a", 0): 100.0,
        ("a", 1): of_topic,
        ("a", 2): of_topic,
        ("a", 3): 200.0,
        ("b", 0): None,
        ("c", 0): 70.0,
    }


@pytest.mark.parametrize("merge", [*WeekMerge, None])
def test_the_same_hour_of_several_weeks(merge: WeekMerge | None) -> None:
    start = 492_000 - (492_000 - 96) % HOURS
    hours = [
        ("", "a", 0, start + week * HOURS + 5, 10.0 * 3**week, None, None) for week in range(3)
    ]
    table = hours_of_partitions(hours, *RATES)
    rates = {name: Known.of(table[name]) for name in RATES}
    found = (
        each_week(table, rates, start)
        if merge is None
        else merged_weeks(table, rates, start, 3, merge)
    )
    rows = found.to_pylist()
    wanted = {
        WeekMerge.MEAN: [130 / 3],
        WeekMerge.MAX: [90.0],
        WeekMerge.P95: [84.0],
        None: [10.0, 30.0, 90.0],
    }[merge]
    assert [row[BYTES_IN][5] for row in rows] == [pytest.approx(each) for each in wanted]
    assert {(row["weeks"], row[BYTES_IN][4], len(row[BYTES_IN])) for row in rows} == {
        (3 if merge else 1, None, HOURS)
    }
    assert rows[0]["coverage"] == pytest.approx(1 / HOURS)
