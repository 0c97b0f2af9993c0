"""The requests of kadmin.worlds.kafka.wire on a live cluster in KRaft mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.kafka.group_members import commit
from support.live.kraft import make_topic, unanswered, wait_assigned
from support.live.records import consume_all

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.worlds.kafka.wire import reassignments
from kadmin.worlds.kafka.wire.configs import describe_settings
from kadmin.worlds.kafka.wire.groups import describe_groups
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs
from kadmin.worlds.kafka.wire.metadata import internal_topics, read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import (
    Reassignment,
    alter_reassignments,
    list_reassignments,
)
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.live


def test_a_reading_has_brokers_topics_and_the_quorum(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (3, 4)})
    seen = read_metadata(connection, [topic, "absent"])
    assert {
        each.broker_id: (each.rack, each.port, each.alive) for each in seen.brokers.values()
    } == {
        broker: (kraft.spec.rack(broker), port, True) for broker, port in kraft.broker_ports.items()
    }
    assert list(seen.topics) == [topic]
    assert len(seen.topics[topic].topic_id or "") == 22
    second = seen.topics[topic].partitions[1]
    assert (second.replicas, second.leader, set(second.isr), second.offline) == (
        (3, 4),
        3,
        {3, 4},
        (),
    )
    assert second.leader_epoch >= 0
    everything = read_metadata(connection)
    assert everything.cluster_id == seen.cluster_id
    assert topic in everything.topics
    quorum = describe_quorum(connection)
    assert [each.replica_id for each in quorum.voter_states] == [101, 102, 103]
    assert quorum.leader_id in {101, 102, 103}


def test_records_sizes_settings_and_groups(kraft: Sandbox, connection: KafkaConnection) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    written = {partition: [b"x" * 10_000] * 10}
    produce(Servers(kraft.bootstrap), written)
    assert consume_all(kraft.bootstrap, written) == written
    with pytest.raises(StalePlanError, match=f"{topic}-7"):
        produce(Servers(kraft.bootstrap), {TopicPartition(topic, 7): [b"x"]})
    sizes = describe_log_dirs(Servers(kraft.bootstrap), [1, 3]).sizes
    assert 100_000 < sizes[1][partition] < 120_000
    assert partition not in sizes[3]
    settings = describe_settings(
        Servers(kraft.bootstrap), [1, 2], ["delete.topic.enable", "no.such.setting"]
    )
    assert settings.given == {broker: {"delete.topic.enable": "true"} for broker in (1, 2)}
    assert describe_groups(Servers(kraft.bootstrap), [1, 2, 3, 4]).unseen == ()
    with pytest.raises(NotCompletedError, match=f"did not create topic {topic}") as refused:
        create_topic(connection, topic, {0: (1,)})
    assert "already exists" in (refused.value.cause or "")


def test_a_broker_that_does_not_answer_hides_no_other(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    servers, topic = Servers(kraft.bootstrap), make_topic(connection, {0: (1, 2)})
    commit(kraft.bootstrap, f"of-{topic}", topic)
    groups = describe_groups(servers, [1, 2, 3, 4, 99])
    assert groups.topics[f"of-{topic}"] == {topic}
    assert groups.unseen == (
        (
            "groups that broker 99 coordinates were not seen",
            "Broker 99 did not list consumer groups",
        ),
    )
    settings = describe_settings(servers, [1, 99], ["delete.topic.enable"])
    assert settings.given == {1: {"delete.topic.enable": "true"}}
    assert {broker: error.message for broker, error in settings.failed.items()} == {
        99: "Broker 99 did not describe settings."
    }
    assert internal_topics(connection, ["__consumer_offsets", topic, "absent"]) == {
        "__consumer_offsets": True,
        topic: False,
        "absent": False,
    }


def test_each_partition_of_a_wave_has_its_own_answer(connection: KafkaConnection) -> None:
    """The request is not atomic: good entries run, each bad one is refused with Kafka's code and
    message.
    """
    topic = make_topic(connection, dict.fromkeys(range(5), (1, 2)))
    moved, unregistered, twice, idle, same = (TopicPartition(topic, number) for number in range(5))
    absent = TopicPartition("absent", 0)
    answers = alter_reassignments(
        connection,
        {
            moved: (3, 4),
            unregistered: (1, 99),
            twice: (1, 1),
            idle: None,
            same: (1, 2),
            absent: (1,),
        },
    )
    refused = {
        partition: (each.code, each.name) for partition, each in answers.items() if each is not None
    }
    assert refused == {
        unregistered: (39, "INVALID_REPLICA_ASSIGNMENT"),
        twice: (39, "INVALID_REPLICA_ASSIGNMENT"),
        idle: (85, "NO_REASSIGNMENT_IN_PROGRESS"),
        absent: (3, "UNKNOWN_TOPIC_OR_PARTITION"),
    }
    assert {moved, same} <= answers.keys()
    refusal = answers[unregistered]
    assert refusal is not None
    assert "broker 99" in (refusal.message or "")
    wait_assigned(
        connection, {moved: (3, 4), unregistered: (1, 2), twice: (1, 2), idle: (1, 2), same: (1, 2)}
    )


@pytest.mark.matrix
@pytest.mark.on("4.1.2", "4.4.0")
def test_a_move_to_a_stopped_broker_is_in_flight_until_it_starts(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    """In KRaft mode a target has to be registered, not alive; Kafka 4.0 and later list registered
    brokers as fenced.
    """
    topic = make_topic(connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    kraft.brokers[4].stop(kill=True)
    try:
        # The others count it as alive until its session ends, and Metadata names any of them as the
        # controller.
        assert [list_reassignments(connection) for _ in range(8)] == [{}] * 8
        kraft.stop_broker(4)
        fenced = read_metadata(connection, ()).brokers[4]
        assert (fenced.alive, fenced.rack, fenced.port) == (False, "r1", kraft.broker_ports[4])
        assert alter_reassignments(connection, {partition: (3, 4)}) == {partition: None}
        in_flight = {partition: Reassignment((3, 4, 1, 2), (3, 4), (1, 2))}
        assert list_reassignments(connection) == in_flight
    finally:
        kraft.start_broker(4)
    wait_assigned(connection, {partition: (3, 4)})


def test_a_change_without_an_answer_has_an_unknown_outcome_and_may_be_sent_again(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    target = {TopicPartition(topic, 0): (2, 3)}
    with unanswered(kraft, reassignments, "alter reassignments"):
        alter_reassignments(connection, target)
    assert alter_reassignments(connection, target) == dict.fromkeys(target)
    wait_assigned(connection, target)
