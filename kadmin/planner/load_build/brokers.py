"""Corrects partitions' rates by the rates that brokers reported, and compares the two.

Brokers report bytes and requests of clients for each topic, not for each partition. The partitions
of a topic that a broker led in an hour are scaled, so that they add up to what it reported; where
leadership moved within the hour, by the records that came while each broker led. Where the leader
is unknown, they are scaled to what all brokers reported about the topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.planner.load_build.hourly import UNKNOWN_ID
from kadmin.planner.load_build.partitions import METERS, PARTITION_KEY, TOPIC_KEY, thousandths

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_WEIGHTS = ("in", "out", "work")
_UNITS = ("in_bytes", "out_bytes")
_SUMS = (*(f"sum_{name}" for name in _WEIGHTS), *(f"reported_{name}" for name in METERS.values()))
_FACTORS = ("in", "out", "out_by_in", "requests")
_PLACE = (*TOPIC_KEY, "broker_id", "hour")


def weighed(hours: DataFrame, sizes: DataFrame) -> DataFrame:
    """Add the weights of each partition and hour to partition_hours.

    The columns are `in`, `out` and `work`, and `in_bytes`. `sizes` are those of bytes_per_record.
    Weights are bytes per second where `in_bytes`, otherwise records per second, which only give
    parts of a sum.
    """
    records, size = f.col("records"), f.col("bytes_per_record")
    record = f.coalesce(size, f.lit(1.0))
    into, out = f.coalesce(records * record, f.col("log")), f.col("consumed") * record
    return hours.join(sizes.hint("shuffle_hash"), [*PARTITION_KEY], "left").select(
        "*",
        into.alias("in"),
        out.alias("out"),
        (f.coalesce(into, f.lit(0.0)) + f.coalesce(out, f.lit(0.0))).alias("work"),
        (records.isNull() | (records == 0) | size.isNotNull()).alias("in_bytes"),
    )


def compared(weights: DataFrame, reports: DataFrame) -> DataFrame:
    """Return sums and reported rates by topic, broker and hour.

    The sums are over the partitions that the broker led, the rates those that it reported.
    `reports` are the rows of topics in partition_hours.

    Columns, in thousandths: `sum_` in, out and work; `reported_` in, out and requests; and
    `in_bytes` and `out_bytes`: whether the sums are bytes. The broker UNKNOWN_ID has the sums of
    all.
    """
    both = _led(weights).unionByName(_reported(reports), allowMissingColumns=True)
    return both.groupBy(*_PLACE).agg(
        *(f.sum(name).alias(name) for name in _SUMS),
        *(f.bool_and(name).alias(name) for name in _UNITS),
    )


def _reported(reports: DataFrame) -> DataFrame:
    return reports.select(
        *TOPIC_KEY,
        f.explode(f.array_distinct(f.array(f.col("leader"), f.lit(UNKNOWN_ID)))).alias("broker_id"),
        "hour",
        *(
            thousandths(f.col(f"metered_{name}")).alias(f"reported_{name}")
            for name in METERS.values()
        ),
    )


def _led(weights: DataFrame) -> DataFrame:
    part = f.col("leader_part")
    leaders = f.array_distinct(
        f.array(
            f.struct(f.col("leader").alias("broker_id"), part.alias("part")),
            f.struct(f.col("other_leader").alias("broker_id"), (1 - part).alias("part")),
            f.struct(f.lit(UNKNOWN_ID).alias("broker_id"), f.lit(1.0).alias("part")),
        )
    )
    led = weights.select(
        *TOPIC_KEY,
        "hour",
        *_WEIGHTS,
        "in_bytes",
        f.col("bytes_per_record").isNotNull().alias("out_bytes"),
        f.inline(leaders),
    ).where(f.col("broker_id").isNotNull())
    sums = (thousandths(f.col(name) * f.col("part")).alias(f"sum_{name}") for name in _WEIGHTS)
    return led.select(*_PLACE, *sums, *_UNITS)


def scaled(weights: DataFrame, both: DataFrame) -> DataFrame:
    """Return PARTITION_KEY, `hour`, `in`, `out` and `requests` of each partition and hour.

    Null where unknown. `both` is what `compared` returns.
    """
    # A merge would sort all hours of all partitions, twice.
    factors = _factors(both).hint("shuffle_hash")
    joined = weights
    for leader in ("leader", "other_leader"):
        renamed = factors.select(
            *TOPIC_KEY,
            "hour",
            f.col("broker_id").alias(leader),
            *(f.col(name).alias(f"{leader}_{name}") for name in _FACTORS),
        )
        joined = joined.join(renamed, [*TOPIC_KEY, "hour", leader], "left")
    into, out = f.col("in"), f.col("out")
    return joined.select(
        *PARTITION_KEY,
        "hour",
        f.coalesce("metered_in", into * _factor("in"), f.when(f.col("in_bytes"), into)).alias("in"),
        f.coalesce(
            "metered_out",
            out * _factor("out"),
            into * _factor("out_by_in"),
            f.when(f.col("bytes_per_record").isNotNull(), out),
        ).alias("out"),
        f.coalesce("metered_requests", f.col("work") * _factor("requests")).alias("requests"),
    )


def unscaled(weights: DataFrame) -> DataFrame:
    """Return the columns of `scaled` where no broker reported anything."""
    return weights.select(
        *PARTITION_KEY,
        "hour",
        f.coalesce("metered_in", f.when(f.col("in_bytes"), f.col("in"))).alias("in"),
        f.coalesce(
            "metered_out", f.when(f.col("bytes_per_record").isNotNull(), f.col("out"))
        ).alias("out"),
        f.col("metered_requests").alias("requests"),
    )


def broker_hours(both: DataFrame) -> DataFrame:
    """Return the rates that each broker reported in each hour.

    Beside them are the sums over the partitions that it led. Sums are those before scaling, in
    bytes per second. A topic counts in both where both are known. `both` is what `compared`
    returns.
    """
    figures = {}
    for way in ("in", "out"):
        both_known = (
            f.col(f"reported_{way}").isNotNull()
            & f.col(f"sum_{way}").isNotNull()
            & f.col(f"{way}_bytes")
        )
        figures[f"reported_{way}"] = f.sum(f.when(both_known, f.col(f"reported_{way}")))
        figures[f"partitions_{way}"] = f.sum(f.when(both_known, f.col(f"sum_{way}")))
    return (
        both.where(f.col("broker_id") != UNKNOWN_ID)
        .groupBy("cluster", "broker_id", "hour")
        .agg(*((value / 1000).alias(f"{name}_per_s") for name, value in figures.items()))
        .withColumn("hour", f.timestamp_seconds(f.col("hour").cast("bigint") * 3600))
    )


def _factors(both: DataFrame) -> DataFrame:
    """Return the factors of weights.

    Null where a broker reported nothing, or nothing that can be shared.
    """

    def ratio(reported: str, total: str) -> SparkColumn:
        return f.when((f.col(reported) > 0) & (f.col(total) > 0), f.col(reported) / f.col(total))

    unread = f.coalesce("sum_out", f.lit(0)) == 0
    return both.select(
        *_PLACE,
        ratio("reported_in", "sum_in").alias("in"),
        ratio("reported_out", "sum_out").alias("out"),
        f.when(unread & (f.col("sum_in") > 0), f.col("reported_out") / f.col("sum_in")).alias(
            "out_by_in"
        ),
        ratio("reported_requests", "sum_work").alias("requests"),
    )


def _factor(name: str) -> SparkColumn:
    """Return the factor of a partition: its leaders', each for its part.

    One that is unknown is the other's.
    """
    one, two, part = f.col(f"leader_{name}"), f.col(f"other_leader_{name}"), f.col("leader_part")
    return part * f.coalesce(one, two) + (1 - part) * f.coalesce(two, one)
