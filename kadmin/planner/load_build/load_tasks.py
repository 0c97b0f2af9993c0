"""The task of Spark that makes the load of a range of topics of the hours of all days."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.planner.load_build.brokers import BROKER_HOURS, corrected_rates
from kadmin.planner.load_build.hourly import UNKNOWN_ID
from kadmin.planner.load_build.pieces import numbers_in, opened, whole_file, within
from kadmin.planner.load_build.weeks import each_week, merged_weeks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.planner.load_build.pieces import Range
    from kadmin.planner.load_build.weeks import WeekMerge

OF_BROKERS = ", ".join(
    ("cluster string, broker_id int, hour int", *(f"{name} bigint" for name in BROKER_HOURS))
)
"""What the task returns: brokers' hours of its topics."""


@dataclass(frozen=True, slots=True)
class LoadOfTopics:
    """The files of hours, the ranges of topics, and the folder of the parts of partition_load.

    `start` is the hour of the first Monday from 1970, `weeks` are those from then on. None for
    `merge` keeps each week apart.
    """

    hours: Sequence[str]
    topics: Sequence[Range]
    folder: str
    start: int
    weeks: int
    merge: WeekMerge | None

    def part(self, number: int) -> Path:
        """Return the path of the part of a range of topics."""
        return Path(self.folder) / f"{number:06d}.parquet"

    def __call__(self, numbers: Iterable[Any]) -> Iterator[Any]:
        """Write the parts of the ranges with these numbers; returns OF_BROKERS."""
        files = opened(self.hours)
        for number in numbers_in(numbers):
            hours = pa.concat_tables([within(file, self.topics[number]) for file in files])
            rates, of_brokers = corrected_rates(hours)
            rows = hours.filter(pa.array(np.asarray(hours["partition"]) != UNKNOWN_ID))
            with whole_file(self.part(number)) as write:
                write(
                    each_week(rows, rates, self.start)
                    if self.merge is None
                    else merged_weeks(rows, rates, self.start, self.weeks, self.merge)
                )
            named = of_brokers.set_column(0, "cluster", of_brokers["cluster"].cast(pa.string()))
            yield from named.to_batches()
