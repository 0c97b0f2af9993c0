"""Claims of KRAFT_CLAIMS on reassignments, on live brokers of every version under test."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.kraft import (
    ALL_BROKERS,
    delete,
    filled_topic,
    held,
    in_flight,
    move,
    reassign,
    shown,
    slow_copies,
    take_back,
)
from support.live.kraft import (
    THROTTLED_RATES,
    make_topic,
    set_configs,
    slow_brokers,
    unanswered,
    wait_assigned,
)
from support.live.waiting import stays, wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire import reassignments
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.reassignments import Reassignment, alter_reassignments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]


@pytest.fixture(scope="module", autouse=True)
def slow(kraft: Sandbox) -> Iterator[None]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection, slow_copies(connection):
        yield


def letters(replicas: Replicas) -> str:
    """Brokers 1, 2, 3 as the table names them: `[A, B, C]`."""
    return f"[{', '.join('_ABCD'[each] for each in replicas)}]"


def test_original_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    ends = seen("original_list") == "ends at once"
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        move(connection, partition, (1, 2))
        assert (
            stays(lambda: in_flight(connection, partition) is not None, foreseen=not ends)
            is not ends
        )
    if not ends:
        wait_until(lambda: set(shown(connection, partition).isr) == set(ALL_BROKERS))
        assert stays(
            lambda: in_flight(connection, partition) == Reassignment(ALL_BROKERS, (3, 4), (3, 4))
        )
        move(connection, partition, None)
    wait_assigned(connection, {partition: (1, 2)})


def test_null_alone(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """The list that is sent afterwards only reorders, and ends at once."""
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (2, 3))
        move(connection, partition, None)
        wait_assigned(connection, {partition: (2, 1)})
        move(connection, partition, (1, 2))
        wait_assigned(connection, {partition: (1, 2)})
    assert f"{letters((2, 1))}; then the original replicas give {letters((1, 2))}" == seen(
        "null_alone"
    )


def test_null_and_original_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        assert reassign(connection, partition, None, (1, 2))[:2] == (0, [0, 0])
        found = in_flight(connection, partition)
        assert found in {None, Reassignment(ALL_BROKERS, (), (3, 4))}
    wait_assigned(connection, {partition: (1, 2)})
    assert seen("null_and_original_list") == (
        "ends at once" if found is None else "ends when the copies are done"
    )


def test_null_when_idle(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    (code,) = reassign(connection, partition, None)[1]
    assert f"refused ({code})" == seen("null_when_idle")


def test_another_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    ends = seen("another_target") == "ends"
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        move(connection, partition, (3, 2))
        assert in_flight(connection, partition)
    if ends:
        wait_assigned(connection, {partition: (3, 2)})
        return
    wait_until(lambda: set(shown(connection, partition).isr) == set(ALL_BROKERS))
    assert stays(lambda: in_flight(connection, partition) is not None)
    take_back(connection, partition, (1, 2))


def test_null_after_another_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        move(connection, partition, (2, 4))
        move(connection, partition, None)
        wait_until(lambda: in_flight(connection, partition) is None)
        ends = seen("null_after_another_target")
        wait_until(lambda: f"ends: {letters(shown(connection, partition).replicas)}" == ends)


def test_wider_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        move(connection, partition, (4, 3, 1))
        assert in_flight(connection, partition) == Reassignment((4, 3, 1, 2), (3, 4), (2,))
    wait_assigned(connection, {partition: (4, 3, 1)})
    assert seen("wider_target") == "ends"


def test_same_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        before = in_flight(connection, partition)
        move(connection, partition, (3, 4))
        assert (
            in_flight(connection, partition) == before == Reassignment((3, 4, 1, 2), (3, 4), (1, 2))
        )
        assert seen("same_target") == "accepted, nothing changes"
        take_back(connection, partition, (1, 2))


def test_good_and_bad_entries(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (1, 2)})
    good, bad, absent = TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition(topic, 2)
    answers = alter_reassignments(connection, {good: (3, 4), bad: (1, 99), absent: (1, 2)})
    assert [each and each.code for each in (answers[good], answers[bad], answers[absent])] == [
        None,
        39,
        3,
    ]
    wait_assigned(connection, {good: (3, 4), bad: (1, 2)})
    assert seen("good_and_bad_entries") == "good ones run, each bad one has its own error"


def test_replication_factor_kept(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    checked = seen("replication_factor_kept") != "not known"
    with held(connection, partition.topic):
        _, codes, messages = reassign(connection, partition, (1, 2, 3), same_factor=True)
        assert codes == ([38] if checked else [0])
        if checked:
            assert messages == ["The replication factor is changed from 2 to 3"]
            move(connection, partition, (1, 2, 3))
            assert reassign(connection, partition, (1, 2), same_factor=True)[1] == [38]
            assert (
                seen("replication_factor_kept")
                == "refused (38), compared with the target in flight"
            )
        take_back(connection, partition, (1, 2))


def test_ten_thousand_and_one(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """Each entry makes one record of the metadata log; the same partition serves as well as 10,001
    of them.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    _, codes, _ = reassign(connection, partition, *[(2, 1)] * 10_001)
    assert Counter(codes) == {0: 10_000, -1: 1}
    assert codes[-1] == -1
    wait_assigned(connection, {partition: (2, 1)})
    assert seen("ten_thousand_and_one") == "10,000 run, the last has error -1"


def test_no_time(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    top, codes, _ = reassign(connection, partition, (2, 1), timeout_ms=0)
    assert stays(lambda: shown(connection, partition).replicas == (1, 2), 1)
    assert f"error {top}, and {codes[0]} for each partition; not applied" == seen("no_time")


def test_present_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    before = shown(connection, partition)
    move(connection, partition, (1, 2))
    assert stays(
        lambda: in_flight(connection, partition) is None and shown(connection, partition) == before,
        1,
    )
    assert seen("present_list") == "accepted, never in flight, same leader epoch"


def test_reorder(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    move(connection, partition, (2, 1))
    assert in_flight(connection, partition) is None
    wait_assigned(connection, {partition: (2, 1)})
    assert shown(connection, partition).leader == 1
    assert seen("reorder") == "ends at once, leader kept"


def test_late_request(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    with unanswered(kraft, reassignments, "alter reassignments"):
        alter_reassignments(connection, {partition: (2, 3)})
    wait_assigned(connection, {partition: (2, 3)})
    assert seen("late_request") == "the request is applied when they answer again"


def test_topic_deleted_in_mid_move(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        delete(connection, partition.topic)
        assert in_flight(connection, partition) is None
    assert seen("topic_deleted_in_mid_move") == "deleted, its reassignment with it"


def test_rate_while_brokers_run(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with slow_brokers(connection), held(connection, partition.topic):
        move(connection, partition, (3, 4))
        assert stays(lambda: in_flight(connection, partition) is not None)
        for each in (1, 2, 3, 4):
            broker = ConfigEntity.of_broker(each)
            set_configs(connection, broker, THROTTLED_RATES, "200000000", each)
        wait_assigned(connection, {partition: (3, 4)})
    assert seen("rate_while_brokers_run") == "both are in force without a restart"
