"""Writes records in transactions (InitProducerId, AddPartitionsToTxn, Produce, EndTxn).

It also writes one record without. kafka-python's own producer is no base for a lock: it takes a new
producer epoch on its own, and raises no error when a fenced one begins again. The requests here are
of the versions before KIP-890, so that a producer keeps one epoch from its start to its end, on
every broker since 2.5.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeTransactionsRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)
from kafka.record.default_records import DefaultRecordBatchBuilder

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.errors import BusyError, UnreachableError
from kadmin.waiting import poll
from kadmin.worlds.kafka.wire.connection import ATTEMPT_S
from kadmin.worlds.kafka.wire.errors import error_name, raise_for
from kadmin.worlds.kafka.wire.metadata import leader_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

WRITE_S = 20.0
"""Seconds that a write may take, its retries included."""
LAST_WRITE_S = 1.0
"""The same for a write that begins after the command's end: a transaction may have to wait for the
one before."""
TRANSACTION_S = 10
"""Seconds without a request of its producer after which the coordinator aborts a transaction."""

_PAUSE_S = 0.03
_TRANSACTION = 1
_NO_SUCH_ID = 105
_NO_PRODUCER = -1
_MAGIC = 2
_MOST_BATCH_BYTES = 1 << 30
"""Limit of the batch builder, which drops further records without an error; brokers refuse smaller
batches."""
_TOO_FEW = "the partition has fewer in-sync replicas than its min.insync.replicas"
_NO_COORDINATOR = (
    "there is no transaction coordinator: __transaction_state has too few in-sync replicas, or "
    "fewer brokers run than its replication factor"
)
_CAUSES = {
    **dict.fromkeys((19, 20), _TOO_FEW),
    **dict.fromkeys((14, 15, 16), _NO_COORDINATOR),
    51: (
        "an earlier transaction cannot be ended: its partition or __transaction_state has too few "
        "in-sync replicas"
    ),
}
_RETRIED = {-1, 3, 5, 6, 7, 13, 56, *_CAUSES}
"""UNKNOWN_TOPIC_OR_PARTITION (just created), leaders that move, KAFKA_STORAGE_ERROR, and the codes
of _CAUSES.

And UNKNOWN_SERVER_ERROR: a coordinator answers it to a commit that arrives while it fences that
producer (an IllegalStateException of TransactionMetadata.prepareTransitionTo, seen on 3.9.2 and
4.4.0); the next answer shows which of them was first.
"""
_FENCED = {22, 45, 47, 48, 49, 59, 90, 120}
"""PRODUCER_FENCED and INVALID_PRODUCER_EPOCH, and the codes for a producer whose transaction was
aborted."""


class FencedError(BusyError):
    """Another producer with the same transactional id took over.

    Or the coordinator aborted the transaction.
    """


@dataclass(frozen=True, slots=True)
class Producer:
    """A start of a producer: each start of a transactional id gets another epoch."""

    producer_id: int
    epoch: int


class TransactionalProducer:
    """A producer with a transactional id.

    Its construction fences every earlier one with the same id. `add` records, then `commit`. After
    an error it is of no use: make another one. Errors of every call: FencedError, and
    UnreachableError, also where too few of the brokers that are needed are in sync. What begins
    after `until`, in monotonic seconds, is tried for LAST_WRITE_S.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        transactional_id: str,
        topic: str,
        *,
        until: float = math.inf,
    ) -> None:
        self._connection = connection
        self._until = until
        self._id = transactional_id
        self._topic = topic
        self._coordinator: int | None = None
        self._leaders: dict[TopicPartition, int] = {}
        self._sequences: dict[int, int] = {}
        self._added: set[int] = set()
        answer = self._ask_coordinator(
            "begin to write transactions",
            lambda: InitProducerIdRequest(
                transactional_id=self._id,
                transaction_timeout_ms=TRANSACTION_S * 1000,
                max_version=4,
            ),
            lambda found: found.error_code,
        )
        self.identity = Producer(answer.producer_id, answer.producer_epoch)

    def add(self, partition: int, records: Sequence[tuple[str, bytes | None]]) -> int:
        """Write keys and values to a partition within the transaction, which begins with the first.

        Return the offset. The records have this offset and the following ones. None as a value
        deletes the key.
        """
        if partition not in self._added:
            self._add_to_transaction(partition)
        sequence = self._sequences.get(partition, 0)
        batch = _batch(records, self.identity, sequence)
        where = TopicPartition(self._topic, partition)
        offset = _produce(
            self._connection, where, batch, self._id, self._leaders, until=self._until
        )
        self._sequences[partition] = sequence + len(records)
        return offset

    def commit(self) -> None:
        """Commit the records that were added."""
        self._ask_coordinator(
            "commit a transaction",
            lambda: EndTxnRequest(
                transactional_id=self._id,
                producer_id=self.identity.producer_id,
                producer_epoch=self.identity.epoch,
                committed=True,
                max_version=4,
            ),
            lambda found: found.error_code,
        )
        self._added.clear()

    def _add_to_transaction(self, partition: int) -> None:
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
            name=self._topic, partitions=[partition]
        )
        self._ask_coordinator(
            "begin a transaction",
            lambda: AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._id,
                v3_and_below_producer_id=self.identity.producer_id,
                v3_and_below_producer_epoch=self.identity.epoch,
                v3_and_below_topics=[topic],
                max_version=3,
            ),
            lambda found: (
                found.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            ),
        )
        self._added.add(partition)

    def _ask_coordinator(
        self, what: str, request: Callable[[], Any], code_of: Callable[[Any], int]
    ) -> Any:  # noqa: ANN401 - kafka-python ships no types
        def attempt() -> tuple[int, Any]:
            if self._coordinator is None:
                asked = FindCoordinatorRequest(key=self._id, key_type=_TRANSACTION, max_version=3)
                found = self._connection.ask(
                    "find the transaction coordinator", asked, timeout_s=ATTEMPT_S
                )
                if found.error_code:
                    return found.error_code, found
                self._coordinator = found.node_id
            answer = self._connection.ask(
                what, request(), broker_id=self._coordinator, timeout_s=ATTEMPT_S
            )
            return code_of(answer), answer

        def forget() -> None:
            self._coordinator = None

        return _retried(
            self._connection,
            what,
            attempt,
            forget,
            _rights(self._topic, self._id),
            until=self._until,
        )


def producer_id_of(connection: KafkaConnection, transactional_id: str) -> int | None:
    """Return the producer id that a transactional id has now (DescribeTransactions).

    It is None where it has none. Raises as `KafkaConnection.ask` does, and UnreachableError while
    there is no coordinator.
    """
    what = "describe a transactional id"
    asked = FindCoordinatorRequest(key=transactional_id, key_type=_TRANSACTION, max_version=3)
    coordinator = connection.ask("find the transaction coordinator", asked, timeout_s=ATTEMPT_S)
    right = Right("Describe", transactional_id=transactional_id)
    raise_for(coordinator.error_code, coordinator.error_message, connection.servers, what, right)
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    answer = connection.ask(what, request, broker_id=coordinator.node_id, timeout_s=ATTEMPT_S)
    found = answer.transaction_states[0]
    if found.error_code == _NO_SUCH_ID:
        return None
    raise_for(found.error_code, None, connection.servers, what, right)
    producer_id: int = found.producer_id
    return producer_id


def append_record(
    connection: KafkaConnection, partition: TopicPartition, key: str, value: bytes
) -> None:
    """Write one record outside of any transaction.

    Raises UnreachableError, also where too few brokers are in sync.
    """
    batch = _batch([(key, value)], Producer(_NO_PRODUCER, _NO_PRODUCER), _NO_PRODUCER)
    _produce(connection, partition, batch, None, {})


def _batch(records: Sequence[tuple[str, bytes | None]], producer: Producer, sequence: int) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=_MAGIC,
        compression_type=0,
        is_transactional=producer.producer_id != _NO_PRODUCER,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=sequence,
        batch_size=_MOST_BATCH_BYTES,
    )
    now_ms = int(time.time() * 1000)
    for number, (key, value) in enumerate(records):
        builder.append(number, now_ms, key.encode(), value, [])
    return bytes(builder.build())


def _produce(
    connection: KafkaConnection,
    partition: TopicPartition,
    batch: bytes,
    transactional_id: str | None,
    leaders: dict[TopicPartition, int],
    *,
    until: float = math.inf,
) -> int:
    """Write a batch and return its first offset, when every in-sync replica has it.

    `leaders` are remembered ones.
    """
    what, data = f"write to {partition}", ProduceRequest.TopicProduceData
    written = data.PartitionProduceData(index=partition.partition, records=batch)

    def attempt() -> tuple[int, Any]:
        if partition not in leaders:
            leaders[partition] = leader_of(connection, partition)
        request = ProduceRequest(
            transactional_id=transactional_id,
            acks=-1,
            timeout_ms=int(ATTEMPT_S * 1000),
            topic_data=[data(name=partition.topic, partition_data=[written])],
            max_version=11,
        )
        answer = connection.ask(what, request, broker_id=leaders[partition], timeout_s=ATTEMPT_S)
        found = answer.responses[0].partition_responses[0]
        return found.error_code, found

    def forget() -> None:
        leaders.pop(partition, None)

    rights = _rights(partition.topic, transactional_id)
    offset: int = _retried(connection, what, attempt, forget, rights, until=until).base_offset
    return offset


def _rights(topic: str, transactional_id: str | None) -> dict[int, Right]:
    """Return the rights that writing needs, by the brokers' error code where one is missing."""
    return {29: Right("Write", topic), 53: Right("Write", transactional_id=transactional_id)}


def _retried(
    connection: KafkaConnection,
    what: str,
    attempt: Callable[[], tuple[int, Any]],
    forget: Callable[[], None],
    rights: Mapping[int, Right],
    *,
    until: float,
) -> Any:  # noqa: ANN401 - kafka-python ships no types
    """Ask until the answer's code is 0, for WRITE_S.

    Every request of this module can be repeated without harm.
    """
    for _ in poll(min(WRITE_S, max(until - time.monotonic(), LAST_WRITE_S)), _PAUSE_S):
        lost: UnreachableError | None = None
        code = 0
        try:
            code, answer = attempt()
        except UnreachableError as error:
            lost = error
        else:
            if code == 0:
                return answer
            if code in _FENCED:
                raise FencedError(f"Another process took over; this one did not {what}.")
            if code not in _RETRIED:
                raise_for(
                    code,
                    getattr(answer, "error_message", None),
                    connection.servers,
                    what,
                    rights.get(code),
                )
        forget()
    raise lost or _not_available(code, what)


def _not_available(code: int, what: str) -> UnreachableError:
    # All of these end when brokers come back, so that a runner waits for them as for brokers that
    # do not answer.
    return UnreachableError(
        f"The brokers did not {what} in time.",
        cause=_CAUSES.get(code, error_name(code)),
        next_step=(
            "bring brokers back, then repeat the command; or keep lock and records with --records "
            "DIR"
        ),
    )
