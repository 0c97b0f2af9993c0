from __future__ import annotations

import json

import pytest
from support.zookeeper.recorded_znodes import CLUSTERS, OLD_CONSUMERS, recorded

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.groups import ConsumerRegistration
from kadmin.cluster.model import Broker, Controller, Endpoint, TopicPartition
from kadmin.worlds.zookeeper.znodes.brokers import broker_path, decode_broker
from kadmin.worlds.zookeeper.znodes.catalogue import decoder_of
from kadmin.worlds.zookeeper.znodes.configs import (
    config_path,
    decode_config,
    encode_config,
    encode_config_change,
)
from kadmin.worlds.zookeeper.znodes.consumers import (
    decode_offset,
    decode_owner,
    decode_registration,
    group_path,
)
from kadmin.worlds.zookeeper.znodes.controller import (
    CLUSTER_ID,
    CONTROLLER,
    CONTROLLER_EPOCH,
    FEATURE,
    MIGRATION,
    Features,
    decode_cluster_id,
    decode_controller,
    decode_controller_epoch,
    decode_features,
)
from kadmin.worlds.zookeeper.znodes.notifications import (
    PRODUCER_ID_BLOCK,
    ProducerIdBlock,
    decode_producer_id_block,
)
from kadmin.worlds.zookeeper.znodes.topics import decode_state, decode_topic, state_path, topic_path

REGISTRATION_VERSIONS = dict(zip(CLUSTERS, (4, 4, 4, 4, 5, 5), strict=True))
TOPIC_VERSIONS = dict(zip(CLUSTERS, (1, 1, 1, 1, 3, 3), strict=True))
FOLDERS = {
    *(
        "/",
        "/admin",
        "/admin/delete_topics",
        "/brokers",
        "/brokers/ids",
        "/brokers/seqid",
        "/brokers/topics",
    ),
    *(
        "/cluster",
        "/consumers",
        "/isr_change_notification",
        "/log_dir_event_notification",
        "/config",
    ),
    *(f"/config/{kind}" for kind in ("brokers", "changes", "clients", "ips", "topics", "users")),
}


@pytest.mark.parametrize("name", CLUSTERS + OLD_CONSUMERS)
def test_every_znode_with_data_has_a_codec_that_reads_it(name: str) -> None:
    for path, node in recorded(name).items():
        decode = decoder_of(path)
        if decode is None:
            assert node.data in {None, b""}, path
        elif node.data is not None:
            decode(node)


@pytest.mark.parametrize("version", CLUSTERS)
def test_only_folders_have_no_codec(version: str) -> None:
    without = {path for path in recorded(version) if decoder_of(path) is None}
    partitions = {path for path in without if "/partitions" in path}
    assert without - partitions <= FOLDERS


@pytest.mark.parametrize("version", CLUSTERS)
def test_broker_registrations(version: str) -> None:
    nodes = recorded(version)
    for broker_id in range(3):
        path = broker_path(broker_id)
        port = json.loads(nodes[path].data or b"")["port"]
        expected = Broker(
            broker_id,
            f"r{broker_id}",
            (Endpoint("PLAINTEXT", "127.0.0.1", port, "PLAINTEXT"),),
            registration_version=REGISTRATION_VERSIONS[version],
        )
        assert decode_broker(broker_id, nodes[path]) == expected


@pytest.mark.parametrize("version", CLUSTERS)
def test_topics(version: str) -> None:
    nodes = recorded(version)
    alpha = decode_topic("alpha", nodes[topic_path("alpha")])
    assert alpha.replicas == {0: (0, 1, 2), 1: (1, 2, 0), 2: (2, 0, 1)}
    assert (alpha.adding_replicas, alpha.removing_replicas) == ({}, {})
    assert alpha.format_version == TOPIC_VERSIONS[version]
    assert (alpha.topic_id is not None) is (alpha.format_version == 3)
    assert decode_topic("beta", nodes[topic_path("beta")]).replicas == {0: (1, 0)}
    assert (
        len(decode_topic("__consumer_offsets", nodes[topic_path("__consumer_offsets")]).replicas)
        == 4
    )


@pytest.mark.parametrize("version", CLUSTERS)
def test_partition_states(version: str) -> None:
    nodes = recorded(version)
    for number in range(3):
        node = nodes[state_path(TopicPartition("alpha", number))]
        state = decode_state(node)
        assert (state.leader, sorted(state.isr), state.leader_epoch, state.controller_epoch) == (
            number,
            [0, 1, 2],
            0,
            1,
        )
        assert state.fingerprint == node.version


@pytest.mark.parametrize("version", CLUSTERS)
def test_controller_and_cluster(version: str) -> None:
    nodes = recorded(version)
    controller = decode_controller(nodes[CONTROLLER])
    assert isinstance(controller, Controller)
    assert controller.broker_id in {0, 1, 2}
    assert controller.session_id == 7
    assert controller.kraft_epoch == (-1 if version == "3.9.1" else None)
    assert decode_controller_epoch(nodes[CONTROLLER_EPOCH]) == 1
    assert len(decode_cluster_id(nodes[CLUSTER_ID])) == 22
    assert MIGRATION not in nodes


@pytest.mark.parametrize("version", CLUSTERS)
def test_configs(version: str) -> None:
    nodes = recorded(version)
    assert decode_config(nodes[config_path(ConfigEntity.of_topic("alpha"))]) == {}
    beta = decode_config(nodes[config_path(ConfigEntity.of_topic("beta"))])
    assert beta == {"retention.ms": "3600000", "cleanup.policy": "compact"}
    assert (
        decode_config(nodes[config_path(ConfigEntity.of_topic("__consumer_offsets"))])[
            "segment.bytes"
        ]
        == "104857600"
    )
    assert json.loads(encode_config(beta)) == json.loads(
        nodes[config_path(ConfigEntity.of_topic("beta"))].data or b""
    )
    assert (
        encode_config_change(ConfigEntity.of_topic("beta"))
        == nodes["/config/changes/config_change_0000000000"].data
    )


def test_producer_id_blocks() -> None:
    assert PRODUCER_ID_BLOCK not in recorded("0.10.2.2")
    assert decode_producer_id_block(recorded("1.1.1")[PRODUCER_ID_BLOCK]) == ProducerIdBlock(
        0, 2000, 2999
    )
    assert decode_producer_id_block(recorded("3.9.1")[PRODUCER_ID_BLOCK]) == ProducerIdBlock(
        1, 0, 999
    )


def test_features() -> None:
    assert decode_features(recorded("2.8.2")[FEATURE]) == Features(1, enabled=True, levels={})
    assert decode_features(recorded("3.9.1")[FEATURE]) == Features(2, enabled=True, levels={})


@pytest.mark.parametrize("name", OLD_CONSUMERS)
def test_old_consumers(name: str) -> None:
    nodes = recorded(name)
    fixed = nodes[group_path("grp.one", "ids") + "/grp.one_fixedid"]
    registration = decode_registration("grp.one_fixedid", fixed)
    assert isinstance(registration, ConsumerRegistration)
    assert (registration.subscription, registration.pattern) == ({"t.*": 1}, "white_list")
    assert registration.timestamp_ms is not None
    assert decode_owner(nodes[group_path("grp.one", "owners", "t5") + "/0"]) == "grp.one_fixedid-0"
    offsets = group_path("grp.one", "offsets", "t5")
    assert [decode_offset(nodes[f"{offsets}/{number}"]) for number in range(5)] == [8] * 5
