"""Writes records to partitions, and reads them in a consumer group."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

import kafka

from kadmin.errors import StalePlanError, UnreachableError
from kadmin.wording import name_some
from kadmin.worlds.kafka.wire.client import client_settings
from kadmin.worlds.kafka.wire.errors import translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from kadmin.cluster.model import TopicPartition
    from kadmin.cluster.servers import Servers

    Records: TypeAlias = Mapping[TopicPartition, Sequence[bytes]]

BOOTSTRAP_S = 15.0
DELIVERY_S = 120.0
"""Seconds that a record may wait for its acknowledgement: it is queued behind all that are written
with it."""
CLOSE_S = 30.0
_POLL_S = 0.05


def produce(servers: Servers, records: Records) -> None:
    """Write values to partitions, in order, and wait until all in-sync replicas have them.

    Raises UnreachableError when no broker answers, StalePlanError for a partition that does not
    exist, and NotCompletedError when a record was not acknowledged. Brokers of 0.10.2 and later.
    """
    with producing(servers) as writer:
        writer.write(records)


@contextmanager
def producing(servers: Servers) -> Iterator[RecordWriter]:
    """Yield a writer whose connections stay open; raises as `produce` does."""
    limits = {
        "bootstrap_timeout_ms": int(BOOTSTRAP_S * 1000),
        "delivery_timeout_ms": int(DELIVERY_S * 1000),
        "max_block_ms": int(BOOTSTRAP_S * 1000),
    }
    with translated(servers, "write records"):
        producer = kafka.KafkaProducer(
            acks="all", linger_ms=5, **client_settings(servers), **limits
        )
        try:
            yield RecordWriter(producer)
        finally:
            producer.close(timeout=CLOSE_S)


class RecordWriter:
    """Writes records as `produce` does, and waits for their acknowledgement or not."""

    def __init__(self, producer: Any) -> None:  # noqa: ANN401 - kafka-python ships no types
        self._producer = producer
        self._failed: list[Exception] = []

    def write(self, records: Records) -> None:
        """Write values, and wait until they are acknowledged."""
        for _, future in self._send(records):
            future.get(timeout=DELIVERY_S)

    def send(self, records: Records, acknowledged: Callable[[TopicPartition], None]) -> None:
        """Write values, and call back for each, in a thread of the producer's.

        Raises the error of an earlier value that was not acknowledged.
        """
        for partition, future in self._send(records):
            future.add_callback(lambda _, written=partition: acknowledged(written))
            future.add_errback(self._failed.append)
        if self._failed:
            raise self._failed[0]

    def flush(self) -> None:
        """Wait until every value is acknowledged; raises the first error."""
        self._producer.flush(timeout=DELIVERY_S)
        if self._failed:
            raise self._failed[0]

    def _send(self, records: Records) -> list[tuple[TopicPartition, Any]]:
        for topic in sorted({partition.topic for partition in records}):
            present = self._producer.partitions_for(topic) or ()
            absent = sorted(
                each for each in records if each.topic == topic and each.partition not in present
            )
            if absent:
                raise StalePlanError(f"The cluster does not have {name_some(absent)}.")
        return [
            (
                partition,
                self._producer.send(partition.topic, value=value, partition=partition.partition),
            )
            for partition, values in records.items()
            for value in values
        ]


class GroupReader:
    """Reads partitions as the only member of a group, from their ends on.

    It commits what it has read; close it.
    """

    def __init__(self, servers: Servers, group: str, partitions: Sequence[TopicPartition]) -> None:
        self._servers = servers
        self._places = {
            each: kafka.TopicPartition(each.topic, each.partition) for each in partitions
        }
        self._consumer = kafka.KafkaConsumer(
            group_id=group, enable_auto_commit=False, **client_settings(servers)
        )
        with translated(servers, "read records"):
            self._consumer.assign(list(self._places.values()))
            self._consumer.seek_to_end()
            self._begun = self.positions()
            self._consumer.commit()

    def read(self) -> Mapping[str, Sequence[float]]:
        """Read the available records, and commit; returns, by topic, when they were produced.

        Times are seconds since the epoch, by the clocks of their producers.
        """
        with translated(self._servers, "read records"):
            found = self._consumer.poll(timeout_ms=int(_POLL_S * 1000))
            self._consumer.commit()
        produced: defaultdict[str, list[float]] = defaultdict(list)
        for place, records in found.items():
            produced[place.topic].extend(each.timestamp / 1000 for each in records)
        return produced

    def read_to_end(self) -> None:
        """Read until nothing is left.

        Raises UnreachableError where that takes longer than DELIVERY_S.
        """
        give_up = time.monotonic() + DELIVERY_S
        with translated(self._servers, "read records"):
            ends = self._consumer.end_offsets(list(self._places.values()))
            while any(self._consumer.position(place) < end for place, end in ends.items()):
                if time.monotonic() > give_up:
                    raise UnreachableError(f"Not all records were read within {DELIVERY_S:g} s.")
                self.read()

    def positions(self) -> Mapping[TopicPartition, int]:
        """Return the offset of the next record of each partition."""
        return {each: self._consumer.position(place) for each, place in self._places.items()}

    @property
    def consumed(self) -> Mapping[TopicPartition, int]:
        """The number of records that were read of each partition."""
        return {each: now - self._begun[each] for each, now in self.positions().items()}

    def close(self) -> None:
        """Close the connections."""
        self._consumer.close(autocommit=False)
