"""The bytes of a record of each partition, from its hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.load_build.grouping import Known, grouped
from kadmin.planner.load_build.hourly import keys_of
from kadmin.planner.load_build.partitions import PARTITION_KEY, TOPIC_KEY

if TYPE_CHECKING:
    from kadmin.planner.load_build.grouping import RowGroups, Table

_ENOUGH_HOURS = 3
_MOST, _WHOLE = 0.9, 0.8
"""The quantile of hours' bytes a record that counts as whole; the fraction of it below which an
hour does not."""
_LEAST_STEADY, _LEAST_WHOLE = 0.1, 0.5
"""The least part of all hours that is steady, and of those the least part that is whole, where
chance is ruled out."""


def bytes_per_record(hours: Table) -> Known:
    """Return the bytes of a record of the partition of each row of partition_hours.

    They follow from what a log holds, its size over the offsets from start to end, and from its
    growth. Compaction makes the first too low and deleted segments the second: the higher of the
    two counts. Where the partition itself has too few hours of growth, its topic's count. Hours
    with much fewer bytes a record than most others do not count: segments were deleted between
    their first and last sample. A partition of which segments are deleted several times an hour
    seems steady in some hours by chance: those are few, or do not agree, and then the partition
    does not count.
    """
    key = keys_of(hours, PARTITION_KEY)
    partitions = grouped(tuple(key.values()))
    topics = grouped([key[name].taken(partitions.first) for name in TOPIC_KEY])
    whole, log, records = _whole_growth(hours, partitions)
    of_topic = log.over(topics).per(records.over(topics)).at(topics.of_row)
    grown = log.per(records).where(whole >= _ENOUGH_HOURS)
    held = Known.of(hours["size"]).over(partitions).per(Known.of(hours["held"]).over(partitions))
    higher = Known(np.maximum(grown.values, held.values), grown.known & held.known)
    return higher.or_else(grown).or_else(held).or_else(of_topic).at(partitions.of_row)


def _whole_growth(hours: Table, partitions: RowGroups) -> tuple[np.ndarray, Known, Known]:
    """Return the hours of each partition that count, and the growth of its log and records then."""
    log, records = Known.of(hours["log"]), Known.of(hours["records"])
    some = records.known & (records.values > 0)
    ratio = log.per(records).where(some & (log.values > 0))
    most = ratio.quantile(partitions, _MOST).at(partitions.of_row)
    is_whole = ratio.known & (ratio.values >= most.values * _WHOLE)
    known, steady, whole = (
        partitions.reduced(np.add, each.astype(np.int64)) for each in (some, ratio.known, is_whole)
    )
    counts = (steady >= known * _LEAST_STEADY) & (whole >= steady * _LEAST_WHOLE)
    sums = (each.where(is_whole).thousandths().over(partitions) for each in (log, records))
    of_log, of_records = (each.where(counts) for each in sums)
    return whole, of_log, of_records
