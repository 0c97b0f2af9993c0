"""Cordons and registrations of brokers by the command line, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from support.live.doctor import examine
from support.live.kraft import KraftCluster, make_topic, set_configs, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.plan.cordon import CORDON
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

pytestmark = [pytest.mark.live, pytest.mark.eras]

BROKER = ConfigEntity.of_broker(2)
FIRST_WITH_CORDONS = (4, 3)


@pytest.fixture(scope="module")
def pair(kraft: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A cluster of the same version with brokers 1 and 2, and a topic on both."""
    folder = tmp_path_factory.mktemp("pair") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, kraft.spec.version, brokers=2, mode="kraft"))
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        make_topic(connection, {0: (1, 2)})
    yield sandbox
    sandbox.down()


@pytest.fixture
def cluster(pair: Sandbox, tmp_path: Path) -> Iterator[KraftCluster]:
    """The cluster, with the record in a folder: no topic of it is on a broker."""
    with KafkaConnection(Servers(pair.bootstrap)) as connection:
        yield KraftCluster(pair, connection, tmp_path / "records")


@dataclass(frozen=True, slots=True)
class Added:
    """One more broker of the cluster."""

    sandbox: Sandbox
    broker_id: int


@pytest.fixture
def added(pair: Sandbox) -> Iterator[Added]:
    grown = pair.add_broker()
    (broker_id,) = grown.broker_ports.keys() - pair.broker_ports.keys()
    yield Added(grown, broker_id)
    grown.stop_broker(broker_id)
    shutil.rmtree(grown.server("broker", broker_id).folder)
    pair.save()


@pytest.fixture
def cordons(cluster: KraftCluster) -> KraftCluster:
    version = tuple(map(int, cluster.sandbox.spec.version.split(".")))[:2]
    if version < FIRST_WITH_CORDONS:
        refused = cluster.kadmin("broker", "cordon", "2", "--yes")
        assert refused.status == 8
        assert "before 4.3" in refused.err
        assert "propose decommission --broker 2" in refused.err
        pytest.skip("this version has no cordons")
    return cluster


def asked(cluster: KraftCluster, verb: str, broker_id: int = 2) -> dict[str, Any]:
    done = cluster.kadmin("broker", verb, str(broker_id), "--yes", "-o", "json")
    assert done.status == 0, done.err
    answer: dict[str, Any] = json.loads(done.out)
    assert validate_value(answer, "answers/broker-cordon") == []
    return answer


def own(cluster: KraftCluster) -> str | None:
    return read_own_configs(cluster.connection, [BROKER], keys=[CORDON], broker_id=2)[BROKER].get(
        CORDON
    )


@pytest.mark.parametrize("before", [None, "a directory"])
def test_a_cordon_is_on_record_and_taken_off_to_the_value_before(
    cordons: KraftCluster, before: str | None
) -> None:
    value = before and str(cordons.sandbox.server("broker", 2).data)
    if value is not None:
        set_configs(cordons.connection, BROKER, [CORDON], value, 2)
    cordoned = asked(cordons, "cordon")
    assert (cordoned["cordoned"], cordoned["before"], own(cordons)) == (True, value, "*")
    assert not asked(cordons, "cordon")["changed"]
    found = examine(cordons)["cordoned-broker"]
    assert found["evidence"][0] == "cordoned.log.dirs: *"
    assert found["evidence"][1].startswith("by kadmin, by ")
    assert found["evidence"][2].startswith(f"{cordons.sandbox.server('broker', 2).data}: ")
    assert "kadmin broker uncordon 2" in found["remedy"]

    uncordoned = asked(cordons, "uncordon")
    assert (uncordoned["cordoned"], uncordoned["after"], own(cordons)) == (False, value, value)
    assert uncordoned["record"] is None
    if value is not None:
        set_configs(cordons.connection, BROKER, [CORDON], None, 2)
    assert not asked(cordons, "uncordon")["changed"]
    assert "cordoned-broker" not in examine(cordons)


def test_a_cordon_by_another_tool_is_named_and_taken_off(cordons: KraftCluster) -> None:
    set_configs(cordons.connection, BROKER, [CORDON], "*", 2)
    assert examine(cordons)["cordoned-broker"]["evidence"][1] == "not by kadmin"
    assert "not by kadmin" in cordons.kadmin("broker", "cordon", "2", "--yes").out
    assert asked(cordons, "uncordon")["cordoned"] is False
    assert own(cordons) is None


def test_a_broker_that_is_down_is_uncordoned_at_the_controller_and_not_cordoned(
    cordons: KraftCluster,
) -> None:
    assert asked(cordons, "cordon")["cordoned"]
    cordons.sandbox.stop_broker(2)
    try:
        assert "not alive, and is cordoned" in examine(cordons)["cordoned-broker"]["message"]
        assert asked(cordons, "uncordon")["cordoned"] is None
        refused = cordons.kadmin("broker", "cordon", "2", "--yes")
        assert refused.status == 8
        assert "only the broker itself takes a cordon" in refused.err
    finally:
        cordons.sandbox.start_broker(2)
    assert own(cordons) is None


def test_a_cordon_survives_a_restart(cordons: KraftCluster) -> None:
    assert asked(cordons, "cordon")["cordoned"]
    cordons.sandbox.stop_broker(2)
    cordons.sandbox.start_broker(2)
    assert own(cordons) == "*"
    assert asked(cordons, "uncordon")["cordoned"] is False


def unregistered(cluster: KraftCluster, broker_id: int) -> Answer:
    """Unregister a broker that was stopped, once its process counts as ended."""
    answers: list[Answer] = []

    def ended() -> bool:
        answers.append(cluster.kadmin("broker", "unregister", str(broker_id), "--yes"))
        return "is alive" not in answers[-1].err

    wait_until(ended)
    return answers[-1]


@pytest.mark.matrix
def test_only_a_broker_that_is_dead_and_in_no_list_is_unregistered(
    cluster: KraftCluster, added: Added
) -> None:
    alive = cluster.kadmin("broker", "unregister", "2", "--yes")
    assert (alive.status, "Broker 2 is alive" in alive.err) == (8, True)
    topic = make_topic(cluster.connection, {0: (1, 2)})
    added.sandbox.stop_broker(added.broker_id)
    added.sandbox.stop_broker(2)
    try:
        listed = unregistered(cluster, 2)
        assert (listed.status, f"{topic}-0" in listed.err) == (8, True), listed.err
        found = examine(cluster)
        if read_metadata(cluster.connection, ()).fenced_known:
            assert f"broker unregister {added.broker_id} " in found["unused-registration"]["remedy"]
            assert "its process last fetched" in found["unused-registration"]["evidence"][0]
            assert found["fenced-broker"]["evidence"][0].startswith("broker 2: ")
        gone = unregistered(cluster, added.broker_id)
        assert gone.status == 0, gone.err
        assert added.broker_id not in read_metadata(cluster.connection, ()).brokers
        assert "unused-registration" not in examine(cluster)
        again = cluster.kadmin("broker", "unregister", str(added.broker_id), "--yes")
        assert again.status in {4, 8}, again.err
    finally:
        added.sandbox.start_broker(2)


@pytest.mark.matrix
def test_doctor_knows_a_broker_that_is_being_removed(cordons: KraftCluster, added: Added) -> None:
    broker_id = added.broker_id
    partition = TopicPartition(make_topic(cordons.connection, {0: (1, broker_id)}), 0)
    assert asked(cordons, "cordon", broker_id)["cordoned"]
    assert "cordoned-broker" in examine(cordons)
    assert alter_reassignments(cordons.connection, {partition: (1, 2)}) == {partition: None}
    wait_assigned(cordons.connection, {partition: (1, 2)})
    # The broker deletes its copy a moment later.
    wait_until(lambda: "drained-broker" in examine(cordons))
    found = examine(cordons)["drained-broker"]
    assert not found["stops_apply"]
    assert f"kadmin broker unregister {broker_id}" in found["remedy"]
    assert f"kadmin broker uncordon {broker_id}" in found["remedy"]
    assert found["evidence"][1].startswith("by kadmin, by ")
    assert found["evidence"][2].startswith(f"{cordons.sandbox.server('broker', 2).data}: ")

    added.sandbox.stop_broker(broker_id)
    wait_until(lambda: "unused-registration" in examine(cordons))
    gone = unregistered(cordons, broker_id)
    assert gone.status == 0, gone.err
    assert examine(cordons) == {}
