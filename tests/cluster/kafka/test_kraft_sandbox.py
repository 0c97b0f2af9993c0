"""A sandbox in KRaft mode: its servers stop, start and freeze, and brokers that are silent are left
for others.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.live.kraft import alive_brokers, make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import KadminError, UnreachableError
from kadmin.sandbox import Sandbox
from kadmin.sandbox.kraft_mode import is_up
from kadmin.sandbox.processes import free_ports
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.eras]


def test_status_shows_controllers_and_brokers(kraft: Sandbox) -> None:
    answer = command("sandbox", "status", "--dir", kraft.spec.directory, "-o", "json")
    assert answer.status == 0, answer.err
    value = json.loads(answer.out)
    assert (value["mode"], value["connect"], value["zookeepers"]) == ("kraft", None, [])
    assert [(each["controller_id"], each["alive"]) for each in value["controllers"]] == [
        (101, True),
        (102, True),
        (103, True),
    ]
    assert [(each["broker_id"], each["rack"], each["alive"]) for each in value["brokers"]] == [
        (1, "r1", True),
        (2, "r2", True),
        (3, "r3", True),
        (4, "r1", True),
    ]


def test_another_controller_takes_over_from_a_stopped_one(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    before = describe_quorum(connection)
    folder, leader = kraft.spec.directory, str(before.leader_id)
    assert command("sandbox", "stop-controller", leader, "--kill", "--dir", folder).status == 0
    try:
        assert not kraft.controllers[before.leader_id].alive

        def taken_over() -> bool:
            with suppress(KadminError):  # while there is no controller
                now = describe_quorum(connection)
                return (
                    now.leader_id not in {-1, before.leader_id}
                    and now.leader_epoch > before.leader_epoch
                )
            return False

        wait_until(taken_over, 60)
    finally:
        assert command("sandbox", "start-controller", leader, "--dir", folder).status == 0
    assert kraft.controllers[before.leader_id].alive
    assert command("sandbox", "stop-controller", "1", "--dir", folder).status == 3, "a broker's id"


@pytest.mark.matrix
def test_a_stopped_broker_is_no_longer_alive_for_the_others(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    kraft.stop_broker(2)
    try:
        assert alive_brokers(connection) == [1, 3, 4]
    finally:
        kraft.start_broker(2)
    assert alive_brokers(connection) == [1, 2, 3, 4]


@pytest.mark.matrix
def test_k04_a_frozen_broker_answers_nothing_and_another_one_is_asked(kraft: Sandbox) -> None:
    folder = kraft.spec.directory
    assert command("sandbox", "freeze", "3", "--dir", folder).status == 0
    try:
        started = time.monotonic()
        with pytest.raises(UnreachableError, match=str(kraft.broker_ports[3])):
            KafkaConnection(Servers(kraft.bootstrap[2:3]), bootstrap_s=1.0)
        with KafkaConnection(Servers(kraft.bootstrap[:2])) as connection:
            assert read_metadata(connection, ()).brokers[1].alive
            with pytest.raises(UnreachableError, match="describe topics"):
                read_metadata(connection, (), broker_id=3)
        assert time.monotonic() - started < 120.0
    finally:
        assert command("sandbox", "thaw", "3", "--dir", folder).status == 0
    wait_until(lambda: is_up(kraft, 3), 60)


@pytest.mark.matrix
@pytest.mark.parametrize("version", ["3.3.2", "3.7.2", "3.9.2", "4.1.2"])
def test_a_life_in_kraft_mode_on_every_version(version: str, tmp_path: Path) -> None:
    folder = tmp_path / "sandbox"
    up = command("sandbox", "up", "--kraft", "--version", version, "--dir", folder, "-o", "json")
    try:
        assert up.status == 0, up.err
        sandbox = Sandbox.load(folder)
        with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
            topic = make_topic(connection, {0: (1, 2)})
            target = {TopicPartition(topic, 0): (2, 3)}
            assert alter_reassignments(connection, target) == dict.fromkeys(target)
            wait_assigned(connection, target)
            assert [each.replica_id for each in describe_quorum(connection).voter_states] == [
                101,
                102,
                103,
            ]
        seeded = command("sandbox", "seed", "--dir", folder)
        assert seeded.status == 0, seeded.err
        processes = [*sandbox.brokers.values(), *sandbox.controllers.values()]
    finally:
        down = command("sandbox", "down", "--dir", folder)
    assert down.status == 0, down.err
    assert not any(process.alive for process in processes)
    assert not folder.exists()


@pytest.mark.parametrize("port", ["broker", "controller"])
def test_a_server_in_kraft_mode_given_as_zookeeper_is_recognised(kraft: Sandbox, port: str) -> None:
    """Within 5 s: a later answer would be that the command was not finished within its
    --timeout.
    """
    number = kraft.broker_ports[1] if port == "broker" else kraft.controller_ports[101]
    answer = command("status", "-z", f"127.0.0.1:{number}/kafka", "--timeout", "5")
    found = "a Kafka broker in KRaft mode" if port == "broker" else "a KRaft controller"
    assert (answer.status, answer.err) == (
        6,
        (
            f"error: No ZooKeeper server listens at 127.0.0.1:{number}.\n  cause: "
            f"127.0.0.1:{number} is {found}\n"
            "  next:  name its brokers in place of ZooKeeper: -b BROKERS; a cluster in KRaft mode "
            "has no ZooKeeper\n"
        ),
    )


def test_k05_addresses_at_which_no_broker_listens_are_named_with_what_does(
    kraft: Sandbox, zookeeper: Sandbox
) -> None:
    controller, silent = f"127.0.0.1:{kraft.controller_ports[101]}", f"127.0.0.1:{free_ports(1)[0]}"
    keeper = zookeeper.connect_string.partition("/")[0]
    for addresses, listening in (
        (controller, {controller: "a KRaft controller"}),
        (keeper, {keeper: "a ZooKeeper server"}),
        (
            f"{silent},{keeper},{controller}",
            {keeper: "a ZooKeeper server", controller: "a KRaft controller"},
        ),
    ):
        answer = command("status", "-b", addresses, "--timeout", "20")
        assert (answer.status, answer.out) == (6, "")
        message, cause, following = answer.err.splitlines()
        assert message == f"error: No Kafka broker listens at {addresses} that speaks PLAINTEXT."
        assert cause == (
            f"  cause: {'; '.join(f'{address} is {what}' for address, what in listening.items())}"
        )
        assert following == "  next:  name brokers of the cluster: -b BROKERS"
    answer = command("status", "-b", silent, "--timeout", "20")
    assert (answer.status, answer.out) == (6, "")
    assert answer.err.startswith(f"error: Nothing listens at {silent}.\n")
    assert answer.err.endswith("  next:  check the addresses, and that the brokers run\n")
