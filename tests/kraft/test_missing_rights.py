"""What kadmin says where it may not do something, on a live broker in KRaft mode that checks
rights.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.kafka.acls import CLUSTER, TOPIC, allow
from support.live.kraft import KraftCluster, make_topic
from support.live.waiting import wait_until

from kadmin.cluster.ports import Listener, listener_at
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.processes import free_ports
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.eras

WAIT_S = 60
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
READ, CLUSTER_ACTION = 3, 9
"""AclOperation."""
PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="admin" password="secret" user_admin="secret";'
)


@pytest.fixture(scope="module")
def secured(
    kraft: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[KraftCluster, int]]:
    """One broker that checks rights, and the port of its listener with SASL.

    What has an ACL is for those that it names, all else for everybody. The controllers need a super
    user.
    """
    folder = tmp_path_factory.mktemp("rights") / "sandbox"
    spec = SandboxSpec(
        folder,
        version=kraft.spec.version,
        brokers=1,
        mode="kraft",
        broker_config={**AUTHORIZER, "super.users": "User:ANONYMOUS"},
    )
    sandbox = Sandbox.up(spec)
    try:
        sandbox.stop_broker(1)
        (port,) = free_ports(1)
        listeners = f"PLAINTEXT://127.0.0.1:{sandbox.broker_ports[1]},EXTRA://127.0.0.1:{port}"
        settings = {
            **AUTHORIZER,
            "allow.everyone.if.no.acl.found": "true",
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": (
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,EXTRA:SASL_PLAINTEXT"
            ),
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.extra.plain.sasl.jaas.config": PLAIN,
        }
        guarded = replace(sandbox, spec=replace(spec, broker_config=settings))
        guarded.start_broker(1)
        with KafkaConnection(Servers(guarded.bootstrap)) as connection:
            yield KraftCluster(guarded, connection, folder.parent / "records"), port
    finally:
        sandbox.down()


def test_a_listener_with_sasl_is_named(secured: tuple[KraftCluster, int]) -> None:
    address = f"127.0.0.1:{secured[1]}"
    assert listener_at(address) is Listener.SASL
    answer = command("inspect", "cluster", "-b", address)
    assert (answer.status, answer.out) == (6, "")
    assert f"{address} is a Kafka server that asks for SASL" in answer.err


def test_topics_that_may_not_be_described_are_named(
    secured: tuple[KraftCluster, int], tmp_path: Path
) -> None:
    cluster, _ = secured
    shown, secret = (make_topic(cluster.connection, {0: (1,)}) for _ in range(2))
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {secret}, partition: 0, replicas: [1]}}\n"
    )
    allow(cluster.connection, TOPIC, secret, "User:alice", READ)
    wait_until(lambda: secret not in read_metadata(cluster.connection).topics, WAIT_S)
    for name in ("topics", "partitions", "cluster", "brokers"):
        answer = cluster.kadmin("inspect", name, "-o", "json")
        assert answer.status == 0, answer.err
        (told,) = json.loads(answer.out)["unavailable"]
        assert told == f"the right Describe is missing on 1 topic: {secret}; not shown"
        assert told in answer.err
    rows = json.loads(cluster.kadmin("inspect", "topics", "-o", "json").out)["topics"]
    assert shown in {row["topic"] for row in rows}
    taken = cluster.kadmin("snapshot", "--out", tmp_path / "inventory")
    assert f"the right Describe is missing on 1 topic: {secret}; not shown" in taken.out, taken.err
    denied = cluster.kadmin("verify", plan)
    assert denied.status == 6, denied.err
    assert f"the right Describe on topic {secret} is missing" in denied.err
    assert f"kafka-acls.sh --bootstrap-server {cluster.sandbox.bootstrap[0]} --add" in denied.err
    assert f"--operation Describe --topic {secret}" in denied.err


def test_a_right_on_the_cluster_that_is_missing_is_named(
    secured: tuple[KraftCluster, int], tmp_path: Path
) -> None:
    """The last of these tests: what it takes away is not given back. Controllers know kadmin as a
    super user here.
    """
    cluster, _ = secured
    allow(cluster.connection, CLUSTER, "kafka-cluster", "User:ANONYMOUS", CLUSTER_ACTION)
    wait_until(lambda: cluster.kadmin("inspect", "cluster").status == 6, WAIT_S)
    answer = cluster.kadmin("snapshot", "--out", tmp_path / "inventory")
    assert answer.status == 6
    assert "the right DescribeConfigs on the cluster is missing" in answer.err
    assert "--operation DescribeConfigs --cluster" in answer.err
