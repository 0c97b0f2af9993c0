"""Cordons and registrations of brokers by the command line, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.live.doctor import examine
from support.live.kraft import KraftCluster, make_topic, set_configs
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.servers import Servers
from kadmin.plan.cordon import CORDON
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

pytestmark = pytest.mark.live

BROKER = ConfigEntity.of_broker(2)
FIRST_WITH_CORDONS = (4, 3)


@pytest.fixture(scope="module")
def pair(kraft: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A cluster of the same version with brokers 1 and 2."""
    folder = tmp_path_factory.mktemp("pair") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, kraft.spec.version, brokers=2, mode="kraft"))
    yield sandbox
    sandbox.down()


@pytest.fixture
def cluster(pair: Sandbox, tmp_path: Path) -> Iterator[KraftCluster]:
    """The cluster, with the record in a folder: no topic of it is on a broker."""
    with KafkaConnection(Servers(pair.bootstrap)) as connection:
        yield KraftCluster(pair, connection, tmp_path / "records")


@pytest.fixture
def cordons(cluster: KraftCluster) -> KraftCluster:
    version = tuple(map(int, cluster.sandbox.spec.version.split(".")))[:2]
    if version < FIRST_WITH_CORDONS:
        refused = cluster.kadmin("broker", "cordon", "2", "--yes")
        assert refused.status == 8
        assert "before 4.3" in refused.err
        assert "propose demotion --broker 2" in refused.err
        pytest.skip("this version has no cordons")
    return cluster


def asked(cluster: KraftCluster, verb: str) -> dict[str, Any]:
    done = cluster.kadmin("broker", verb, "2", "--yes", "-o", "json")
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


def test_only_a_broker_that_is_dead_and_in_no_list_is_unregistered(cluster: KraftCluster) -> None:
    alive = cluster.kadmin("broker", "unregister", "2", "--yes")
    assert (alive.status, "Broker 2 is alive" in alive.err) == (8, True)
    topic = make_topic(cluster.connection, {0: (1, 2)})
    grown = cluster.sandbox.add_broker()
    (added,) = grown.broker_ports.keys() - cluster.sandbox.broker_ports.keys()
    grown.stop_broker(added)
    grown.stop_broker(2)
    try:
        listed = unregistered(cluster, 2)
        assert (listed.status, f"{topic}-0" in listed.err) == (8, True), listed.err
        gone = unregistered(cluster, added)
        assert gone.status == 0, gone.err
        assert added not in read_metadata(cluster.connection, ()).brokers
        again = cluster.kadmin("broker", "unregister", str(added), "--yes")
        assert again.status in {4, 8}, again.err
    finally:
        grown.start_broker(2)
