"""Measures the finished files: the coverage, and the agreement of partitions with brokers' reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from pyarrow import parquet

from kadmin.planner.load.columns import COVERAGE
from kadmin.planner.load_build.figures import Agreement

if TYPE_CHECKING:
    from pathlib import Path

_DIGITS = 4


def coverage_of(path: Path) -> tuple[int, float | None]:
    """Return the rows of a partition_load file, and their mean coverage; None without rows."""
    column = parquet.ParquetFile(path).read(columns=[COVERAGE]).column(COVERAGE)
    mean = pc.mean(column).as_py()
    return len(column), None if mean is None else round(mean, _DIGITS)


def agreement_of(path: Path) -> Agreement:
    """Return the agreement of partitions' sums with brokers' reports: 1 is agreement everywhere, None is unknown.

    It is 1 less the sum of all differences, broker by broker and hour by hour, over the sum of all reports, and never
    below 0. Hours without one of the two do not count.
    """
    read = parquet.ParquetFile(path).read()
    return Agreement(_agreement(read, "in"), _agreement(read, "out"))


def _agreement(read: Any, way: str) -> float | None:  # noqa: ANN401 - pyarrow ships no type information
    reported, partitions = read.column(f"reported_{way}_per_s"), read.column(f"partitions_{way}_per_s")
    apart = pc.sum(pc.abs(pc.subtract(reported, partitions))).as_py()
    total = pc.sum(pc.if_else(pc.is_valid(partitions), reported, None)).as_py()
    return round(max(1 - apart / total, 0.0), _DIGITS) if total else None
