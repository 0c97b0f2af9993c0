"""Dynamic configs through the brokers of a live cluster in KRaft mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.errors import NotCompletedError
from kadmin.worlds.kafka.wire.configs import (
    MOST_VALUE_BYTES,
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

BROKER_2 = ConfigEntity.of_broker(2)
pytestmark = pytest.mark.live

LEADERS, FOLLOWERS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
RATE = "leader.replication.throttled.rate"


def put(value: str) -> ConfigEdit:
    return ConfigEdit(ConfigOperation.SET, value)


DELETE = ConfigEdit(ConfigOperation.DELETE)


def wait_shown(
    connection: KafkaConnection,
    entity: ConfigEntity,
    own: Mapping[str, str],
    broker_id: int | None = None,
) -> None:
    wait_until(
        lambda: (
            read_own_configs(
                connection, [entity], keys=(LEADERS, FOLLOWERS, RATE), broker_id=broker_id
            )[entity]
            == own
        ),
        30,
    )


def test_lists_are_joined_and_reduced_by_entries(connection: KafkaConnection) -> None:
    """What another client added stays; the last entry subtracted leaves an empty value, and * takes
    no entries.
    """
    entity = ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)}))

    def edit(operation: ConfigOperation, value: str | None) -> str | None:
        answer = alter_configs(
            connection, {entity: {LEADERS: ConfigEdit(operation, value)}}, broker_id=1
        )[entity]
        return None if answer is None else answer.name

    assert edit(ConfigOperation.APPEND, "0:1,0:2") is None
    assert edit(ConfigOperation.APPEND, "0:2,0:9") is None
    wait_shown(connection, entity, {LEADERS: "0:1,0:2,0:9"}, 1)
    assert edit(ConfigOperation.SUBTRACT, "0:1,0:2,7:7") is None
    wait_shown(connection, entity, {LEADERS: "0:9"}, 1)
    assert edit(ConfigOperation.SUBTRACT, "0:9") is None
    wait_shown(connection, entity, {LEADERS: ""}, 1)
    assert edit(ConfigOperation.DELETE, None) is None
    wait_shown(connection, entity, {}, 1)
    assert edit(ConfigOperation.SET, "*") is None
    assert edit(ConfigOperation.APPEND, "0:1") == "INVALID_CONFIG"
    wait_shown(connection, entity, {LEADERS: "*"}, 1)


def test_the_own_value_of_a_broker_is_told_from_the_default_of_all(
    connection: KafkaConnection,
) -> None:
    assert alter_configs(connection, {DEFAULT_ENTITY: {RATE: put("7000000")}}) == {
        DEFAULT_ENTITY: None
    }
    assert alter_configs(connection, {BROKER_2: {RATE: put("5000000")}}, broker_id=2) == {
        BROKER_2: None
    }
    elsewhere = alter_configs(connection, {BROKER_2: {RATE: put("1")}}, broker_id=1)[BROKER_2]
    assert elsewhere is not None
    assert "expected 1" in (elsewhere.message or ""), "a broker's own configs take that broker"
    wait_shown(connection, BROKER_2, {RATE: "5000000"}, 2)
    wait_shown(connection, DEFAULT_ENTITY, {RATE: "7000000"}, 1)
    wait_shown(connection, ConfigEntity.of_broker(1), {}, 1)
    alter_configs(connection, {DEFAULT_ENTITY: {RATE: DELETE}})
    alter_configs(connection, {BROKER_2: {RATE: DELETE}}, broker_id=2)
    wait_shown(connection, BROKER_2, {}, 2)
    wait_shown(connection, DEFAULT_ENTITY, {}, 2)


def test_entities_are_independent_and_one_entity_changes_whole_or_not_at_all(
    connection: KafkaConnection,
) -> None:
    good, bad = (ConfigEntity.of_topic(make_topic(connection, {0: (1,)})) for _ in range(2))
    absent = ConfigEntity.of_topic("no-such-topic")
    answers = alter_configs(
        connection,
        {
            good: {LEADERS: put("0:1")},
            bad: {LEADERS: put("0:1"), FOLLOWERS: put("none")},
            absent: {LEADERS: put("*")},
        },
    )
    assert {entity: answer and answer.name for entity, answer in answers.items()} == {
        good: None,
        bad: "INVALID_CONFIG",
        absent: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    wait_shown(connection, good, {LEADERS: "0:1"})
    assert read_own_configs(connection, [bad, absent], keys=[LEADERS]) == {bad: {}, absent: {}}


def test_k18_a_value_that_brokers_would_not_take_is_not_sent(connection: KafkaConnection) -> None:
    """They close the connection without an answer at a longer one; the longest value is taken."""
    entity = ConfigEntity.of_topic(make_topic(connection, {0: (1,)}))
    entries = ",".join(f"{number}:1" for number in range(10_000))
    longest = entries[:MOST_VALUE_BYTES].rpartition(",")[0]
    with pytest.raises(NotCompletedError, match="at most 32767"):
        alter_configs(connection, {entity: {LEADERS: put(entries)}})
    assert alter_configs(connection, {entity: {LEADERS: put(longest)}}) == {entity: None}
    wait_shown(connection, entity, {LEADERS: longest})
