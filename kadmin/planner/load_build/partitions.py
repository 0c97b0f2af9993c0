"""Hourly rates of series to hourly rates of partitions, before brokers' own meters correct them.

A partition's bytes in are the growth of its end offset times the bytes of a record, which follow
from the size of its log (bytes_per_record). Without end offsets they are the growth of the log, in
hours in which no segment was deleted. Its bytes out are the growth of the committed offsets of all
groups times the bytes of a record. Sums are of whole thousandths: the order of rows does not change
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.inventory.samples import Metric
from kadmin.planner.load_build.hourly import HOUR_US, UNKNOWN_ID
from kadmin.planner.load_build.rates import KNOWN_US, is_log_growth

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

TOPIC_KEY = ("cluster", "topic")
PARTITION_KEY = (*TOPIC_KEY, "partition")
METERS = {Metric.BYTES_IN: "in", Metric.BYTES_OUT: "out", Metric.REQUESTS: "requests"}
"""The meters of clients, and the rate that each one is of. Bytes of replication are no client's."""

_ENOUGH_HOURS = 3
_MOST, _WHOLE = 0.9, 0.8
"""The quantile of hours' bytes a record that counts as whole; the fraction of it below which an
hour does not."""
_HELD = {
    "size": Metric.LOG_SIZE_BYTES,
    "start": Metric.LOG_START_OFFSET,
    "end": Metric.LOG_END_OFFSET,
}
_RATIO = ("ratio", "log", "records")
_LEAST_STEADY, _LEAST_WHOLE = 0.1, 0.5
"""The least part of all hours that is steady, and of those the least part that is whole, where
chance is ruled out."""
_MOST_LEADERS = 2
_MORE_THAN_AN_HOUR_US = HOUR_US * 11 // 10
_IDS = 2**31


def thousandths(value: SparkColumn) -> SparkColumn:
    """Return a value as a whole number of thousandths."""
    return f.round(value * 1000).cast("bigint")


def partition_hours(rates: DataFrame) -> DataFrame:
    """Return one row for each partition and hour, and for each topic, broker and hour of meters.

    Columns: PARTITION_KEY, `hour`, `records` (per second), `log` (bytes per second, where no
    segment was deleted), `consumed` (records per second, all groups), the `size` of the log and the
    records `held` in it where they are known, the rates of meters (`metered_in`, `metered_out`,
    `metered_requests`), and the leaders: `leader`, `other_leader` where leadership moved within the
    hour, and `leader_part`, the part of the first in the records. UNKNOWN_ID where unknown. Rows of
    a topic have the partition UNKNOWN_ID, and as `leader` the broker that reported. `rates` are
    those of hourly_rates.
    """
    return _by_hour(_by_broker(rates.repartition(*PARTITION_KEY)))  # one shuffle serves both steps


def _by_broker(rates: DataFrame) -> DataFrame:
    metric, amount, covered = f.col("metric"), f.col("amount"), f.col("covered_us")
    offset = (metric == Metric.LOG_END_OFFSET) & f.col("per_s").isNotNull()
    group = (metric == Metric.GROUP_OFFSET) & f.col("per_s").isNotNull()
    meters = [
        f.sum(f.when(metric == meter, thousandths(f.col("per_s")))).alias(f"metered_{name}")
        for meter, name in METERS.items()
    ]
    return rates.groupBy(*PARTITION_KEY, "broker_id", "hour").agg(
        f.sum(f.when(offset, thousandths(amount))).alias("grown"),
        f.sum(f.when(offset, covered)).alias("grown_us"),
        f.sum(f.when(is_log_growth(), thousandths(amount))).alias("log"),
        f.sum(f.when(is_log_growth(), covered)).alias("log_us"),
        f.sum(f.when(group, thousandths(f.col("per_s")))).alias("consumed"),
        *(
            f.max(f.when(metric == of, f.col("last").cast("bigint"))).alias(name)
            for name, of in _HELD.items()
        ),
        *meters,
    )


def _by_hour(by_broker: DataFrame) -> DataFrame:
    # More than an hour in an hour: every replica reported its end offset, and the leader among them
    # is unknown.
    led = (f.col("leaders") <= _MOST_LEADERS) & (f.col("grown_us") <= _MORE_THAN_AN_HOUR_US)
    of_topic = f.col("partition") == UNKNOWN_ID
    moved = led & (f.col("leader") != f.col("other_leader"))
    part = f.when(f.col("grown") > 0, f.col("leader_grown") / f.col("grown")).otherwise(
        f.col("leader_us") / f.col("grown_us")
    )
    per_second = f.lit(1e3)  # thousandths over microseconds
    return _over_brokers(by_broker).select(
        *PARTITION_KEY,
        "hour",
        f.when(
            f.col("grown_us") >= KNOWN_US, f.col("grown") / f.col("grown_us") * per_second
        ).alias("records"),
        (
            f.coalesce(
                f.col("own_log") / f.col("own_log_us"), f.col("all_logs") / f.col("all_logs_us")
            )
            * per_second
        ).alias("log"),
        (f.col("consumed") / 1000).alias("consumed"),
        *(f.when(f.col("held") > 0, f.col(name)).alias(name) for name in ("size", "held")),
        *((f.col(f"metered_{name}") / 1000).alias(f"metered_{name}") for name in METERS.values()),
        f.when(led & ~of_topic, f.col("leader")).otherwise(f.col("reporter")).alias("leader"),
        f.when(moved, f.col("other_leader")).alias("other_leader"),
        f.when(moved, part).otherwise(1.0).alias("leader_part"),
    )


def _over_brokers(by_broker: DataFrame) -> DataFrame:
    broker, led_us = f.col("broker_id"), f.col("grown_us")
    both = f.col("grown").isNotNull() & f.col("log").isNotNull()
    order = f.when(
        led_us.isNotNull(), f.least(led_us, f.lit(_MORE_THAN_AN_HOUR_US)) * _IDS + broker
    )
    of_topic = f.col("partition") == UNKNOWN_ID
    reporter = f.when(of_topic, broker).otherwise(UNKNOWN_ID).alias("reporter")
    return by_broker.groupBy(*PARTITION_KEY, "hour", reporter).agg(
        f.sum("grown").alias("grown"),
        f.sum("grown_us").alias("grown_us"),
        f.count("grown_us").alias("leaders"),
        f.max_by(broker, order).alias("leader"),
        f.min_by(broker, order).alias("other_leader"),
        f.max_by("grown", order).alias("leader_grown"),
        f.max_by("grown_us", order).alias("leader_us"),
        f.sum(f.when(both, f.col("log"))).alias("own_log"),
        f.sum(f.when(both, f.col("log_us"))).alias("own_log_us"),
        f.sum("log").alias("all_logs"),
        f.sum("log_us").alias("all_logs_us"),
        (f.sum("size") / f.count("size")).cast("bigint").alias("size"),
        (f.max("end") - f.max("start")).alias("held"),
        *(
            f.sum(name).alias(name)
            for name in ("consumed", *(f"metered_{name}" for name in METERS.values()))
        ),
    )


def bytes_per_record(hours: DataFrame) -> DataFrame:
    """Return the bytes of a record of each partition, from partition_hours; null where unknown.

    They follow from what a log holds, its size over the offsets from start to end, and from its
    growth. Compaction makes the first too low and deleted segments the second: the higher of the
    two counts. Where the partition itself has too few hours of growth, its topic's count. Hours
    with much fewer bytes a record than most others do not count: segments were deleted between
    their first and last sample. A partition of which segments are deleted several times an hour
    seems steady in some hours by chance: those are few, or do not agree, and then the partition
    does not count.
    """
    paired = f.when((f.col("records") > 0) & (f.col("log") > 0), f.struct(*_RATIO))
    steady, whole = f.size("pairs"), f.size("whole")
    counts = (steady >= f.col("known") * _LEAST_STEADY) & (whole >= steady * _LEAST_WHOLE)
    own = (
        hours.withColumn("ratio", f.try_divide("log", "records"))
        .groupBy(*PARTITION_KEY)
        .agg(
            f.count(f.when(f.col("records") > 0, 1)).alias("known"),
            f.collect_list(paired).alias("pairs"),
            f.percentile(paired["ratio"], _MOST).alias("most"),
            *(f.sum(name).alias(name) for name in ("size", "held")),
        )
        .withColumn(
            "whole", f.filter("pairs", lambda pair: pair["ratio"] >= f.col("most") * _WHOLE)
        )
        .select(
            *PARTITION_KEY,
            whole.alias("hours"),
            *(f.when(counts, _summed("whole", name)).alias(name) for name in ("log", "records")),
            "size",
            "held",
        )
    )
    topics = own.groupBy(*TOPIC_KEY).agg(
        f.try_divide(f.sum("log"), f.sum("records")).alias("of_topic")
    )
    held = f.try_divide("size", "held")
    enough = (f.col("hours") >= _ENOUGH_HOURS) & (f.col("records") > 0)
    return own.join(topics, [*TOPIC_KEY]).select(
        *PARTITION_KEY,
        f.coalesce(
            f.greatest(f.when(enough, f.try_divide("log", "records")), held), f.col("of_topic")
        ).alias("bytes_per_record"),
    )


def _summed(pairs: str, name: str) -> SparkColumn:
    """Return the sum of one field of a list, in thousandths."""
    return f.aggregate(
        pairs, f.lit(0).cast("bigint"), lambda total, pair: total + thousandths(pair[name])
    )
