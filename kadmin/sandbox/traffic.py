"""Produces and consumes a workload on the brokers of a sandbox."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kadmin.cluster.servers import Servers
from kadmin.errors import StalePlanError
from kadmin.next_step import command
from kadmin.sandbox.latencies import Latencies
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.records import GroupReader, producing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.sandbox.sandbox import Sandbox
    from kadmin.sandbox.workload import Workload
    from kadmin.worlds.kafka.wire.records import RecordWriter

TICK_S = 0.1
"""Seconds between two writes."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The records and the bytes of their values that each partition got.

    It also has the records that each group read.
    """

    produced: Mapping[TopicPartition, tuple[int, int]]
    consumed: Mapping[str, Mapping[TopicPartition, int]]


def topics_of(sandbox: Sandbox, names: Sequence[str]) -> dict[str, int]:
    """Return the number of partitions of topics.

    They are those that are named, or all whose names do not begin with `__`. Raises StalePlanError
    for a topic that does not exist, and where there is none.
    """
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        found = read_metadata(connection, names or None).topics
    absent = [name for name in names if name not in found]
    chosen = {
        name: len(each.partitions)
        for name, each in found.items()
        if names or not name.startswith("__")
    }
    if absent or not chosen:
        raise StalePlanError(
            f"There is no topic {', '.join(absent)}." if absent else "There is no topic.",
            next_step=command("sandbox seed"),
        )
    return chosen


def run_traffic(
    sandbox: Sandbox,
    workload: Workload,
    hours: float,
    hour_s: float,
    report: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> Moved:
    """Produce and consume the records of a workload when they are due.

    Do so for `hours` hours of `hour_s` seconds each. Records are sent when they are due, whether
    earlier ones are acknowledged or not. `report` gets the latencies of each second, and of
    what is acknowledged after the last one.
    """
    servers, latencies = Servers(sandbox.bootstrap), Latencies()
    with ExitStack() as stack:
        readers = {
            name: stack.enter_context(closing(GroupReader(servers, name, partitions)))
            for name, partitions in workload.groups.items()
            if partitions
        }
        writer = stack.enter_context(producing(servers))
        begun, done_h, reported = time.monotonic(), 0.0, 0
        while done_h < hours:
            time.sleep(TICK_S)
            now = time.monotonic()
            now_h = min(hours, (now - begun) / hour_s)
            _send(writer, workload.due(done_h, now_h), latencies, now)
            done_h = now_h
            for reader in readers.values():
                _read(reader, latencies)
            if (second := int(now - begun)) > reported:
                reported = second
                report({"second": second, **latencies.take(now)})
        writer.flush()
        report({"second": reported + 1, **latencies.take(time.monotonic())})
        for reader in readers.values():
            reader.read_to_end()
        consumed = {name: reader.consumed for name, reader in readers.items()}
    counts = {
        partition: (stream.until(hours), stream) for partition, stream in workload.streams.items()
    }
    produced = {
        partition: (count, count * stream.record_bytes)
        for partition, (count, stream) in counts.items()
    }
    return Moved(produced, consumed)


def _send(
    writer: RecordWriter,
    records: Mapping[TopicPartition, Sequence[bytes]],
    latencies: Latencies,
    due: float,
) -> None:
    for partition, values in records.items():
        latencies.sent(partition.topic, due, len(values))
    writer.send(
        records, lambda written: latencies.acknowledged(written.topic, due, time.monotonic())
    )


def _read(reader: GroupReader, latencies: Latencies) -> None:
    for topic, produced_at in reader.read().items():
        now = time.time()
        latencies.consumed(topic, [now - each for each in produced_at])
