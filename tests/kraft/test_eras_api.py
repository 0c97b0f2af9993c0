"""Claims of KRAFT_CLAIMS on configs, elections, deletions and transactions, on brokers of every
version under test.

Those on reassignments, and those where a broker is away, are in the files beside this one.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.errors import ProducerFencedError
from kafka.protocol.admin import DeleteTopicsRequest, IncrementalAlterConfigsRequest
from kafka.protocol.metadata import MetadataRequest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.commits import wait_for_a_lone_log_end
from support.eras.kraft import (
    ALL_BROKERS,
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
    change_config,
    config_code,
    creation,
    delete,
    elect,
    shown,
    topic_id,
)
from support.live.kraft import THROTTLED_RATES, make_topic, wait_assigned
from support.live.kraft import THROTTLED_REPLICAS as LISTS
from support.live.waiting import PATIENCE_S, wait_until

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import UnknownOutcomeError
from kadmin.worlds.kafka.wire.configs import (
    MOST_VALUE_BYTES,
    ConfigEdit,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]

RATE = THROTTLED_RATES[0]


def test_controller_in_metadata(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    named = {connection.ask("list the brokers", request).controller_id for _ in range(40)}
    assert len(named) > 1
    assert named <= kraft.broker_ports.keys()
    assert seen("controller_in_metadata") == "any live broker"


def test_rate_through_another_broker(
    connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    answer = change_config(connection, ConfigEntity.of_broker(2), RATE, ConfigEdit(SET, "1000"), 1)
    assert answer is not None
    assert f"refused ({answer.code})" == seen("rate_through_another_broker")


def test_rate_through_a_controller(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    """A value is read back at the broker; deleting a value that is not there is accepted."""
    active = describe_quorum(connection).leader_id
    for controller_id, port in kraft.controller_ports.items():
        connection.add_node(controller_id, "127.0.0.1", port)
    other = min(each for each in kraft.controller_ports if each != active)
    codes = [
        config_code(
            connection,
            ConfigEntity.of_broker(broker_id),
            RATE,
            ConfigEdit(SET, "1000"),
            controller_id,
        )
        for broker_id, controller_id in ((2, active), (2, other), (99, active))
    ]
    wait_until(lambda: own(connection, ConfigEntity.of_broker(2), 2) == "1000")
    for _ in range(2):
        assert (
            change_config(connection, ConfigEntity.of_broker(2), RATE, ConfigEdit(DELETE), active)
            is None
        )
    assert seen("rate_through_a_controller") == (
        "active: {}; another one: {}; a broker that is not registered: {}".format(*codes)
    )


def own(connection: KafkaConnection, entity: ConfigEntity, broker_id: int) -> str | None:
    return read_own_configs(connection, [entity], broker_id=broker_id)[entity].get(RATE)


def test_rate_of_all_brokers(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    def set_rate(entity: ConfigEntity, edit: ConfigEdit, broker_id: int | None = None) -> None:
        assert alter_configs(connection, {entity: {RATE: edit}}, broker_id=broker_id) == {
            entity: None
        }

    set_rate(DEFAULT_ENTITY, ConfigEdit(SET, "111"))
    set_rate(ConfigEntity.of_broker(2), ConfigEdit(SET, "222"), 2)
    wait_until(
        lambda: [own(connection, DEFAULT_ENTITY, each) for each in ALL_BROKERS] == ["111"] * 4
    )
    wait_until(lambda: own(connection, ConfigEntity.of_broker(2), 2) == "222")
    assert own(connection, ConfigEntity.of_broker(1), 1) is None
    set_rate(DEFAULT_ENTITY, ConfigEdit(DELETE))
    set_rate(ConfigEntity.of_broker(2), ConfigEdit(DELETE), 2)
    assert seen("rate_of_all_brokers") == "told apart from a broker's own"


WRONG_RATES = {
    "a word": ConfigEdit(SET, "x"),
    "-1": ConfigEdit(SET, "-1"),
    "null": ConfigEdit(SET, None),
    "APPEND": ConfigEdit(APPEND, "1"),
}


def test_wrong_rate(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    codes = {
        what: config_code(connection, DEFAULT_ENTITY, RATE, edit)
        for what, edit in WRONG_RATES.items()
    }
    assert own(connection, DEFAULT_ENTITY, 1) is None
    assert {codes.pop(each) for each in ("a word", "-1", "null")} == {42}
    assert f"refused (42); APPEND: {codes['APPEND']}" == seen("wrong_rate")


def test_good_and_bad_configs(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """Of two topics in one request, one has a good key and a bad one."""
    good, bad = (ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)})) for _ in range(2))
    edits = {
        good: {LISTS[0]: ConfigEdit(SET, "*")},
        bad: {LISTS[0]: ConfigEdit(SET, "*"), LISTS[1]: ConfigEdit(SET, "none")},
    }
    answers = alter_configs(connection, edits)
    assert answers[good] is None
    assert answers[bad] is not None
    wait_until(lambda: read_own_configs(connection, [good])[good] == {LISTS[0]: "*"})
    assert read_own_configs(connection, [bad]) == {bad: {}}
    assert (
        seen("good_and_bad_configs")
        == "entities are independent; one entity is changed as a whole or not at all"
    )


def test_minimum_isr(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    key, edits = "min.insync.replicas", (ConfigEdit(SET, "1"), ConfigEdit(DELETE))
    answers = [
        change_config(connection, entity, key, edit, broker_id)
        for entity, broker_id in ((DEFAULT_ENTITY, None), (ConfigEntity.of_broker(2), 2))
        for edit in edits
    ]
    codes = [0 if each is None else each.code for each in answers]
    if codes == [0, 40, 40, 40]:
        assert "ELR is enabled" in str(answers[1])
        assert seen("minimum_isr") == "cannot be deleted (40); a broker has none of its own (40)"
    else:
        assert codes == [0, 0, 0, 0]
        assert seen("minimum_isr") == "accepted"


def test_last_entry_subtracted(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """Each request is sent twice: the second one is accepted and changes nothing."""
    entity = ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)}))
    for operation, value in ((APPEND, "0:1"), (APPEND, "0:1"), (SUBTRACT, ""), (SUBTRACT, "")):
        assert alter_configs(connection, {entity: {LISTS[0]: ConfigEdit(operation, "0:1")}}) == {
            entity: None
        }
        wait_until(
            lambda value=value: read_own_configs(connection, [entity])[entity] == {LISTS[0]: value},  # type: ignore[misc]
            PATIENCE_S,
        )
    assert seen("last_entry_subtracted") == "an empty list stays"


def test_entry_added_to_a_star(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    entity = ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)}))
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
    assert read_own_configs(connection, [ConfigEntity.of_topic(topic)]) == {
        ConfigEntity.of_topic(topic): {}
    }
    assert seen("long_list") == "connection closed without an answer"


def test_election_not_needed(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    before = shown(connection, partition)
    assert f"error {elect(connection, partition)}, nothing changes" == seen("election_not_needed")
    assert shown(connection, partition) == before


def test_election_refused(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    known = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    unknown = TopicPartition(known.topic, 1)
    codes = elect(connection, unknown), elect(connection, known, timeout_ms=0)
    assert seen("election_refused") == "error {} for an unknown partition; {} without time".format(
        *codes
    )


def test_deletion_by_an_old_id(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    old = topic_id(connection, topic)
    delete(connection, topic)
    create_topic(connection, topic, {0: (2, 3)})
    answer = delete_topics(connection, {topic: old})[topic]
    assert answer is not None
    assert f"refused ({answer.code})" == seen("deletion_by_an_old_id")
    wait_assigned(connection, {TopicPartition(topic, 0): (2, 3)})


def test_deletion_named_twice(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    """Once, the name is enough."""
    topic = make_topic(connection, {0: (1, 2)})

    def ask(times: int) -> list[int]:
        names = [DeleteTopicsRequest.DeleteTopicState(name=topic)] * times
        request = DeleteTopicsRequest(topics=names, timeout_ms=30_000, min_version=6)
        answer = connection.change("delete topics", request, timeout_s=PATIENCE_S)
        return [each.error_code for each in answer.responses]

    (code,) = set(ask(2))
    assert topic in read_metadata(connection, [topic]).topics
    assert ask(1) == [0]
    assert f"refused ({code})" == seen("deletion_named_twice")


def test_too_many_partitions(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    code = creation(connection, "too-many-partitions", {}, 10_001)
    assert f"refused ({code})" == seen("too_many_partitions")
    assert read_metadata(connection, ["too-many-partitions"]).topics == {}


def producer(connection: KafkaConnection, **settings: Any) -> Any:  # noqa: ANN401 - kafka-python ships no types
    return closing(
        kafka.KafkaProducer(
            bootstrap_servers=list(connection.servers.addresses), acks="all", **settings
        )
    )


def test_fence(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    with (
        producer(connection, transactional_id=topic) as first,
        producer(connection, transactional_id=topic) as second,
    ):
        first.init_transactions()
        second.init_transactions()
        first.begin_transaction()
        with pytest.raises(ProducerFencedError) as refused:
            first.send(topic, b"x", partition=0).get(PATIENCE_S)
    assert seen("fence") == f"the first one's next record is refused ({refused.value.errno})"


def test_log_end_beside_high_watermark(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    wait_for_a_lone_log_end(kraft, partition)
    assert seen("log_end_beside_high_watermark") == "counted by -2 alone"
