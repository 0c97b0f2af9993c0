"""Hourly roll-ups to hourly rates.

A counter's growth is that between an hour's own samples. It bears one reset an hour (the counter
starts at 0 again) or one wrap (at 2^31 or 2^32), rows out of order, and repeated rows. Where the
samples of an hour cover less than half of it, the neighbouring hours' nearest samples bound it.
Hours that stay covered for less than KNOWN_US are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.inventory.samples import Metric
from kadmin.planner.load_build.hourly import HOUR_US, SERIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

SPARSE_US = HOUR_US // 2
KNOWN_US = HOUR_US // 6
_WRAPS = (2**31, 2**32)
_FEW = 200_000
"""The most roll-ups that are sent to every task rather than shuffled with all the others."""

_NEIGHBOURS = ("before_at", "before", "after_at", "after")


def is_sparse() -> SparkColumn:
    """Whether a counter's or log size's samples cover little of an hour.

    Neighbouring hours are then used.
    """
    grows = f.col("counter") | (f.col("metric") == Metric.LOG_SIZE_BYTES)
    return grows & (f.col("last_at") - f.col("first_at") < SPARSE_US)


def hourly_rates(roll_ups: DataFrame, bounds: DataFrame | None, sparse: int) -> DataFrame:
    """Return SERIES, hour, `amount` (growth), `covered_us`, `per_s`, `steady` and the `last` value.

    There is one row for each roll-up. `per_s` is the mean rate of a counter or the mean of a gauge,
    null where unknown. `steady` means that the value never fell. `sparse` is the number of roll-ups
    that is_sparse selects, and `bounds` are those of the days that have any and of the days beside
    them; None where there are none.
    """
    alone = roll_ups if bounds is None else roll_ups.where(~is_sparse())
    nothing = [
        f.lit(None).cast("bigint" if name.endswith("_at") else "double").alias(name)
        for name in _NEIGHBOURS
    ]
    rows = alone.select("*", *nothing)
    if bounds is not None:
        few = sparse <= _FEW
        rows = rows.unionByName(
            _with_neighbours(bounds, f.broadcast if few else lambda wanted: wanted)
        )
    amount = (
        f.when(f.col("counter"), _growth()).otherwise(f.col("last") - f.col("first"))
        + _edge_growth()
    )
    covered = f.col("last_at") - f.col("first_at") + _left_us() + _right_us()
    found = rows.select(
        *SERIES,
        "hour",
        "samples",
        "total",
        "last",
        amount.alias("amount"),
        covered.alias("covered_us"),
        _steady().alias("steady"),
    )
    rate = f.when(f.col("covered_us") >= KNOWN_US, f.col("amount") / f.col("covered_us") * 1e6)
    mean = f.col("total") / f.col("samples") / 1000
    return found.select(
        *SERIES,
        "hour",
        "amount",
        "covered_us",
        "steady",
        "last",
        f.when(f.col("counter"), rate).otherwise(mean).alias("per_s"),
    )


def _steady() -> SparkColumn:
    return (
        (f.col("first") == f.col("lowest"))
        & (f.col("last") == f.col("highest"))
        & f.coalesce(f.col("before") <= f.col("first"), f.lit(True))  # noqa: FBT003 - lit takes it by position
        & f.coalesce(f.col("after") >= f.col("last"), f.lit(True))  # noqa: FBT003 - as above
    )


def _with_neighbours(roll_ups: DataFrame, hint: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Add the last sample of the hour before and the first of the hour after, null if none."""
    sparse = roll_ups.where(is_sparse())
    steps = f.explode(f.array(f.lit(-1), f.lit(1)))
    wanted = sparse.select(*SERIES, f.col("hour").alias("of_hour"), steps.alias("step")).withColumn(
        "hour", f.col("of_hour") + f.col("step")
    )
    before, after = f.col("step") == -1, f.col("step") == 1
    found = roll_ups.join(hint(wanted), [*SERIES, "hour"]).select(
        *SERIES,
        f.col("of_hour").alias("hour"),
        f.when(before, f.col("last_at")).alias("before_at"),
        f.when(before, f.col("last")).alias("before"),
        f.when(after, f.col("first_at")).alias("after_at"),
        f.when(after, f.col("first")).alias("after"),
    )
    own = [name for name in sparse.columns if name not in (*SERIES, "hour")]
    together = sparse.unionByName(found, allowMissingColumns=True).groupBy(*SERIES, "hour")
    return together.agg(*(f.max(name).alias(name) for name in (*own, *_NEIGHBOURS)))


def _growth() -> SparkColumn:
    first, last, lowest, highest = (f.col(name) for name in ("first", "last", "lowest", "highest"))
    ordered = (first == lowest) & (last == highest)
    is_reset = lowest < highest / 2
    counted = f.when(last < highest, highest - first).otherwise(0.0) + last
    return (
        f.when(ordered, last - first)
        .when(~is_reset, highest - lowest)
        .otherwise(counted + _wrapped(counted))
    )


def _wrapped(counted: SparkColumn) -> SparkColumn:
    """Return a counter's distance to its wrap.

    Two intervals between samples would have taken the counter there.
    """
    highest = f.col("highest")
    limit = f.when(highest < _WRAPS[0], float(_WRAPS[0])).when(
        highest < _WRAPS[1], float(_WRAPS[1])
    )
    left = limit - highest
    near = (f.col("last") < highest) & (left * (f.col("samples") - 1) <= 2 * counted)
    return f.when(near, left).otherwise(0.0)


def _edge_growth() -> SparkColumn:
    """Return the growth at an hour's edges, the part in this hour.

    It is the growth between the nearest samples of neighbouring hours and the hour's own.
    """
    left = (
        _between(f.col("before"), f.col("first"))
        * _left_us()
        / (f.col("first_at") - f.col("before_at"))
    )
    right = (
        _between(f.col("last"), f.col("after"))
        * _right_us()
        / (f.col("after_at") - f.col("last_at"))
    )
    return f.coalesce(left, f.lit(0.0)) + f.coalesce(right, f.lit(0.0))


def _between(earlier: SparkColumn, later: SparkColumn) -> SparkColumn:
    return f.when(later >= earlier, later - earlier).when(later < earlier / 2, later).otherwise(0.0)


def _left_us() -> SparkColumn:
    return f.when(f.col("before_at").isNotNull(), f.col("first_at") % HOUR_US).otherwise(f.lit(0))


def _right_us() -> SparkColumn:
    return f.when(f.col("after_at").isNotNull(), HOUR_US - f.col("last_at") % HOUR_US).otherwise(
        f.lit(0)
    )


def is_log_growth() -> SparkColumn:
    """Whether a rate's `amount` is the growth of a log of which no segment was deleted."""
    return (
        (f.col("metric") == Metric.LOG_SIZE_BYTES)
        & f.col("steady")
        & (f.col("covered_us") >= KNOWN_US)
    )
