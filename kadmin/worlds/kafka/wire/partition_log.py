"""Reads the committed records of a partition (Fetch).

It also reads the producers of open transactions (DescribeProducers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeProducersRequest
from kafka.protocol.consumer import FetchRequest
from kafka.record.memory_records import MemoryRecords

from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.next_step import command
from kadmin.worlds.kafka.wire.connection import ATTEMPT_S
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.transactions import Producer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata

MOST_BYTES = 20_000_000

_READ_COMMITTED = 1
_OFFSET_OUT_OF_RANGE = 1
_NOT_LEADING = {3, 5, 6, 9, 56, 74, 75}
"""NOT_LEADER_OR_FOLLOWER, leaders that are being elected, epochs that a broker does not have
yet."""


class NoSuchOffsetError(NotCompletedError):
    """A partition begins after an offset, or ends before it: records were deleted or lost."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A committed record.

    `producer` is None outside of transactions, `value` None where the key is deleted.
    """

    offset: int
    key: str
    value: bytes | None
    producer: Producer | None
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """Records from an offset on, and the offset of the next ones.

    Readers see nothing at or after `stable`, the first offset of the oldest open transaction, or
    `end` where there is none. `end` is the offset after the last record that every in-sync replica
    has.
    """

    entries: tuple[LogEntry, ...]
    next_offset: int
    stable: int
    end: int


def fetch_committed(
    connection: KafkaConnection,
    partition: TopicPartition,
    led: PartitionMetadata,
    offset: int,
    most_bytes: int = MOST_BYTES,
) -> Fetched:
    """Return the committed records from an offset on.

    They are as many as `most_bytes` hold, about, but one batch at least. There may be none yet.
    Raises as `KafkaConnection.ask` does, UnreachableError where the leader leads no more, or not in
    this epoch, and NoSuchOffsetError.
    """
    what, request = f"read {partition}", _request(partition, led.leader_epoch, offset, most_bytes)
    answer = connection.ask(what, request, broker_id=led.leader, timeout_s=ATTEMPT_S)
    raise_for(answer.error_code, None, connection.servers, what)
    found = answer.responses[0].partitions[0]
    if found.error_code in _NOT_LEADING:
        raise UnreachableError(
            f"Broker {led.leader} does not lead {partition}.", next_step="repeat the command"
        )
    if found.error_code == _OFFSET_OUT_OF_RANGE:
        raise NoSuchOffsetError(
            f"{partition} has no offset {offset}.", next_step=command("inspect partitions")
        )
    raise_for(found.error_code, None, connection.servers, what, Right("Read", partition.topic))
    batches = list(MemoryRecords(bytes(found.records or b"")))
    entries = tuple(
        each
        for each in _committed(batches, found.aborted_transactions or ())
        if each.offset >= offset
    )
    next_offset = batches[-1].next_offset if batches else offset
    return Fetched(
        entries, max(offset, next_offset), found.last_stable_offset, found.high_watermark
    )


def _request(
    partition: TopicPartition, leader_epoch: int, offset: int, most_bytes: int
) -> FetchRequest:
    asked = FetchRequest.FetchTopic
    part = asked.FetchPartition(
        partition=partition.partition,
        current_leader_epoch=leader_epoch,
        fetch_offset=offset,
        partition_max_bytes=most_bytes,
    )
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=most_bytes,
        isolation_level=_READ_COMMITTED,
        session_epoch=-1,
        topics=[asked(topic=partition.topic, partitions=[part])],
        max_version=12,
    )


def open_transactions(
    connection: KafkaConnection, partition: TopicPartition, leader: int
) -> tuple[Producer, ...]:
    """Return the producers with an open transaction on a partition, the oldest first."""
    what, asked = "describe producers", DescribeProducersRequest.TopicRequest
    request = DescribeProducersRequest(
        topics=[asked(name=partition.topic, partition_indexes=[partition.partition])]
    )
    answer = connection.ask(what, request, broker_id=leader, timeout_s=ATTEMPT_S)
    found = answer.topics[0].partitions[0]
    raise_for(
        found.error_code,
        found.error_message,
        connection.servers,
        what,
        Right("Read", partition.topic),
    )
    writing = [each for each in found.active_producers if each.current_txn_start_offset >= 0]
    writing.sort(key=lambda each: each.current_txn_start_offset)
    return tuple(Producer(each.producer_id, each.producer_epoch) for each in writing)


def _committed(batches: Iterable[Any], aborted: Iterable[Any]) -> Iterator[LogEntry]:
    """Leave out markers, and records of aborted transactions (as Kafka's CompletedFetch does)."""
    starts = sorted((each.first_offset, each.producer_id) for each in aborted)
    aborting: set[int] = set()
    for batch in batches:
        while starts and starts[0][0] <= batch.last_offset:
            aborting.add(starts.pop(0)[1])
        if batch.is_control_batch:
            if any(record.abort for record in batch):
                aborting.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborting):
            producer = (
                Producer(batch.producer_id, batch.producer_epoch)
                if batch.is_transactional
                else None
            )
            for record in batch:
                key = (record.key or b"").decode(errors="replace")
                yield LogEntry(record.offset, key, record.value, producer, record.timestamp)
