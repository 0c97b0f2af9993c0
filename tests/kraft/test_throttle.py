"""Throttles through the command line, on a live cluster in KRaft mode: set, changed, seen, and off
at the end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import wait_until
from support.stores import ignore

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError
from kadmin.operations.context import Clock
from kadmin.operations.record.holder import Lease
from kadmin.operations.store import OperationStore
from kadmin.plan.throttle import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    MAY_RETURN,
    RATES,
    THROTTLE_KEYS,
)
from kadmin.schema import validate_value
from kadmin.worlds.kafka.configs import EntityConfigs
from kadmin.worlds.kafka.values.read_only import ReadOnlyValues
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

BROKER_4 = ConfigEntity.of_broker(4)
SLOW = {"rate": "1B/s"}
"""Holds a copy in flight for as long as it is set: one batch of records per quota window of 11
seconds."""


def throttles(cluster: KraftCluster, topic: str) -> dict[str, dict[str, str]]:
    """Return the throttle values of a topic, of the live brokers and of the default of all
    brokers.
    """
    shown = json.loads(cluster.kadmin("throttle", "show", "-o", "json").out)
    assert validate_value(shown, "answers/throttle-show") == []
    found = {each["entity"]: each["values"] for each in shown["throttles"]}
    return {
        entity: values
        for entity, values in found.items()
        if entity.startswith(("brokers", f"topics/{topic}"))
    }


def wait_for_own(
    cluster: KraftCluster, entity: ConfigEntity, values: dict[str, str], broker_id: int
) -> None:
    wait_until(
        lambda: (
            read_own_configs(cluster.connection, [entity], keys=THROTTLE_KEYS, broker_id=broker_id)[
                entity
            ]
            == values
        ),
        30,
    )


def filled_topic(cluster: KraftCluster, replicas: dict[int, tuple[int, ...]]) -> str:
    topic = make_topic(cluster.connection, replicas)
    for number in replicas:
        # Brokers take a throttle up a moment after it is set: so much is not copied in a moment.
        produce(cluster.connection.servers, {TopicPartition(topic, number): [b"x" * 900_000] * 40})
    return topic


@pytest.mark.live
def test_a_throttle_is_on_during_the_copies_and_gone_at_the_end(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """A list that another client began keeps its entries; one that was not there is not there
    again.
    """
    topic = make_topic(cluster.connection, {0: (1, 2), 1: (2, 1)})
    entity, theirs = ConfigEntity.of_topic(topic), "7:7"
    alter_configs(
        cluster.connection, {entity: {LEADER_REPLICAS: ConfigEdit(ConfigOperation.APPEND, theirs)}}
    )
    wait_for_own(cluster, entity, {LEADER_REPLICAS: theirs}, 1)
    plan = document(
        tmp_path / "plan.yaml",
        reassignment(topic, {0: [1, 3], 1: [1, 2]}, throttle={"rate": "37MB/s"}),
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "throttled at 37.0 MB/s on 3 brokers and 1 topic" in applied.err
    assert "the throttle is removed from 3 brokers and 1 topic" in applied.err
    assert throttles(cluster, topic) == {str(entity): {LEADER_REPLICAS: theirs}}
    audited = json.loads(cluster.kadmin("throttle", "audit", "-o", "json").out)
    assert [each["origin"] for each in audited["findings"] if each["entity"] == str(entity)] == [
        "not on record"
    ]
    assert (
        cluster.kadmin("throttle", "set", "--broker", "3", "--rate", "37MB/s", "--yes").status == 0
    )
    audited = json.loads(cluster.kadmin("throttle", "audit", "-o", "json").out)
    assert {each["origin"] for each in audited["findings"] if each["entity"] == "brokers/3"} == {
        "not on record"
    }
    cleared = cluster.kadmin("throttle", "clear", "--topic", topic, "--broker", "3", "--yes")
    assert cleared.status == 0, cleared.err
    assert throttles(cluster, topic) == {}


@pytest.mark.live
def test_throttles_by_hand_on_topics_brokers_and_the_default_of_all(cluster: KraftCluster) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    whole = cluster.kadmin(
        "throttle", "set", "--topic", topic, "--rate", "5MB/s", "--yes", "-o", "json"
    )
    assert whole.status == 0, whole.err
    assert validate_value(json.loads(whole.out), "answers/throttle-set") == []
    rates = dict.fromkeys(RATES, "5000000")
    lists = {LEADER_REPLICAS: "*", FOLLOWER_REPLICAS: "*"}
    assert throttles(cluster, topic) == {
        f"topics/{topic}": lists,
        "brokers/1": rates,
        "brokers/2": rates,
    }
    alter_configs(
        cluster.connection, {DEFAULT_ENTITY: {RATES[0]: ConfigEdit(ConfigOperation.SET, "9000000")}}
    )
    wait_for_own(cluster, DEFAULT_ENTITY, {RATES[0]: "9000000"}, 1)
    shown = throttles(cluster, topic)
    assert shown[str(DEFAULT_ENTITY)] == {RATES[0]: "9000000"}
    assert shown["brokers/1"] == rates, "a broker's own values are told from the default"
    assert "brokers/3" not in shown
    cleared = cluster.kadmin("throttle", "clear", "--yes", "-o", "json")
    assert cleared.status == 0, cleared.err
    assert validate_value(json.loads(cleared.out), "answers/throttle-clear") == []
    assert throttles(cluster, topic) == {}


@pytest.mark.live
def test_what_is_no_throttle_is_never_written(cluster: KraftCluster) -> None:
    """The store refuses every confirmation of the lock, which comes before each write."""
    entity = ConfigEntity.of_topic(make_topic(cluster.connection, {0: (1, 2)}))
    configs = EntityConfigs(cluster.connection, OperationStore(ReadOnlyValues(), ignore), Clock())
    with pytest.raises(NotCompletedError, match=rf"retention.ms of {entity} is no throttle"):
        configs.change([entity], lambda _: {entity: {"retention.ms": "1000"}}, Lease(1, 1))
    with pytest.raises(NotCompletedError, match=rf"retention.ms of {entity} is no throttle"):
        configs.overwrite({entity: {"retention.ms": "1000"}}, Lease(1, 1))


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_a_deadline_leaves_it_while_copies_run_and_resume_takes_it_off(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """What another client takes away meanwhile is set again; what it adds to a list stays."""
    topic = filled_topic(cluster, {0: (1, 2)})
    entity, theirs = ConfigEntity.of_topic(topic), "9:9"
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 4]}, throttle=SLOW))
    late = cluster.kadmin("apply", plan, "--yes", "--timeout", "15")
    assert late.status == 8, late.err
    assert f"the throttle remains: {topic}-0 in flight" in late.err
    during = throttles(cluster, topic)
    assert during[str(entity)] == {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: "0:4"}
    assert all(during[f"brokers/{broker}"] == dict.fromkeys(RATES, "1") for broker in (1, 2, 4))
    append = {FOLLOWER_REPLICAS: ConfigEdit(ConfigOperation.APPEND, theirs)}
    alter_configs(cluster.connection, {entity: append})
    alter_configs(
        cluster.connection, {BROKER_4: {RATES[1]: ConfigEdit(ConfigOperation.DELETE)}}, broker_id=4
    )
    wait_for_own(cluster, BROKER_4, {RATES[0]: "1"}, 4)
    again = cluster.kadmin("resume", "--yes", "--timeout", "15")
    assert again.status == 8, again.err
    assert throttles(cluster, topic)["brokers/4"] == dict.fromkeys(RATES, "1"), "set again"
    changed = cluster.kadmin("throttle", "set", "--rate", "80MB/s", "--yes")
    assert changed.status == 0, changed.err
    resumed = cluster.kadmin("resume", "--yes", "--timeout", "90")
    assert resumed.status == 0, resumed.err
    assert throttles(cluster, topic) == {str(entity): {FOLLOWER_REPLICAS: theirs}}
    wait_assigned(cluster.connection, {TopicPartition(topic, 0): (2, 4)})
    assert cluster.kadmin("throttle", "clear", "--topic", topic, "--yes").status == 0


@pytest.mark.matrix
def test_k18_the_rate_of_a_broker_that_died_is_taken_off_at_the_controller(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """Its own configs can be read nowhere while it is away; when it is back it has none."""
    topic = filled_topic(cluster, {0: (1, 2, 4)})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [1, 2, 3]}, throttle=SLOW))
    late = cluster.kadmin("apply", plan, "--yes", "--timeout", "15")
    assert late.status == 8, late.err
    assert throttles(cluster, topic)["brokers/4"] == dict.fromkeys(RATES, "1")
    cluster.sandbox.stop_broker(4)
    try:
        shown = cluster.kadmin("throttle", "show")
        assert (
            "these brokers do not answer, so their throttles are not known: brokers/4" in shown.err
        )
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert (
            "brokers/4 does not answer: the controller keeps its previous values" in cancelled.err
        )
        wait_until(lambda: not list_reassignments(cluster.connection), 60)
    finally:
        cluster.sandbox.start_broker(4)
    wait_for_own(cluster, BROKER_4, {}, 4)
    assert throttles(cluster, topic) == {}


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_the_rate_of_a_dead_broker_that_no_controller_takes_off_is_told_and_cleared_later(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers before 3.9 do not tell where the controllers listen, and elsewhere a firewall may be
    in the way.
    """

    def unknown(_: KafkaConnection) -> int:
        raise NotCompletedError("The brokers do not report the address of controller 101.")

    monkeypatch.setattr("kadmin.worlds.kafka.configs.reach_controller", unknown)
    topic = filled_topic(cluster, {0: (1, 2, 4)})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [4, 2, 3]}, throttle=SLOW))
    late = cluster.kadmin("apply", plan, "--yes", "--timeout", "15")
    assert late.status == 8, late.err
    cluster.sandbox.stop_broker(4)
    try:
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 8, cancelled.err
        assert "The throttle remains on brokers/4" in cancelled.err
        assert "kadmin throttle clear --broker 4" in cancelled.err
        listed = cluster.history()[-1]
        assert listed["state"] == "cancelled"
        assert listed["message"].endswith("The throttle remains on brokers/4.")
    finally:
        cluster.sandbox.start_broker(4)
    wait_for_own(cluster, BROKER_4, dict.fromkeys(RATES, "1"), 4)
    audited = json.loads(cluster.kadmin("throttle", "audit", "-o", "json").out)["findings"]
    assert {each["origin"] for each in audited if each["entity"] == "brokers/4"} == {"left over"}
    cleared = cluster.kadmin("throttle", "clear", "--broker", "4", "--yes")
    assert cleared.status == 0, cleared.err
    assert MAY_RETURN in cleared.out
    assert throttles(cluster, topic) == {}


@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_k18_a_throttle_of_a_dead_broker_is_cleared_at_the_controller_or_the_command_fails(
    cluster: KraftCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: KafkaConnection) -> int:
        raise NotCompletedError("The brokers do not report the address of controller 101.")

    assert (
        cluster.kadmin("throttle", "set", "--broker", "4", "--rate", "5MB/s", "--yes").status == 0
    )
    wait_for_own(cluster, BROKER_4, dict.fromkeys(RATES, "5000000"), 4)
    cluster.sandbox.stop_broker(4)
    try:
        with monkeypatch.context() as patched:
            patched.setattr("kadmin.worlds.kafka.configs.reach_controller", unknown)
            failed = cluster.kadmin("throttle", "clear", "--broker", "4", "--yes")
            assert failed.status == 8, failed.err
            assert "The throttle may remain on brokers/4" in failed.err
            assert "kadmin throttle clear --broker 4" in failed.err
        cleared = cluster.kadmin("throttle", "clear", "--broker", "4", "--yes")
        assert cleared.status == 0, cleared.err
        assert "(not known)" in cleared.out
    finally:
        cluster.sandbox.start_broker(4)
    wait_for_own(cluster, BROKER_4, {}, 4)
