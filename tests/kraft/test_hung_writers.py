"""A transaction that another producer leaves open hides the record; a holder whose loop hangs loses
its lease.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.kraft import make_topic, wait_assigned
from support.stores import in_topic

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import Author
from kadmin.operations.record.steps import WaveStep
from kadmin.worlds.kafka.values import topic_reader, topic_writer
from kadmin.worlds.kafka.values.topic_settings import CONTROL
from kadmin.worlds.kafka.wire import transactions
from kadmin.worlds.kafka.wire.transactions import TransactionalProducer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [pytest.mark.eras, pytest.mark.on("4.4.0")]

LEASE_S = 2.0
OP_1, OP_2 = (f"20260101T000000Z-00000{number}" for number in (1, 2))
ANN = Holder(Author("ann", "host-a", 7), OP_1, "now", LEASE_S)
BEN = Holder(Author("ben", "host-b", 8), OP_2, "now", LEASE_S)
STEP = WaveStep(1, "now", 0)


@contextmanager
def hanging(
    connection: KafkaConnection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TransactionalProducer]:
    """Leave a transaction open in the record, for longer than readers wait."""
    with monkeypatch.context() as patched:
        patched.setattr(transactions, "TRANSACTION_S", 600)
        producer = TransactionalProducer(connection, f"{RECORD_TOPIC}-stranger", RECORD_TOPIC)
    producer.add(CONTROL, [("stray", b"{}")])
    monkeypatch.setattr(topic_reader, "PATIENCE_S", 2.0)
    try:
        yield producer
    finally:
        producer.commit()


def test_k12_a_transaction_that_does_not_end_is_named_with_its_producer(
    cluster: KraftCluster,
    connection: KafkaConnection,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = document(tmp_path / "plan.json", reassignment(partition.topic, {0: (2, 3)}))
    with hanging(connection, monkeypatch) as producer:
        named = (
            f"begun by producer {producer.identity.producer_id} (epoch {producer.identity.epoch})"
        )
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == 8, refused.err
        assert named in " ".join(refused.err.split())
        assert "kafka-transactions.sh find-hanging" in refused.err
        read = cluster.kadmin("status", "-o", "json")
        assert read.status == 0, read.err
        assert named in " ".join(read.err.split()), "what came before is shown, with a note"
        assert json.loads(read.out)["operations"] == []
    wait_assigned(connection, {partition: (1, 2)})
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    wait_assigned(connection, {partition: (2, 3)})


def test_a_holder_whose_loop_hangs_loses_its_lease(
    connection: KafkaConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process lives, and so does the thread that renews the lease."""
    monkeypatch.setattr(topic_writer, "HUNG_S", LEASE_S / 2)
    hung, other = (in_topic(connection, lease_s=LEASE_S, name="__kadmin-hung") for _ in range(2))
    lease = hung.lock.take(ANN, 0)
    taken = other.lock.take(BEN, 60 * LEASE_S)
    with pytest.raises(LostLockError, match=rf"ben@.* took over, for operation {OP_2}"):
        hung.write_step(STEP, lease)
    hung.lock.release(lease)
    other.lock.release(taken)
