"""Writes samples of a small cluster whose true rates are known, and makes them dirty in every way
that is met.

Every topic has 100 bytes a record. Records come evenly within an hour: RATE[hour % 24] a second
times the number of the partition plus one. A sample is taken every five minutes. What is wrong with
a topic is in its name.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from kadmin.inventory.parquet_tables import arrow_types
from kadmin.inventory.samples import SAMPLE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
HOURS = 30
STEP_S = 300
RECORD_BYTES = 100
RATE = [20 + 15 * math.cos(2 * math.pi * (hour - 14) / 24) for hour in range(24)]
"""Records a second."""
PARTITIONS = 2
MOVED_AT_S, CAME_H, RESET_AT_S = 10 * 3600 + 1500, 12, 8 * 3600 + 1300
SILENT_H = range(5, 8)
SEGMENT = 5_000_000
"""Logs shrink by so many bytes at once as a segment is deleted."""

Row = dict[str, Any]


def rate_of(topic: str, partition: int, hour: int) -> float | None:
    """The true records a second, None where no sample tells."""
    if (topic == "came" and hour < CAME_H) or (
        topic == "silent" and partition == 0 and hour in SILENT_H
    ):
        return None
    return RATE[hour % 24] * (partition + 1)


@dataclass(frozen=True)
class TimelineEvent:
    """Seconds from MONDAY."""

    s: int

    @property
    def time(self) -> datetime:
        return MONDAY + timedelta(seconds=self.s)

    def records(self, partition: int, since_h: int = 0) -> int:
        """The records of a partition that have come by then."""
        whole = sum(RATE[hour % 24] * 3600 for hour in range(since_h, self.s // 3600))
        part = RATE[self.s // 3600 % 24] * (self.s % 3600)
        return int((whole + part) * (partition + 1))


TOPICS = (
    "clean",
    "repeated",
    "silent",
    "thin",
    "moved",
    "reset",
    "came",
    "shrinking",
    "kept",
    "unread",
)


def moments(hours: Iterable[int] = range(HOURS)) -> list[TimelineEvent]:
    return [
        TimelineEvent(hour * 3600 + second) for hour in hours for second in range(0, 3600, STEP_S)
    ]


def rows_at(moment: TimelineEvent, partitions: int = PARTITIONS) -> Iterator[Row]:
    """The samples of one time, those of each topic with what is wrong with it."""
    for topic in TOPICS:
        if topic == "came" and moment.s < CAME_H * 3600:
            continue
        if topic == "thin" and moment.s % 3600 != 2 * STEP_S:
            continue
        for partition in range(partitions):
            if topic == "silent" and partition == 0 and moment.s // 3600 in SILENT_H:
                continue
            found = list(_partition(moment, topic, partition))
            yield from found * 2 if topic == "repeated" else found
        yield from _meters(moment, topic, partitions)


def _partition(moment: TimelineEvent, topic: str, partition: int) -> Iterator[Row]:
    records = moment.records(partition, CAME_H if topic == "came" else 0)
    leader = 2 if topic == "moved" and moment.s >= MOVED_AT_S else 1
    size = records * RECORD_BYTES
    if topic in {"shrinking", "kept"}:
        size %= SEGMENT
    at = {"ts": moment.time, "topic": topic, "partition": partition}
    yield at | {
        "broker_id": leader,
        "metric": "log_end_offset",
        "kind": "counter",
        "value": float(records),
    }
    if topic == "kept":
        start = records - size // RECORD_BYTES
        yield at | {"metric": "log_start_offset", "kind": "gauge", "value": float(start)}
    for broker in (1, 2):
        yield at | {
            "broker_id": broker,
            "metric": "log_size_bytes",
            "kind": "gauge",
            "value": float(size),
        }
    if topic != "unread":
        yield at | {
            "group": "billing",
            "metric": "group_offset",
            "kind": "counter",
            "value": float(records),
        }


def _meters(moment: TimelineEvent, topic: str, partitions: int) -> Iterator[Row]:
    """What brokers report of the topic `reset`: a tenth more than its partitions add up to, and 0
    after a crash.
    """
    if topic != "reset":
        return
    since = TimelineEvent(RESET_AT_S) if moment.s >= RESET_AT_S else TimelineEvent(0)
    records = sum(moment.records(each) - since.records(each) for each in range(partitions))
    at = {"ts": moment.time, "topic": topic, "broker_id": 1, "kind": "counter"}
    yield at | {"metric": "bytes_in", "value": records * RECORD_BYTES * 1.1}


def useless() -> list[Row]:
    """Rows that no load follows from, but for the last: it has a time of a clock that was wrong."""
    at = {"ts": MONDAY, "topic": "clean", "partition": 0, "broker_id": 1, "kind": "counter"}
    return [
        at | {"metric": "log_end_offset", "value": math.nan},
        at | {"metric": "log_end_offset", "value": -1.0},
        at | {"metric": "room_temperature", "value": 21.0},
        at | {"metric": "log_end_offset", "value": None},
        at
        | {"ts": datetime(1999, 12, 31, 23, tzinfo=UTC), "metric": "log_end_offset", "value": 7.0},
    ]


def write(path: Path, rows: Iterable[Row], seed: int = 0) -> None:
    """Write samples in a random order."""
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - an order, not a secret
    types = arrow_types(pa)
    schema = pa.schema([(each.name, types[each.kind]) for each in SAMPLE_COLUMNS])
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(shuffled, schema=schema), path)
