"""Producers that return the code of each answer, and readers of a partition that has no leader."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kafka.protocol.consumer import FetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords
from support.live.waiting import wait_until

from kadmin.errors import UnreachableError
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.cluster.model import TopicPartition
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_TRANSACTION = 1
_TRANSACTION_MS = 600_000
_MOST_BYTES = 1_000_000
_WAITED_FOR = {3, 5, 6, 14, 15, 16, 51}
"""Codes of leaders and coordinators that are being found, and of a transaction that is being
ended."""


class CodedProducer:
    """A producer of transactions, or, without a transactional id, of an idempotent client.

    Its requests are those before KIP-890; with `newest` those after it, of Kafka 4.0 and later.
    """

    def __init__(
        self, connection: KafkaConnection, transactional_id: str | None, *, newest: bool = False
    ) -> None:
        self._connection = connection
        self._id = transactional_id
        self._newest = newest
        self._sequences: dict[TopicPartition, int] = {}
        self._added: set[TopicPartition] = set()
        self.producer_id, self.epoch = self._started()

    def restart(self) -> None:
        """Begin anew with the same transactional id, as a process does that was restarted."""
        self.producer_id, self.epoch = self._started()
        self._sequences.clear()
        self._added.clear()

    def send(self, partition: TopicPartition, value: bytes) -> int:
        """Write a record, within the transaction that is open, or that it opens."""
        if self._id is not None and not self._newest and partition not in self._added:
            self._add(partition)
        sequence = self._sequences.get(partition, 0)
        batch = self._batch(value, sequence)
        topic = ProduceRequest.TopicProduceData
        written = topic.PartitionProduceData(index=partition.partition, records=batch)

        def ask() -> int:
            leader = read_metadata(self._connection, [partition.topic]).partitions[partition].leader
            if leader < 0:
                return min(_WAITED_FOR)
            request = ProduceRequest(
                transactional_id=self._id,
                acks=-1,
                timeout_ms=10_000,
                topic_data=[topic(name=partition.topic, partition_data=[written])],
                max_version=12 if self._newest else 11,
            )
            answer = self._connection.ask("produce", request, broker_id=leader)
            code: int = answer.responses[0].partition_responses[0].error_code
            return code

        code, _ = _settled(lambda: (ask(), None))
        if code == 0:
            self._sequences[partition] = sequence + 1
        return code

    def end(self, *, committed: bool) -> int:
        """Commit or abort the transaction that is open."""
        code, _ = self._ask_coordinator(
            lambda: EndTxnRequest(
                transactional_id=self._id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                committed=committed,
                max_version=4,
            ),
            lambda answer: answer.error_code,
        )
        self._added.clear()
        return code

    def _started(self) -> tuple[int, int]:
        def request() -> InitProducerIdRequest:
            return InitProducerIdRequest(
                transactional_id=self._id, transaction_timeout_ms=_TRANSACTION_MS, max_version=4
            )

        def ask_any() -> tuple[int, Any]:
            answer = self._connection.ask("start", request())
            return answer.error_code, answer

        code, answer = (
            _settled(ask_any)
            if self._id is None
            else self._ask_coordinator(request, lambda answer: answer.error_code)
        )
        assert code == 0
        return answer.producer_id, answer.producer_epoch

    def _add(self, partition: TopicPartition) -> None:
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
            name=partition.topic, partitions=[partition.partition]
        )
        code, _ = self._ask_coordinator(
            lambda: AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[topic],
                max_version=3,
            ),
            lambda answer: (
                answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            ),
        )
        assert code == 0
        self._added.add(partition)

    def _ask_coordinator(
        self, request: Callable[[], Any], code_of: Callable[[Any], int]
    ) -> tuple[int, Any]:
        def ask() -> tuple[int, Any]:
            asked = FindCoordinatorRequest(key=self._id, key_type=_TRANSACTION, max_version=3)
            found = self._connection.ask("find the coordinator", asked)
            if found.error_code:
                return found.error_code, found
            answer = self._connection.ask("ask it", request(), broker_id=found.node_id)
            return code_of(answer), answer

        return _settled(ask)

    def _batch(self, value: bytes, sequence: int) -> bytes:
        builder = DefaultRecordBatchBuilder(
            magic=2,
            compression_type=0,
            is_transactional=self._id is not None,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            batch_size=_MOST_BYTES,
        )
        builder.append(0, int(time.time() * 1000), None, value, [])
        return bytes(builder.build())


def fetched(
    connection: KafkaConnection, partition: TopicPartition, broker_id: int, version: int
) -> tuple[int, int, list[int]]:
    """Fetch a partition from its beginning at one broker; return code, high watermark, offsets."""
    topic = FetchRequest.FetchTopic
    asked = topic.FetchPartition(
        partition=partition.partition, fetch_offset=0, partition_max_bytes=_MOST_BYTES
    )
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=_MOST_BYTES,
        session_epoch=-1,
        topics=[topic(topic=partition.topic, partitions=[asked])],
        min_version=version,
        max_version=version,
    )
    found = connection.ask("fetch", request, broker_id=broker_id).responses[0].partitions[0]
    batches = MemoryRecords(bytes(found.records or b""))
    offsets = [record.offset for batch in batches for record in batch]
    return found.error_code, found.high_watermark, offsets


def _settled(ask: Callable[[], tuple[int, Any]]) -> tuple[int, Any]:
    """Ask until there is an answer whose code is none that ends by itself."""
    answers: list[tuple[int, Any]] = []

    def settled() -> bool:
        with suppress(UnreachableError):
            answers.append(ask())
        return bool(answers) and answers[-1][0] not in _WAITED_FOR

    wait_until(settled)
    return answers[-1]
