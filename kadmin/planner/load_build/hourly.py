"""Rolls samples up: one row for each series and hour, from which rates follow without the samples.

A series is what one source reports about one thing: the values of the columns SERIES. Every
aggregate has a buffer of fixed width, so that Spark hashes and never sorts samples. Roll-ups of
parts of an hour merge to that of the hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.inventory.samples import TIME, Metric, SampleKind

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

HOUR_US = 3_600_000_000
UNKNOWN_ID = -1
"""The id of no partition, and of an unknown broker: joins on null would need another comparison."""

SERIES = ("cluster", "topic", "partition", "broker_id", "group", "metric", "counter")
_SUMMARY = ("samples", "first_at", "last_at", "first", "last", "lowest", "highest", "total")
ROLL_UP = (*SERIES, "hour", *_SUMMARY)
"""`hour` counts from 1970 in UTC, `first_at` and `last_at` are microseconds, `total` sums a gauge
in thousandths."""

_MOST = 9.2e18
_MOST_RATE = 1e12
_TIES = 2**31


def roll_up(samples: DataFrame) -> DataFrame:
    """Return the hourly roll-up of samples.

    Unusable samples (see is_usable) are counted in one row without an hour. They are not filtered
    and counted apart, because Spark would then read each sample twice.
    """
    at, value = f.col("at"), f.col("value")
    keys = {
        "cluster": f.coalesce("cluster", f.lit("")),
        "topic": f.col("topic"),
        "partition": f.coalesce("partition", f.lit(UNKNOWN_ID)),
        "broker_id": f.coalesce("broker_id", f.lit(UNKNOWN_ID)),
        "group": f.coalesce("group", f.lit("")),
        "metric": f.col("metric"),
        "counter": _is_counter(),
        "hour": f.expr(f"unix_micros({TIME}) div {HOUR_US}").cast("int"),
    }
    rows = samples.select(
        *(f.when(is_usable(), key).alias(name) for name, key in keys.items()),
        f.unix_micros(TIME).alias("at"),
        "value",
    )
    order = _order(at, value)
    thousandths = f.when(f.col("counter"), f.lit(0)).otherwise(
        f.round(f.least(value, f.lit(_MOST_RATE)) * 1000)
    )
    return (
        rows.groupBy(*SERIES, "hour")
        .agg(
            f.count("*").alias("samples"),
            f.min(at).alias("first_at"),
            f.max(at).alias("last_at"),
            f.min_by(value, order).alias("first"),
            f.max_by(value, order).alias("last"),
            f.min(value).alias("lowest"),
            f.max(value).alias("highest"),
            f.sum(thousandths.cast("bigint")).alias("total"),
        )
        .select(*ROLL_UP)
    )


def is_usable() -> SparkColumn:
    """Whether a sample has a time, a topic, a metric that counts, and a value that can be.

    It is never null.
    """
    given = f.col(TIME).isNotNull() & f.col("topic").isNotNull()
    able = f.col("value").between(0.0, _MOST) & f.col("metric").isin(*Metric)
    return given & f.coalesce(able, f.lit(False))  # noqa: FBT003 - lit takes it by position


def merge(roll_ups: DataFrame) -> DataFrame:
    """Merge rows of the same series and hour, each rolled up from other samples."""
    first, last = f.col("first"), f.col("last")
    return (
        roll_ups.groupBy(*SERIES, "hour")
        .agg(
            f.sum("samples").alias("samples"),
            f.min("first_at").alias("first_at"),
            f.max("last_at").alias("last_at"),
            f.min_by(first, _order(f.col("first_at"), first)).alias("first"),
            f.max_by(last, _order(f.col("last_at"), last)).alias("last"),
            f.min("lowest").alias("lowest"),
            f.max("highest").alias("highest"),
            f.sum("total").alias("total"),
        )
        .select(*ROLL_UP)
    )


def day_of(hour: SparkColumn) -> SparkColumn:
    """Return the day of an hour, as a date."""
    return f.date_from_unix_date(f.floor(hour / 24).cast("int"))


def _is_counter() -> SparkColumn:
    """Whether a sample is of a counter.

    Offsets only grow and log sizes do not, whatever the exporter calls them.
    """
    metric = f.col("metric")
    return metric.isin(Metric.LOG_END_OFFSET, Metric.GROUP_OFFSET) | (
        (metric != Metric.LOG_SIZE_BYTES)
        & f.coalesce(f.col("kind") == SampleKind.COUNTER, f.lit(False))  # noqa: FBT003 - lit takes it by position
    )


def _order(at: SparkColumn, value: SparkColumn) -> SparkColumn:
    """Order samples of an hour by time.

    At the same time by a hash of the value, so that every run takes the same.
    """
    return (at % HOUR_US) * _TIES + f.hash(value).bitwiseAND(_TIES - 1)
