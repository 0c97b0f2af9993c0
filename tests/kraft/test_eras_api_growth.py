"""Claims of KRAFT_CLAIMS on more partitions for a topic, on brokers of every version under test."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import kafka
import pytest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.kraft import filled_topic, grow, held, move, slow_copies, take_back
from support.kafka.group_members import commit
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]

UNREGISTERED = 99


@pytest.fixture
def topic(connection: KafkaConnection) -> str:
    """A topic of one partition with two replicas."""
    return make_topic(connection, {0: (1, 2)})


def partitions(connection: KafkaConnection, topic: str) -> int:
    return len(read_metadata(connection, [topic]).topics[topic].partitions)


def test_growth(connection: KafkaConnection, topic: str, seen: Callable[[str], str]) -> None:
    """It counts as led at once: one reading shows the partitions and their leaders."""
    assert grow(connection, topic, 3, (2, 3), (4, 1)) == 0
    wait_until(lambda: partitions(connection, topic) == 3)
    found = read_metadata(connection, [topic]).partitions
    new = [found[TopicPartition(topic, number)] for number in (1, 2)]
    assert [(each.replicas, each.leader, each.isr) for each in new] == [
        ((2, 3), 2, (2, 3)),
        ((4, 1), 4, (4, 1)),
    ]
    assert seen("growth") == "these lists, led by the first, in sync at once"


def test_growth_refused(
    connection: KafkaConnection, topic: str, seen: Callable[[str], str]
) -> None:
    codes = [
        grow(connection, topic, 1, (1, 2)),
        grow(connection, topic, 2, (1, 2, 3)),
        grow(connection, topic, 2, (1, UNREGISTERED)),
        grow(connection, topic, 2, (1, 1)),
        grow(connection, topic, 3, (1, 2)),
    ]
    assert stays(lambda: partitions(connection, topic) == 1, 1)
    words = (
        "a number that it has: {}; another number of replicas: {}; a broker that is not "
        "registered: {}; a broker twice: {}; fewer lists than partitions: {}"
    )
    assert seen("growth_refused") == words.format(*codes)


def test_growth_asked_again(
    connection: KafkaConnection, topic: str, seen: Callable[[str], str]
) -> None:
    assert grow(connection, topic, 2, (1, 2)) == 0
    again = grow(connection, topic, 2, (1, 2))
    assert stays(lambda: partitions(connection, topic) <= 2, 1)
    assert seen("growth_asked_again") == f"refused ({again})"


def test_growth_validated_only(
    connection: KafkaConnection, topic: str, seen: Callable[[str], str]
) -> None:
    good = grow(connection, topic, 2, (1, 2), validate_only=True)
    bad = grow(connection, topic, 2, (1, UNREGISTERED), validate_only=True)
    assert stays(lambda: partitions(connection, topic) == 1, 1)
    assert seen("growth_validated_only") == f"{good}, or the code of a refusal ({bad})"


def test_growth_of_internal_topics(
    connection: KafkaConnection, record: None, seen: Callable[[str], str]
) -> None:
    """Asked for with validate_only: the cluster is shared."""
    del record
    codes = []
    for name in ("__transaction_state", "__kadmin"):
        found = read_metadata(connection, [name]).topics[name].partitions
        lists = found[0].replicas
        codes.append(grow(connection, name, len(found) + 1, lists, validate_only=True))
    assert codes == [0, 0]
    assert seen("growth_of_internal_topics") == "accepted"


def test_growth_during_a_reassignment(
    connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    partition = filled_topic(connection, (1, 2))
    with slow_copies(connection), held(connection, partition.topic):
        move(connection, partition, (3, 4))
        code = grow(connection, partition.topic, 2, (1, 2))
        take_back(connection, partition, (1, 2))
    wait_assigned(connection, {partition: (1, 2)})
    assert ("accepted" if code == 0 else f"refused ({code})") == seen(
        "growth_during_a_reassignment"
    )


def test_growth_and_keys(
    connection: KafkaConnection, topic: str, seen: Callable[[str], str]
) -> None:
    def sent() -> list[int]:
        servers = list(connection.servers.addresses)
        with closing(kafka.KafkaProducer(bootstrap_servers=servers)) as producer:
            keys = [str(number).encode() for number in range(10)]
            return [producer.send(topic, key=each).get(PATIENCE_S).partition for each in keys]

    assert set(sent()) == {0}
    assert grow(connection, topic, 3, (1, 2), (2, 1)) == 0
    wait_until(lambda: partitions(connection, topic) == 3)
    moved = sum(number > 0 for number in sent())
    assert seen("growth_and_keys") == f"{moved} of 10"


def test_growth_and_latest(
    connection: KafkaConnection, topic: str, seen: Callable[[str], str]
) -> None:
    """The group has read to the end; then the topic grows, and records come before its member."""
    old, new = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(connection.servers, {old: [b"before"]})
    commit(connection.servers.addresses, topic, topic)
    assert grow(connection, topic, 2, (1, 2)) == 0
    wait_until(lambda: partitions(connection, topic) == 2)
    produce(connection.servers, {new: [b"early"]})
    consumer = kafka.KafkaConsumer(
        topic,
        bootstrap_servers=list(connection.servers.addresses),
        group_id=topic,
        auto_offset_reset="latest",
    )
    read: list[bytes] = []

    def has_read(value: bytes) -> bool:
        for records in consumer.poll(timeout_ms=200).values():
            read.extend(each.value for each in records)
        return value in read

    try:
        wait_until(lambda: not has_read(b"") and len(consumer.assignment()) == 2)
        wait_until(lambda: not has_read(b"") and _placed(consumer, topic))
        produce(connection.servers, {new: [b"late"]})
        wait_until(lambda: has_read(b"late"))
    finally:
        consumer.close()
    assert b"early" not in read
    assert seen("growth_and_latest") == "skipped"


def _placed(consumer: kafka.KafkaConsumer, topic: str) -> bool:
    """Whether the consumer has a position in the new partition."""
    return consumer.position(kafka.TopicPartition(topic, 1), timeout_ms=500) is not None
