"""Rolls samples up: one row for each series and hour, from which rates follow without the samples.

A series is what one source reports about one thing: the values of the columns SERIES. A sample is
the roll-up of itself, and roll-ups of parts of an hour merge to that of the hour. Tables are those
of Arrow, sorted by series and hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.inventory.samples import TIME, Metric, SampleKind
from kadmin.planner.load_build.grouping import (
    RowGroups,
    filled,
    flags,
    half_up,
    integers,
    is_one_of,
    names,
    numbered,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.planner.load_build.grouping import Key, Numbers, Table

HOUR_US = 3_600_000_000
UNKNOWN_ID = -1
"""The id of no partition, and of an unknown broker: joins on null would need another comparison."""

NAMES = ("cluster", "topic", "group", "metric")
SERIES = ("cluster", "topic", "partition", "broker_id", "group", "metric", "counter")
SUMMARY = ("samples", "first_at", "last_at", "first", "last", "lowest", "highest", "total")
ROLL_UP = (*SERIES, "hour", *SUMMARY)
"""`hour` counts from 1970 in UTC, `first_at` and `last_at` are microseconds, `total` sums a gauge
in thousandths."""

_MOST = 9.2e18
_MOST_RATE = 1e12
_TIMES_US = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The years 1 to 9999: what Spark takes as a time."""
_WITHIN_HOUR = 2**32
"""More than HOUR_US: a number of a series and hour, and a time in the hour, make one of 64 bits."""


def roll_up(samples: Table, days: Collection[tuple[int, int]] = ()) -> tuple[Table, int]:
    """Return the hourly roll-up of samples, and how many samples cannot be used.

    Those have no time, no topic, no metric that counts, or no value that can be. With `days`, first
    and last ones from 1970, other days' samples are as if they were not there.
    """
    usable = _usable(samples)
    left_out = len(usable) - int(usable.sum())
    if days:
        day = filled(samples[TIME].cast(pa.int64()), _TIMES_US[0]) // (24 * HOUR_US)
        within = np.logical_or.reduce([(first <= day) & (day <= last) for first, last in days])
        left_out = int((within & ~usable).sum())
        usable &= within
    rows = samples if usable.all() else samples.filter(pa.array(usable))
    at, value = np.asarray(rows[TIME].cast(pa.int64())), np.asarray(rows["value"])
    keys = keys_of(rows, [name for name in SERIES if name != "counter"])
    counter = _counters(keys["metric"], names(rows["kind"]))
    keys |= {"counter": flags(counter), "hour": integers(pa.array(at // HOUR_US), UNKNOWN_ID)}
    total = half_up(np.where(counter, 0.0, np.minimum(value, _MOST_RATE) * 1000))
    summary = (np.ones_like(at), at, at, value, value, value, value, total)
    return _rolled_up(keys, dict(zip(SUMMARY, summary, strict=True))), left_out


def merge(roll_ups: Table) -> Table:
    """Merge rows of the same series and hour, each rolled up from other samples."""
    summary = {name: np.asarray(roll_ups[name]) for name in SUMMARY}
    return _rolled_up(keys_of(roll_ups, (*SERIES, "hour")), summary)


def keys_of(rows: Table, columns: Collection[str]) -> dict[str, Key]:
    """Return columns of samples, of roll-ups or of what is made of them, as keys."""

    def key_of(name: str) -> Key:
        column = rows[name]
        if name in NAMES:
            return names(column)
        return flags(column) if name == "counter" else integers(column, UNKNOWN_ID)

    return {name: key_of(name) for name in columns}


def times(hours: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return the times at which hours from 1970 begin."""
    return pa.array(np.asarray(hours).astype(np.int64) * HOUR_US).cast(pa.timestamp("us", "UTC"))


def _usable(samples: Table) -> Numbers:
    at = filled(samples[TIME].cast(pa.int64()), _TIMES_US[0] - 1)
    value = filled(samples["value"], -1)
    usable: Numbers = (
        np.asarray(samples["topic"].is_valid())
        & is_one_of(names(samples["metric"]), [*Metric])
        & (value >= 0)
        & (value <= _MOST)
        & (at >= _TIMES_US[0])
        & (at <= _TIMES_US[1])
    )
    return usable


def _counters(metric: Key, kind: Key) -> Numbers:
    """Whether a sample is of a counter.

    Offsets only grow and log sizes do not, whatever the exporter calls them.
    """
    always = is_one_of(metric, [Metric.LOG_END_OFFSET, Metric.GROUP_OFFSET])
    never = is_one_of(metric, [Metric.LOG_SIZE_BYTES])
    counters: Numbers = always | (~never & is_one_of(kind, [SampleKind.COUNTER]))
    return counters


def _rolled_up(keys: Mapping[str, Key], summary: Mapping[str, Numbers]) -> Table:
    """Return one row for each key, in their order."""
    number = numbered(tuple(keys.values()))
    by_first = RowGroups(number, _order(number, summary["first_at"], summary["first"]))
    by_last = by_first
    if summary["last_at"] is not summary["first_at"]:
        by_last = RowGroups(number, _order(number, summary["last_at"], summary["last"]))
    columns = {name: key.taken(by_first.first).column for name, key in keys.items()}
    columns |= {
        "samples": by_first.reduced(np.add, summary["samples"]),
        "first_at": summary["first_at"][by_first.first],
        "last_at": summary["last_at"][by_last.last],
        "first": summary["first"][by_first.first],
        "last": summary["last"][by_last.last],
        "lowest": by_first.reduced(np.minimum, summary["lowest"]),
        "highest": by_first.reduced(np.maximum, summary["highest"]),
        "total": by_first.reduced(np.add, summary["total"]),
    }
    return pa.table({name: columns[name] for name in ROLL_UP})


def _order(number: Numbers, at: Numbers, value: Numbers) -> Numbers:
    """Order rows by number and time, at the same time by value: every run takes the same ones."""
    both = number * _WITHIN_HOUR + at % HOUR_US
    order = np.argsort(both)
    in_order = both[order]
    return np.lexsort((value, both)) if (in_order[1:] == in_order[:-1]).any() else order
