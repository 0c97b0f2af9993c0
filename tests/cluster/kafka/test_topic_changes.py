"""Elections, deletions and creations of topics through the brokers of a live cluster in KRaft
mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic, unanswered, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.wire import deletions
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.elections import elect_leaders
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


def id_of(connection: KafkaConnection, topic: str) -> str:
    found = read_metadata(connection, [topic]).topics[topic].topic_id
    assert found is not None
    return found


@pytest.mark.live
def test_only_the_partitions_named_are_elected_each_with_its_own_answer(
    connection: KafkaConnection,
) -> None:
    """A reorder moves no leader; a partition that is led as preferred (Kafka's code 84) is no
    refusal.
    """
    topic = make_topic(connection, {0: (1, 2), 1: (1, 2), 2: (1, 2)})
    named, spared, led = (TopicPartition(topic, number) for number in range(3))
    orders = {named: (2, 1), spared: (2, 1), led: (1, 2)}
    alter_reassignments(connection, orders)
    wait_assigned(connection, orders)
    absent = TopicPartition("absent", 0)
    answers = elect_leaders(connection, [named, led, absent])
    assert {partition: answer and answer.name for partition, answer in answers.items()} == {
        named: None,
        led: None,
        absent: "UNKNOWN_TOPIC_OR_PARTITION",
    }

    def leaders() -> list[int]:
        return [
            read_metadata(connection, [topic]).partitions[each].leader
            for each in (named, spared, led)
        ]

    wait_until(lambda: leaders() == [2, 1, 1])
    assert elect_leaders(connection, []) == {}
    assert leaders() == [2, 1, 1], "an empty list elects nothing"


@pytest.mark.matrix
def test_a_preferred_replica_that_is_stopped_is_refused(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (4, 1)})
    partition = TopicPartition(topic, 0)
    kraft.stop_broker(4)
    try:
        answer = elect_leaders(connection, [partition])[partition]
        assert answer is not None
        assert (answer.code, answer.name) == (80, "PREFERRED_LEADER_NOT_AVAILABLE")
    finally:
        kraft.start_broker(4)
    wait_assigned(connection, {partition: (4, 1)})


@pytest.mark.live
def test_a_deletion_by_id_spares_the_topic_that_was_made_again(connection: KafkaConnection) -> None:
    """It is a compare-and-delete; the name can be used again at once."""
    topic, other = make_topic(connection, {0: (1, 2)}), make_topic(connection, {0: (2, 3)})
    first, beside = id_of(connection, topic), id_of(connection, other)
    assert delete_topics(connection, {topic: first}) == {topic: None}
    create_topic(connection, topic, {0: (1, 2)})
    answers = delete_topics(connection, {topic: first, other: beside})
    refused = answers[topic]
    assert refused is not None
    assert (refused.code, refused.name) == (100, "UNKNOWN_TOPIC_ID")
    assert answers[other] is None, "each topic has its own answer"
    wait_assigned(connection, {TopicPartition(topic, 0): (1, 2)})
    assert id_of(connection, topic) != first


@pytest.mark.live
def test_a_topic_is_created_with_its_replicas_and_configs(connection: KafkaConnection) -> None:
    own = {"retention.ms": "3600000", "cleanup.policy": "compact"}
    replicas = {0: (3, 1), 1: (1, 4)}
    topic = make_topic(connection, replicas, own)
    assert {
        number: each.replicas
        for number, each in read_metadata(connection, [topic]).topics[topic].partitions.items()
    } == replicas
    assert read_own_configs(connection, [ConfigEntity.of_topic(topic)]) == {
        ConfigEntity.of_topic(topic): own
    }


@pytest.mark.eras
def test_a_deletion_without_an_answer_may_still_happen(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    wanted = {topic: id_of(connection, topic)}
    with unanswered(kraft, deletions, "delete topics"):
        delete_topics(connection, wanted)
    wait_until(lambda: topic not in read_metadata(connection).topics)
