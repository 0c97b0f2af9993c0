"""Reads everything in a topic, and produces and consumes records while a test changes their
topic.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Self

import kafka
from kafka.errors import KafkaError
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ACKNOWLEDGED_BY_S = 20
READ_BY_S = 60


def consume_all(
    bootstrap: Sequence[str], partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, list[bytes]]:
    """Read every value from the beginning of the partitions to the end that they had at the start,
    in offset order.
    """
    found = {partition: list[bytes]() for partition in partitions}
    asked = {kafka.TopicPartition(each.topic, each.partition): each for each in found}
    if not asked:
        return found
    settings = {"enable_auto_commit": False, "group_id": None, "request_timeout_ms": 10_000}
    with closing(kafka.KafkaConsumer(bootstrap_servers=list(bootstrap), **settings)) as consumer:
        consumer.assign(list(asked))
        ends = consumer.end_offsets(list(asked), timeout_ms=READ_BY_S * 1000)
        consumer.seek_to_beginning(*asked)

        def read() -> bool:
            for partition, batch in consumer.poll(timeout_ms=500).items():
                found[asked[partition]] += [
                    each.value or b"" for each in batch if each.offset < ends[partition]
                ]
            return all(consumer.position(each) >= ends[each] for each in asked)

        wait_until(read, READ_BY_S)
    return found


PAUSE_S = 0.01
"""Between two records of a partition: some tens a second show every loss, and leave the processor
to the brokers."""


class RecordsFlowing:
    """Writes numbered records to the partitions in turn, each until it is acknowledged by all
    in-sync replicas.

    `acknowledged` and `consumed` hold values by partition, `refused` the errors of attempts by
    their number in Kafka's protocol, -1 for those of the client. A record that was tried twice may
    be there twice.
    """

    def __init__(self, bootstrap: Sequence[str], partitions: Sequence[TopicPartition]) -> None:
        self._bootstrap = list(bootstrap)
        self._partitions = list(partitions)
        self._ended = threading.Event()
        self._read = threading.Event()
        self._producing, self._consuming = (
            threading.Thread(target=work, daemon=True) for work in (self._produce, self._consume)
        )
        self.acknowledged: dict[TopicPartition, list[bytes]] = defaultdict(list)
        self.consumed: dict[TopicPartition, set[bytes]] = defaultdict(set)
        self.refused: dict[TopicPartition, Counter[int]] = defaultdict(Counter)

    def __enter__(self) -> Self:
        self._producing.start()
        self._consuming.start()
        self.wait_for_more()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.wait_for_more()
            # A record that is acknowledged while this ends is read, too.
            self._ended.set()
            self._producing.join(60)
            wait_until(self._caught_up, 60)
        finally:
            self._ended.set()
            self._read.set()
            self._producing.join(60)
            self._consuming.join(60)

    def wait_for_more(self) -> None:
        """Wait until every partition has acknowledged another record: leaders are there and take
        writes.
        """
        before = {partition: len(self.acknowledged[partition]) for partition in self._partitions}
        wait_until(
            lambda: all(len(self.acknowledged[p]) > count for p, count in before.items()), 90
        )

    def lost(self) -> list[bytes]:
        """Return what was acknowledged and never came out again."""
        return [
            value
            for p, values in self.acknowledged.items()
            for value in values
            if value not in self.consumed[p]
        ]

    def missing(self, values: Iterable[bytes]) -> list[bytes]:
        """Return the values that another reader does not find in their topics, either."""
        found = {
            each
            for read in consume_all(self._bootstrap, self._partitions).values()
            for each in read
        }
        return [each for each in values if each not in found]

    def _caught_up(self) -> bool:
        return all(
            values[-1] in self.consumed[partition]
            for partition, values in self.acknowledged.copy().items()
        )

    def _produce(self) -> None:
        producer = kafka.KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all",
            retries=0,  # each error is seen
            enable_idempotence=False,
            request_timeout_ms=5_000,
            delivery_timeout_ms=15_000,
            max_block_ms=15_000,
            metadata_max_age_ms=1_000,
        )
        number = 0
        while not self._ended.is_set():
            for partition in self._partitions:
                value = f"{partition} {number}".encode()
                if self._send(producer, partition, value):
                    self.acknowledged[partition].append(value)
            number += 1
            self._ended.wait(PAUSE_S)
        producer.close(timeout=5)

    def _send(self, producer: kafka.KafkaProducer, partition: TopicPartition, value: bytes) -> bool:
        while not self._ended.is_set():
            try:
                producer.send(partition.topic, value=value, partition=partition.partition).get(
                    ACKNOWLEDGED_BY_S
                )
            except KafkaError as error:  # a leader that moved or died: the same record again
                # An error of the client's own, as of a lost connection, has no number.
                self.refused[partition][getattr(error, "errno", -1)] += 1
                self._ended.wait(PAUSE_S)
                continue
            return True
        return False

    def _consume(self) -> None:
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            group_id=None,
            request_timeout_ms=15_000,
            metadata_max_age_ms=1_000,
        )
        consumer.assign(
            [kafka.TopicPartition(each.topic, each.partition) for each in self._partitions]
        )
        while not self._read.is_set():
            for found, records in consumer.poll(timeout_ms=200).items():
                place = TopicPartition(found.topic, found.partition)
                self.consumed[place].update(record.value for record in records)
        consumer.close()
