"""The model of transactions against live brokers: the same calls, the same answers and the same
committed records.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.record_topic.brokers import Brokers

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.partition_log import fetch_committed
from kadmin.worlds.kafka.wire.topics import create_compacted
from kadmin.worlds.kafka.wire.transactions import FencedError, TransactionalProducer, append_record

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.transactions import Producer

_topics = itertools.count()
WAIT_S = 60

# Calls of producers a and b on one transactional id, of a plain writer and a reader; `time out`
# waits for the abort.
SEQUENCES = (
    ("a begins", "a adds", "a commits", "a adds", "a commits", "read"),
    ("a begins", "a adds", "plain", "read", "a commits", "read"),
    ("a begins", "a adds", "b begins", "a commits", "read"),
    (
        "a begins",
        "a adds",
        "a commits",
        "b begins",
        "a adds",
        "b adds",
        "read",
        "b commits",
        "read",
    ),
    ("a begins", "a adds", "plain", "b begins", "read", "b adds", "b commits", "a adds", "read"),
    (
        "a begins",
        "b begins",
        "a begins",
        "b adds",
        "a adds",
        "a commits",
        "b begins",
        "a adds",
        "read",
    ),
    (
        "a begins",
        "a adds",
        "a adds",
        "a commits",
        "plain",
        "b begins",
        "b adds",
        "b commits",
        "a commits",
        "read",
    ),
)
TIMED_OUT = (
    *("a begins", "a adds", "plain", "read", "time out", "read", "a commits"),
    *("a begins", "a adds", "a commits", "read"),
)


class Modelled:
    """The calls, on the model."""

    def __init__(self) -> None:
        self._brokers = Brokers()
        self._producers: dict[str, Producer] = {}

    def call(self, name: str, value: bytes) -> str:
        """Make a call, and let the coordinator write what it decided."""
        answer = self._called(value, *name.split())
        if self._brokers.busy:
            self._brokers = self._brokers.write_marker()
        return answer

    def read(self) -> tuple[int, list[tuple[str, bytes | None]]]:
        """Return the last stable offset and the committed records before it."""
        return self._brokers.stable, [(each.key, each.value) for each in self._brokers.visible()]

    def _called(self, value: bytes, who: str, what: str = "") -> str:
        if who == "plain":
            self._brokers = self._brokers.plain("plain", value)
        elif who == "time":
            self._brokers = self._brokers.time_out()
        elif what == "begins":
            self._brokers, self._producers[who] = self._brokers.begin()
        elif self._brokers.is_fenced(self._producers[who]):
            return "fenced"
        elif what == "adds":
            self._brokers, _ = self._brokers.add(self._producers[who], ((who, value),))
        else:
            self._brokers = self._brokers.commit(self._producers[who])
        return "done"


class Live:
    """The calls, on live brokers and a topic of their own."""

    def __init__(self, connection: KafkaConnection) -> None:
        self._connection = connection
        self._partition = TopicPartition(f"transactions-{next(_topics)}", 0)
        create_compacted(connection, self._partition.topic, {0: (1, 2, 3)}, {})
        wait_until(lambda: self._partition in read_metadata(connection).partitions, WAIT_S)
        self._producers: dict[str, TransactionalProducer] = {}

    def call(self, name: str, value: bytes) -> str:
        """Make a call."""
        try:
            self._call(value, *name.split())
        except FencedError:
            return "fenced"
        return "done"

    def read(self) -> tuple[int, list[tuple[str, bytes | None]]]:
        """Return the last stable offset and the committed records before it."""
        led = read_metadata(self._connection, (self._partition.topic,)).partitions[self._partition]
        found = fetch_committed(self._connection, self._partition, led, 0)
        return found.stable, [(each.key, each.value) for each in found.entries]

    def _call(self, value: bytes, who: str, what: str = "") -> None:
        if who == "plain":
            append_record(self._connection, self._partition, "plain", value)
        elif what == "begins":
            topic = self._partition.topic
            self._producers[who] = TransactionalProducer(self._connection, topic, topic)
        elif what == "adds":
            self._producers[who].add(0, [(who, value)])
        elif what == "commits":
            self._producers[who].commit()


@pytest.mark.live
def test_the_model_does_what_live_brokers_do(connection: KafkaConnection) -> None:
    for sequence in SEQUENCES:
        compare(connection, sequence)


@pytest.mark.eras
def test_a_transaction_times_out_as_in_the_model(connection: KafkaConnection) -> None:
    compare(connection, TIMED_OUT)


def compare(connection: KafkaConnection, sequence: tuple[str, ...]) -> None:
    """Make the same calls on both; what was committed is seen a moment after the answer."""
    model, live = Modelled(), Live(connection)
    for number, name in enumerate(sequence):
        if name == "read":
            wait_until(lambda: live.read() == model.read(), WAIT_S)
        else:
            value = b"%d" % number
            assert (number, live.call(name, value)) == (number, model.call(name, value)), sequence
