"""Names the columns, metrics and files of samples of a cluster's load, and lays out their rows.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kadmin.errors import NotCompletedError
from kadmin.inventory.columns import Column, ColumnKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import TopicPartition
    from kadmin.inventory.columns import Columns


class Metric(StrEnum):
    """The metric of a row of a sample.

    Bytes and requests are of a topic on a broker, without a partition.
    """

    LOG_END_OFFSET = "log_end_offset"
    LOG_START_OFFSET = "log_start_offset"
    LOG_SIZE_BYTES = "log_size_bytes"
    GROUP_OFFSET = "group_offset"
    BYTES_IN = "bytes_in"
    BYTES_OUT = "bytes_out"
    REPLICATION_BYTES_IN = "replication_bytes_in"
    REPLICATION_BYTES_OUT = "replication_bytes_out"
    REQUESTS = "requests"


class SampleKind(StrEnum):
    """The kind of a value: a total that grows, or a value at one time."""

    COUNTER = "counter"
    GAUGE = "gauge"


TIME = "ts"
PROMETHEUS = "prometheus"
"""The format of exports of Prometheus; others are those of Spark."""

SAMPLE_COLUMNS = (
    Column(TIME, ColumnKind.TIME, required=True),
    Column("topic", ColumnKind.STRING, required=True),
    Column("partition", ColumnKind.INT),
    Column("broker_id", ColumnKind.INT),
    Column("group", ColumnKind.STRING),
    Column("metric", ColumnKind.STRING, required=True),
    Column("kind", ColumnKind.STRING, required=True),
    Column("value", ColumnKind.DOUBLE, required=True),
)
"""The columns of a sample; a history of several clusters also has `cluster`."""
ROW_ORDER = ("metric", "topic", "partition", "broker_id", "group")
"""Columns by which rows are sorted: equal values are then neighbours, and files small."""

_NAME = "samples-%Y%m%dT%H%M%SZ.parquet"


@dataclass(frozen=True, slots=True)
class LoadSample:
    """The answers of brokers at one time.

    They are end offsets by the leader, bytes of each replica by broker, offsets by group, start
    offsets on the leader's disk. Times are those of the requests. `unavailable` describes the
    requests without an answer.
    """

    taken_at: datetime
    cluster_id: str | None
    end_offsets: Mapping[int, Mapping[TopicPartition, int]]
    log_sizes: Mapping[int, Mapping[TopicPartition, int]]
    group_offsets: Mapping[str, Mapping[TopicPartition, int]] = field(default_factory=dict)
    groups_at: datetime | None = None
    unavailable: tuple[str, ...] = ()
    start_offsets: Mapping[TopicPartition, int] = field(default_factory=dict)

    def stretched(self, begun: datetime, times: float) -> LoadSample:
        """Return the sample with its times since `begun` multiplied by `times`."""

        def later(at: datetime) -> datetime:
            return begun + (at - begun) * times

        groups_at = None if self.groups_at is None else later(self.groups_at)
        return replace(self, taken_at=later(self.taken_at), groups_at=groups_at)


class SampleExistsError(NotCompletedError):
    """A sample of that second exists, and is kept."""


def file_name(taken_at: datetime) -> str:
    """Return the name of the file of the sample of a time, to the second in UTC."""
    return taken_at.astimezone(UTC).strftime(_NAME)


def is_sample_file(name: str) -> bool:
    """Whether a file has the name of a sample."""
    try:
        return file_name(datetime.strptime(name, _NAME).replace(tzinfo=UTC)) == name
    except ValueError:
        return False


def sample_columns(sample: LoadSample) -> Columns:
    """Return the rows of a sample as columns, not sorted yet."""
    columns: dict[str, list[Any]] = {column.name: [] for column in SAMPLE_COLUMNS}

    def add(
        metric: Metric,
        kind: SampleKind,
        values: Mapping[TopicPartition, int],
        *,
        broker_id: int | None = None,
        group: str | None = None,
    ) -> None:
        at = sample.taken_at if group is None else sample.groups_at
        alike = {
            "ts": at,
            "broker_id": broker_id,
            "group": group,
            "metric": metric.value,
            "kind": kind.value,
        }
        for name, value in alike.items():
            columns[name].extend([value] * len(values))
        columns["topic"].extend([each.topic for each in values])
        columns["partition"].extend([each.partition for each in values])
        columns["value"].extend(map(float, values.values()))

    for leader, offsets in sample.end_offsets.items():
        add(Metric.LOG_END_OFFSET, SampleKind.COUNTER, offsets, broker_id=leader)
    add(Metric.LOG_START_OFFSET, SampleKind.GAUGE, sample.start_offsets)
    for broker_id, sizes in sample.log_sizes.items():
        add(Metric.LOG_SIZE_BYTES, SampleKind.GAUGE, sizes, broker_id=broker_id)
    for group, offsets in sample.group_offsets.items():
        add(Metric.GROUP_OFFSET, SampleKind.COUNTER, offsets, group=group)
    return columns
