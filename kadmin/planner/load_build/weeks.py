"""Hourly rates of partitions to rows of 168 hours of the week, Monday 00:00 UTC first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.planner.load import columns
from kadmin.planner.load_build.partitions import PARTITION_KEY, thousandths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_RATES = {"in": columns.BYTES_IN, "out": columns.BYTES_OUT, "requests": columns.REQUESTS}
_MONDAY = 96
"""Hours from 1970-01-01, a Thursday, to the first Monday."""


class WeekMerge(StrEnum):
    """The aggregation of the same hour of several weeks into one rate."""

    MEAN = "mean"
    MAX = "max"
    P95 = "p95"


def first_hour_of_week(hour: int) -> int:
    """Return the hour of Monday 00:00 of the week of an hour; hours count from 1970."""
    return hour - (hour - _MONDAY) % columns.HOURS


def time_of(hour: int) -> str:
    """Return an hour as ISO 8601 in UTC."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%SZ")


def merged_weeks(hours: DataFrame, start: int, weeks: int, merge: WeekMerge) -> DataFrame:
    """Return a row for each partition, with `weeks` weeks from the hour `start` merged by hour."""
    at = (f.col("hour") - start) % columns.HOURS
    merged = hours.groupBy(*PARTITION_KEY, at.alias("at")).agg(
        *(_merge(name, merge).alias(name) for name in _RATES), f.count("in").alias("known")
    )
    return _listed(merged, ()).select(
        *PARTITION_KEY,
        _time(f.lit(start)).alias(columns.START),
        f.lit(weeks).alias(columns.WEEKS),
        *_RATES.values(),
        (f.col("known") / (columns.HOURS * weeks)).alias(columns.COVERAGE),
    )


def each_week(hours: DataFrame, start: int) -> DataFrame:
    """Return one row for each partition and week that has a known hour."""
    passed = f.col("hour") - start
    week = f.floor(passed / columns.HOURS).cast("int")
    rows = hours.select(
        *PARTITION_KEY,
        week.alias("week"),
        (passed % columns.HOURS).alias("at"),
        *_RATES,
        f.col("in").isNotNull().cast("bigint").alias("known"),
    )
    return _listed(rows, ("week",)).select(
        *PARTITION_KEY,
        _time(start + f.col("week") * columns.HOURS).alias(columns.START),
        f.lit(1).alias(columns.WEEKS),
        *_RATES.values(),
        (f.col("known") / columns.HOURS).alias(columns.COVERAGE),
    )


def _merge(name: str, merge: WeekMerge) -> SparkColumn:
    value = f.col(name)
    if merge is WeekMerge.MAX:
        return f.max(value)
    if merge is WeekMerge.P95:
        return f.percentile(value, 0.95)
    return f.sum(thousandths(value)) / f.count(value) / 1000


def _listed(rows: DataFrame, more: Sequence[str]) -> DataFrame:
    """Collect the hours of each key into lists of 168 in order; hours without a row are null."""
    together = rows.groupBy(*PARTITION_KEY, *more).agg(
        f.collect_list(
            f.struct("at", *(f.col(name).cast("float").alias(name) for name in _RATES))
        ).alias("found"),
        f.sum("known").alias("known"),
    )
    found = f.col("found")
    nothing = [f.lit(None).cast("float").alias(name) for name in _RATES]
    every = f.sequence(f.lit(0), f.lit(columns.HOURS - 1))
    missing = f.transform(
        f.array_except(every, f.col("found.at")), lambda at: f.struct(at.alias("at"), *nothing)
    )
    filled = together.withColumn("found", f.sort_array(f.concat(found, missing)))
    return filled.select(
        *PARTITION_KEY,
        *more,
        "known",
        *(f.col(f"found.{name}").alias(column) for name, column in _RATES.items()),
    )


def _time(hour: SparkColumn) -> SparkColumn:
    return f.timestamp_seconds(hour.cast("bigint") * 3600)
