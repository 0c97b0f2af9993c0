"""Hourly rates of partitions to rows of 168 hours of the week, Monday 00:00 UTC first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kadmin.planner.load import columns
from kadmin.planner.load_build.brokers import RATES
from kadmin.planner.load_build.grouping import Known, grouped, integers
from kadmin.planner.load_build.hourly import keys_of, times
from kadmin.planner.load_build.partitions import PARTITION_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.planner.load_build.grouping import Key, Numbers, RowGroups, Table

_COLUMNS = dict(zip(RATES, (columns.BYTES_IN, columns.BYTES_OUT, columns.REQUESTS), strict=True))
_MONDAY = 96
"""Hours from 1970-01-01, a Thursday, to the first Monday."""
_HOURS = pa.list_(pa.field("element", pa.float32()))
_WEEK = "week"


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


def merged_weeks(
    rows: Table, rates: Mapping[str, Known], start: int, weeks: int, merge: WeekMerge
) -> Table:
    """Return a row for each partition, with `weeks` weeks from the hour `start` merged by hour.

    `rates` are those of RATES for each row of a partition and hour.
    """
    at = (np.asarray(rows["hour"]).astype(np.int64) - start) % columns.HOURS
    key = {**keys_of(rows, PARTITION_KEY), "at": integers(pa.array(at), 0)}
    cells = grouped(tuple(key.values()))
    known = cells.reduced(np.add, rates["in"].known.astype(np.int64))
    return _listed(
        {name: each.taken(cells.first) for name, each in key.items() if name != "at"},
        at[cells.first],
        {name: _merged(rate, cells, merge) for name, rate in rates.items()},
        known,
        (start, weeks),
    )


def each_week(rows: Table, rates: Mapping[str, Known], start: int) -> Table:
    """Return one row for each partition and week."""
    passed = np.asarray(rows["hour"]).astype(np.int64) - start
    key = {**keys_of(rows, PARTITION_KEY), _WEEK: integers(pa.array(passed // columns.HOURS), 0)}
    known = rates["in"].known.astype(np.int64)
    return _listed(key, passed % columns.HOURS, rates, known, (start, 1))


def _merged(rate: Known, cells: RowGroups, merge: WeekMerge) -> Known:
    if merge is WeekMerge.MAX:
        return rate.over(cells, np.maximum)
    if merge is WeekMerge.P95:
        return rate.quantile(cells, 0.95)
    total, count = (
        rate.thousandths().over(cells),
        cells.reduced(np.add, rate.known.astype(np.int64)),
    )
    return Known(total.values / np.maximum(count, 1) / 1000, total.known)


def _listed(
    key: Mapping[str, Key],
    at: Numbers,
    rates: Mapping[str, Known],
    known: Numbers,
    scope: tuple[int, int],
) -> Table:
    """Lay the rates of each key out as lists of 168 hours; hours without a row are null.

    `at` are the hours of the rates in their week. `scope` is the first hour and how many weeks an
    hour of a list is of; with a key of weeks, each begins that much later.
    """
    start, weeks = scope
    lists = grouped(tuple(key.values()))
    found = {name: each.taken(lists.first).column for name, each in key.items()}
    week = np.asarray(found.pop(_WEEK)) if _WEEK in found else np.zeros(len(lists.first), np.int64)
    place = lists.of_row * columns.HOURS + at
    ends = pa.array(np.arange(len(lists.first) + 1) * columns.HOURS, pa.int32())
    hours = {}
    for name, column in _COLUMNS.items():
        every = np.zeros(len(lists.first) * columns.HOURS, np.float32)
        unknown = np.ones(len(every), bool)
        every[place], unknown[place] = rates[name].values, ~rates[name].known
        hours[column] = pa.ListArray.from_arrays(ends, pa.array(every, mask=unknown), type=_HOURS)
    return pa.table(
        {
            columns.CLUSTER: found["cluster"].cast(pa.string()),
            columns.TOPIC: found["topic"].cast(pa.string()),
            columns.PARTITION: found["partition"],
            columns.START: times(start + week * columns.HOURS),
            columns.WEEKS: pa.array(np.full(len(week), weeks), pa.int32()),
            **hours,
            columns.COVERAGE: lists.reduced(np.add, known) / (columns.HOURS * weeks),
        }
    )
