"""Each claim of KRAFT_CLAIMS in tests/support/eras/api_claims.py, on live brokers of every version under test."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.errors import NotEnoughReplicasError, ProducerFencedError
from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    DescribeTopicPartitionsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
)
from kafka.protocol.metadata import MetadataRequest
from support.eras.api_claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.claims import claim
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.kafka import reassignments
from kadmin.cluster.kafka.configs import (
    DEFAULT_ENTITY,
    MOST_VALUE_BYTES,
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.deletions import delete_topics
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.reassignments import Reassignment, alter_reassignments, list_reassignments
from kadmin.cluster.kafka.records import produce
from kadmin.cluster.kafka.servers import Servers
from kadmin.cluster.kafka.topics import create_topic
from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError, UnknownOutcomeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cluster.kafka.metadata import PartitionMetadata
    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.on(*KRAFT_VERSIONS)]

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LISTS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
SET, DELETE, APPEND, SUBTRACT = ConfigOperation
ALL_BROKERS = (1, 2, 3, 4)


@pytest.fixture
def seen(kraft: Sandbox) -> Callable[[str], str]:
    """What the table says for the version under test."""
    return lambda name: claim(name, KRAFT_CLAIMS).seen[kraft.spec.version]


def filled_topic(connection: KafkaConnection, replicas: Replicas) -> TopicPartition:
    """A partition with records of 5 MB, more than a throttled broker fetches before it is held back."""
    partition = TopicPartition(make_topic(connection, {0: replicas}), 0)
    produce(connection.servers, {partition: [b"x" * 900_000] * 6})
    return partition


@contextmanager
def held(connection: KafkaConnection, topic: str) -> Iterator[None]:
    """Copies of a topic are held back: 1 B/s on every broker."""
    entity = f"topics/{topic}"
    edits = {
        DEFAULT_ENTITY: dict.fromkeys(RATES, ConfigEdit(SET, "1")),
        entity: dict.fromkeys(LISTS, ConfigEdit(SET, "*")),
    }
    assert alter_configs(connection, edits) == dict.fromkeys(edits)

    def shown(broker_id: int) -> bool:
        own = read_own_configs(connection, edits, broker_id=broker_id)
        return all(own[each].keys() >= keys.keys() for each, keys in edits.items())

    wait_until(lambda: all(shown(broker_id) for broker_id in ALL_BROKERS), PATIENCE_S)
    try:
        yield
    finally:
        alter_configs(connection, {each: dict.fromkeys(keys, ConfigEdit(DELETE)) for each, keys in edits.items()})


def move(connection: KafkaConnection, partition: TopicPartition, target: Replicas | None) -> None:
    assert alter_reassignments(connection, {partition: target}) == {partition: None}


def in_flight(connection: KafkaConnection, partition: TopicPartition) -> Reassignment | None:
    return list_reassignments(connection, [partition]).get(partition)


def shown(connection: KafkaConnection, partition: TopicPartition) -> PartitionMetadata:
    return read_metadata(connection, [partition.topic]).partitions[partition]


def take_back(connection: KafkaConnection, partition: TopicPartition, original: Replicas) -> None:
    move(connection, partition, original)
    if in_flight(connection, partition):
        move(connection, partition, None)
    wait_until(lambda: in_flight(connection, partition) is None, PATIENCE_S)


def test_original_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    ends = seen("original_list") == "ends at once"
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        move(connection, partition, (1, 2))
        assert stays(lambda: in_flight(connection, partition) is not None, foreseen=not ends) is not ends
    if not ends:
        wait_until(lambda: set(shown(connection, partition).isr) == set(ALL_BROKERS), PATIENCE_S)
        assert stays(lambda: in_flight(connection, partition) == Reassignment(ALL_BROKERS, (3, 4), (3, 4)))
        move(connection, partition, None)
    wait_assigned(connection, {partition: (1, 2)})


def test_null_alone(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (2, 3))
        move(connection, partition, None)
        wait_until(lambda: 3 not in shown(connection, partition).replicas, PATIENCE_S)
        names = ["_ABC"[broker_id] for broker_id in shown(connection, partition).replicas]
    assert f"[{', '.join(names)}]" == seen("null_alone")


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
    wait_until(lambda: set(shown(connection, partition).isr) == set(ALL_BROKERS), PATIENCE_S)
    assert stays(lambda: in_flight(connection, partition) is not None)
    take_back(connection, partition, (1, 2))


def test_same_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        before = in_flight(connection, partition)
        move(connection, partition, (3, 4))
        assert in_flight(connection, partition) == before == Reassignment((3, 4, 1, 2), (3, 4), (1, 2))
        assert seen("same_target") == "accepted, nothing changes"
        take_back(connection, partition, (1, 2))


def test_good_and_bad_entries(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (1, 2)})
    good, bad, absent = TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition(topic, 2)
    answers = alter_reassignments(connection, {good: (3, 4), bad: (1, 99), absent: (1, 2)})
    assert [each and each.code for each in (answers[good], answers[bad], answers[absent])] == [None, 39, 3]
    wait_assigned(connection, {good: (3, 4), bad: (1, 2)})
    assert seen("good_and_bad_entries") == "good ones run, each bad one has its own error"


def test_ten_thousand_and_one(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """Each entry makes one record of the metadata log; the same partition serves as well as 10,001 of them."""
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    entry = topic.ReassignablePartition(partition_index=0, replicas=[2, 1])
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=30_000, topics=[topic(name=partition.topic, partitions=[entry] * 10_001)]
    )
    answer = connection.change("alter reassignments", request, timeout_s=60)
    codes = [each.error_code for topic in answer.responses for each in topic.partitions]
    assert Counter(codes) == {0: 10_000, -1: 1}
    assert codes[-1] == -1
    wait_assigned(connection, {partition: (2, 1)})
    assert seen("ten_thousand_and_one") == "10,000 run, the last has error -1"


def test_present_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    before = shown(connection, partition)
    move(connection, partition, (1, 2))
    assert stays(lambda: in_flight(connection, partition) is None and shown(connection, partition) == before, 1)
    assert seen("present_list") == "accepted, never in flight, same leader epoch"


def test_reorder(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    move(connection, partition, (2, 1))
    assert in_flight(connection, partition) is None
    wait_assigned(connection, {partition: (2, 1)})
    assert shown(connection, partition).leader == 1
    assert seen("reorder") == "ends at once, leader kept"


def test_late_request(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    monkeypatch.setattr(reassignments, "CHANGE_S", 1.0)
    for controller_id in kraft.controller_ports:
        kraft.freeze(controller_id)
    try:
        with pytest.raises(UnknownOutcomeError):
            alter_reassignments(connection, {partition: (2, 3)})
    finally:
        for controller_id in kraft.controller_ports:
            kraft.thaw(controller_id)
    wait_assigned(connection, {partition: (2, 3)})
    assert seen("late_request") == "the request is applied when they answer again"


def test_topic_deleted_in_mid_move(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = filled_topic(connection, (1, 2))
    with held(connection, partition.topic):
        move(connection, partition, (3, 4))
        delete(connection, partition.topic)
        assert in_flight(connection, partition) is None
    assert seen("topic_deleted_in_mid_move") == "deleted, its reassignment with it"


def test_controller_in_metadata(kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    named = {connection.ask("list the brokers", request).controller_id for _ in range(40)}
    assert len(named) > 1
    assert named <= kraft.broker_ports.keys()
    assert seen("controller_in_metadata") == "any live broker"


def test_rate_through_another_broker(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    answer = alter_configs(connection, {"brokers/2": {RATES[0]: ConfigEdit(SET, "1000")}}, broker_id=1)["brokers/2"]
    assert answer is not None
    assert f"refused ({answer.code})" == seen("rate_through_another_broker")


def test_rate_of_all_brokers(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    def set_rate(entity: str, edit: ConfigEdit, broker_id: int | None = None) -> None:
        assert alter_configs(connection, {entity: {RATES[0]: edit}}, broker_id=broker_id) == {entity: None}

    def own(entity: str, broker_id: int) -> str | None:
        return read_own_configs(connection, [entity], broker_id=broker_id)[entity].get(RATES[0])

    set_rate(DEFAULT_ENTITY, ConfigEdit(SET, "111"))
    set_rate("brokers/2", ConfigEdit(SET, "222"), 2)
    wait_until(lambda: [own(DEFAULT_ENTITY, each) for each in ALL_BROKERS] == ["111"] * 4, PATIENCE_S)
    wait_until(lambda: own("brokers/2", 2) == "222", PATIENCE_S)
    assert own("brokers/1", 1) is None
    set_rate(DEFAULT_ENTITY, ConfigEdit(DELETE))
    set_rate("brokers/2", ConfigEdit(DELETE), 2)
    assert seen("rate_of_all_brokers") == "told apart from a broker's own"


def test_last_entry_subtracted(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    entity = f"topics/{make_topic(connection, {0: (1, 2)})}"
    for operation, value in ((APPEND, "0:1"), (SUBTRACT, "")):
        assert alter_configs(connection, {entity: {LISTS[0]: ConfigEdit(operation, "0:1")}}) == {entity: None}
        wait_until(
            lambda value=value: read_own_configs(connection, [entity])[entity] == {LISTS[0]: value},  # type: ignore[misc]
            PATIENCE_S,
        )
    assert seen("last_entry_subtracted") == "an empty list stays"


def test_entry_added_to_a_star(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    entity = f"topics/{make_topic(connection, {0: (1, 2)})}"
    assert alter_configs(connection, {entity: {LISTS[0]: ConfigEdit(SET, "*")}}) == {entity: None}
    answer = alter_configs(connection, {entity: {LISTS[0]: ConfigEdit(APPEND, "0:1")}})[entity]
    assert answer is not None
    assert f"refused ({answer.code})" == seen("entry_added_to_a_star")


def test_long_list(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    value = "0:1" + ",1:2" * (MOST_VALUE_BYTES // 4 + 1)
    config = resource.AlterableConfig(name=LISTS[0], config_operation=int(SET), value=value)
    asked = resource(resource_type=2, resource_name=topic, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[asked], validate_only=False)
    with pytest.raises(UnknownOutcomeError, match="did not answer"):
        connection.change("alter configs", request, timeout_s=PATIENCE_S)
    assert read_own_configs(connection, [f"topics/{topic}"]) == {f"topics/{topic}": {}}
    assert seen("long_list") == "connection closed without an answer"


def elect(connection: KafkaConnection, partition: TopicPartition) -> int:
    """The error code of an election of one partition."""
    topic = ElectLeadersRequest.TopicPartitions(topic=partition.topic, partitions=[partition.partition])
    request = ElectLeadersRequest(election_type=0, topic_partitions=[topic], timeout_ms=30_000)
    answer = connection.change("elect leaders", request, timeout_s=PATIENCE_S)
    code: int = answer.replica_election_results[0].partition_result[0].error_code
    return code


def test_election_not_needed(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    before = shown(connection, partition)
    assert f"error {elect(connection, partition)}, nothing changes" == seen("election_not_needed")
    assert shown(connection, partition) == before


def topic_id(connection: KafkaConnection, topic: str) -> str:
    return read_metadata(connection, [topic]).topics[topic].topic_id or ""


def delete(connection: KafkaConnection, topic: str) -> None:
    assert delete_topics(connection, {topic: topic_id(connection, topic)}) == {topic: None}
    wait_until(lambda: topic not in read_metadata(connection, [topic]).topics, PATIENCE_S)


def test_deletion_by_an_old_id(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    old = topic_id(connection, topic)
    delete(connection, topic)
    create_topic(connection, topic, {0: (2, 3)})
    answer = delete_topics(connection, {topic: old})[topic]
    assert answer is not None
    assert f"refused ({answer.code})" == seen("deletion_by_an_old_id")
    wait_assigned(connection, {TopicPartition(topic, 0): (2, 3)})


def producer(connection: KafkaConnection, **settings: Any) -> Any:  # noqa: ANN401 - kafka-python ships no types
    return closing(kafka.KafkaProducer(bootstrap_servers=list(connection.servers.addresses), acks="all", **settings))


def test_fence(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    with producer(connection, transactional_id=topic) as first, producer(connection, transactional_id=topic) as second:
        first.init_transactions()
        second.init_transactions()
        first.begin_transaction()
        with pytest.raises(ProducerFencedError) as refused:
            first.send(topic, b"x", partition=0).get(PATIENCE_S)
    assert seen("fence") == f"the first one's next record is refused ({refused.value.errno})"


def test_cordoned_log_directories(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    key = "cordoned.log.dirs"
    alter_configs(connection, {"brokers/4": {key: ConfigEdit(SET, "*")}}, broker_id=4)
    try:
        answer = None
        refused = seen("cordoned_log_directories") != "not known"

        def taken() -> bool:
            nonlocal answer
            answer = alter_reassignments(connection, {partition: (1, 4)})[partition]
            return answer is None

        if refused:
            wait_until(lambda: not taken(), PATIENCE_S)
        else:
            taken()
        found = "not known" if answer is None else f"refused ({answer.code})"
        assert found == seen("cordoned_log_directories")
        assert answer is None or "cordoned" in (answer.message or "")
    finally:
        alter_configs(connection, {"brokers/4": {key: ConfigEdit(DELETE)}}, broker_id=4)


@dataclass(frozen=True, slots=True)
class Without4:
    """Broker 4 is fenced; the topics were made before: `[4, 1]` with a minimum ISR of 2, and `[1, 4]`."""

    strict: TopicPartition
    doomed: TopicPartition


@pytest.fixture(scope="module")
def without_4(kraft: Sandbox) -> Iterator[Without4]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        strict, doomed = (TopicPartition(make_topic(connection, {0: each}), 0) for each in ((4, 1), (1, 4)))
        entity = f"topics/{strict.topic}"
        edit = {entity: {"min.insync.replicas": ConfigEdit(SET, "2")}}
        assert alter_configs(connection, edit) == {entity: None}
    kraft.stop_broker(4)
    yield Without4(strict, doomed)
    kraft.start_broker(4)


@pytest.mark.usefixtures("without_4")
def test_fenced_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    move(connection, partition, (1, 4))
    assert stays(lambda: in_flight(connection, partition) is not None, 1)
    assert seen("fenced_target") == "accepted, in flight"
    take_back(connection, partition, (1, 2))
    wait_assigned(connection, {partition: (1, 2)})


@pytest.mark.usefixtures("without_4")
def test_fenced_broker(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    listed = read_metadata(connection, ()).brokers
    assert 4 not in listed or not listed[4].alive
    assert ("listed as fenced" if 4 in listed else "not listed") == seen("fenced_broker")


def topic_without_4(connection: KafkaConnection, replicas: Replicas) -> TopicPartition:
    """A partition that has broker 4 among its replicas, and not in its ISR."""
    partition = TopicPartition(f"without-4-{'-'.join(map(str, replicas))}", 0)
    create_topic(connection, partition.topic, {0: replicas})
    wait_until(lambda: partition in read_metadata(connection, [partition.topic]).partitions, PATIENCE_S)
    return partition


@pytest.mark.usefixtures("without_4")
def test_kept_broker_is_dead(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = topic_without_4(connection, (1, 4))
    ends = seen("kept_broker_is_dead") == "ends with ISR [C]"
    move(connection, partition, (3, 4))
    assert stays(lambda: in_flight(connection, partition) is not None, 5, foreseen=not ends) is not ends
    if ends:
        wait_until(lambda: shown(connection, partition).replicas == (3, 4), PATIENCE_S)
        assert shown(connection, partition).isr == (3,)
    else:
        take_back(connection, partition, (1, 4))


@pytest.mark.usefixtures("without_4")
def test_election_without_the_preferred(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = topic_without_4(connection, (4, 3))
    assert f"refused ({elect(connection, partition)}), leader kept" == seen("election_without_the_preferred")
    assert shown(connection, partition).leader == 3


def test_eligible_leaders(connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]) -> None:
    request = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequest.TopicRequest(name=without_4.strict.topic)],
        response_partition_limit=10,
        cursor=None,
    )

    def told() -> list[int]:
        try:
            answer = connection.ask("describe partitions", request)
        except NotCompletedError:
            return []
        return list(answer.topics[0].partitions[0].eligible_leader_replicas or ())

    known = seen("eligible_leaders") != "not known"
    if known:
        wait_until(lambda: told() == [4], PATIENCE_S)
    assert told() == ([4] if known else [])


def test_below_min_isr(connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]) -> None:
    wait_until(lambda: shown(connection, without_4.strict).isr == (1,), PATIENCE_S)
    with producer(connection, retries=0) as strict, pytest.raises(NotEnoughReplicasError) as refused:
        strict.send(without_4.strict.topic, b"x", partition=0).get(PATIENCE_S)
    assert f"refused ({refused.value.errno})" == seen("below_min_isr")


def test_deletion_without_a_broker(
    kraft: Sandbox, connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    """The last one: the broker comes back."""
    topic, data = without_4.doomed.topic, kraft.spec.directory / "broker-4" / "data"
    delete(connection, topic)
    kraft.start_broker(4)
    wait_until(lambda: any(each.name.startswith(f"{topic}-0.") for each in data.glob("*-stray")), PATIENCE_S)
    assert seen("deletion_without_a_broker") == "deleted at once; its folder there ends in `-stray`"
