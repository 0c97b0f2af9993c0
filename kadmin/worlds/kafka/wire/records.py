"""Writes records to partitions, and reads them in a consumer group."""

from __future__ import annotations

import time
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
    with producing(servers) as write:
        write(records)


@contextmanager
def producing(servers: Servers) -> Iterator[Callable[[Records], None]]:
    """Yield a function that writes as `produce` does, over connections that stay open."""
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
            yield lambda records: _write(producer, records)
        finally:
            producer.close(timeout=CLOSE_S)


def _write(producer: Any, records: Records) -> None:  # noqa: ANN401 - kafka-python ships no types
    for topic in sorted({partition.topic for partition in records}):
        present = producer.partitions_for(topic) or ()
        absent = sorted(
            each for each in records if each.topic == topic and each.partition not in present
        )
        if absent:
            raise StalePlanError(f"The cluster does not have {name_some(absent)}.")
    pending = [
        producer.send(partition.topic, value=value, partition=partition.partition)
        for partition, values in records.items()
        for value in values
    ]
    for each in pending:
        each.get(timeout=DELIVERY_S)


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

    def read(self) -> None:
        """Read the available records, and commit."""
        with translated(self._servers, "read records"):
            self._consumer.poll(timeout_ms=int(_POLL_S * 1000))
            self._consumer.commit()

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
