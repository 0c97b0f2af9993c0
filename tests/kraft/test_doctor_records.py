"""What the doctor finds on the topic of records, and on rights, on real brokers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.kafka import acls
from support.live.doctor import examine, stopped
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.values.topic_settings import create_topic
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.eras
WAIT_S = 60
WRITE, ALL, DESCRIBE = 4, 2, 8
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture
def recorded(kraft: Sandbox, connection: KafkaConnection) -> KraftCluster:
    """The cluster with its record in the topic."""
    if RECORD_TOPIC not in read_metadata(connection).topics:
        create_topic(connection, RECORD_TOPIC)
    replicas = read_metadata(connection, (RECORD_TOPIC,)).partitions
    wait_assigned(connection, {partition: found.replicas for partition, found in replicas.items()})
    return KraftCluster(kraft, connection)


@pytest.fixture(scope="module")
def secured(kraft: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker that checks rights: what has an ACL is for those that it names, all else for
    everybody.

    The controllers need a super user before they have read any ACL; kadmin, and the broker for
    itself, have none.
    """
    folder = tmp_path_factory.mktemp("secured") / "sandbox"
    settings = {**AUTHORIZER, "super.users": "User:ANONYMOUS"}
    sandbox = Sandbox.up(
        SandboxSpec(
            folder, version=kraft.spec.version, brokers=1, mode="kraft", broker_config=settings
        )
    )
    sandbox.stop_broker(1)
    sandbox = replace(sandbox, spec=replace(sandbox.spec, broker_config=AUTHORIZER))
    sandbox.start_broker(1)
    yield sandbox
    sandbox.down()


def test_a_record_topic_that_is_safe_is_no_finding(recorded: KraftCluster) -> None:
    assert examine(recorded) == {}


def test_a_record_topic_whose_records_may_be_lost(recorded: KraftCluster) -> None:
    set_policy = {
        ConfigEntity.of_topic(RECORD_TOPIC): {
            "cleanup.policy": ConfigEdit(ConfigOperation.SET, "delete")
        }
    }
    alter_configs(recorded.connection, set_policy)
    found = examine(recorded)["unsafe-record-topic"]
    assert found["stops_apply"]
    assert "cleanup.policy is delete" in found["evidence"][0]
    assert "--add-config cleanup.policy=compact" in found["remedy"]
    alter_configs(
        recorded.connection,
        {
            ConfigEntity.of_topic(RECORD_TOPIC): {
                "cleanup.policy": ConfigEdit(ConfigOperation.SET, "compact")
            }
        },
    )
    assert examine(recorded) == {}


@pytest.mark.matrix
def test_a_record_topic_below_its_min_isr(recorded: KraftCluster) -> None:
    found = read_metadata(recorded.connection, (RECORD_TOPIC,)).partitions
    first, second = sorted(next(iter(found.values())).replicas)[:2]
    with stopped(recorded, first, second):
        troubles = examine(recorded)
        assert troubles["unsafe-record-topic"]["stops_apply"]
        assert troubles["unsafe-record-topic"]["remedy"].startswith("start broker")
    wait_assigned(
        recorded.connection, {partition: each.replicas for partition, each in found.items()}
    )
    assert examine(recorded) == {}


@pytest.mark.matrix
def test_rights_hide_topics_and_open_the_record_to_everybody(
    secured: Sandbox, tmp_path: Path
) -> None:
    with KafkaConnection(Servers(secured.bootstrap)) as connection:
        cluster = KraftCluster(secured, connection, tmp_path / "records")
        secret = make_topic(connection, {0: (1,)})
        acls.allow(connection, acls.TOPIC, secret, "User:other", ALL)
        wait_until(lambda: secret not in read_metadata(connection).topics, WAIT_S)
        found = examine(cluster)
        assert set(found) == {"hidden-topics"}
        assert secret in found["hidden-topics"]["message"]
        assert "--operation Describe" in found["hidden-topics"]["remedy"]

        create_topic(connection, RECORD_TOPIC)
        opened = examine(cluster)
        assert set(opened) == {"hidden-topics", "unsafe-record-topic"}
        assert not opened["unsafe-record-topic"]["stops_apply"]
        assert opened["unsafe-record-topic"]["evidence"][0].startswith("no ACL names it")
        acls.allow(connection, acls.TOPIC, RECORD_TOPIC, "User:ANONYMOUS", ALL)
        wait_until(lambda: set(examine(cluster)) == {"hidden-topics"}, WAIT_S)
        acls.allow(connection, acls.TOPIC, RECORD_TOPIC, "User:*", WRITE)
        wait_until(lambda: "unsafe-record-topic" in examine(cluster), WAIT_S)
        assert examine(cluster)["unsafe-record-topic"]["evidence"] == [
            "an ACL grants WRITE to User:*"
        ]
