"""Which versions fit what brokers keep in ZooKeeper: on recordings of each, and where the facts
disagree.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster
from support.zookeeper.recorded_znodes import CLUSTERS, recorded

from kadmin.cluster.model import Topic
from kadmin.cluster.versions import KafkaVersions
from kadmin.worlds.zookeeper.doctor.gather import TELLING_PATHS, infer_versions
from kadmin.worlds.zookeeper.model import ControllerNode, ZooKeeperDetails
from kadmin.worlds.zookeeper.znodes.brokers import broker_path, decode_broker
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER, decode_controller
from kadmin.worlds.zookeeper.znodes.topics import decode_topic, topic_path

STATE = replace(cluster({}, brokers={}), controller=None, details=ZooKeeperDetails(None, 1))
EXPECTED = {
    "0.10.2.2": "0.10",
    "1.1.1": "1.0 to 2.6",
    "2.3.1": "1.0 to 2.6",
    "2.4.1": "1.0 to 2.6",
    "2.8.2": "2.8 to 3.3",
    "3.9.1": "3.4 to 3.9",
}


@pytest.mark.parametrize("version", CLUSTERS)
def test_recorded_clusters(version: str) -> None:
    nodes = recorded(version)
    controller = decode_controller(nodes[CONTROLLER])
    state = replace(
        STATE,
        controller=controller,
        details=ZooKeeperDetails(controller, 1),
        brokers={broker: decode_broker(broker, nodes[broker_path(broker)]) for broker in range(3)},
        topics={"alpha": decode_topic("alpha", nodes[topic_path("alpha")])},
    )
    assert str(infer_versions(set(nodes), state)) == EXPECTED[version]


def test_a_rewritten_topic_znode_tells_2_4() -> None:
    state = replace(STATE, topics={"foo": Topic("foo", {0: (1,)}, format_version=2)})
    assert infer_versions(set(TELLING_PATHS[:2]), state) == KafkaVersions((2, 4), (2, 6))


def test_without_a_controller_the_end_is_open() -> None:
    assert infer_versions(set(TELLING_PATHS), STATE) == KafkaVersions((2, 8), (3, 9))


def test_facts_that_disagree_give_what_is_certain() -> None:
    """A newer fact proves more than a missing folder, which may have been removed."""
    controller = ControllerNode(1, session_id=7, kraft_epoch=-1)
    state = replace(STATE, controller=controller, details=ZooKeeperDetails(controller, 1))
    assert infer_versions(set(), state) == KafkaVersions((3, 4), (3, 4))


def test_ranges_overlap_at_their_ends() -> None:
    versions = KafkaVersions((1, 0), (2, 6))
    assert versions.may_be((2, 6), (3, 9))
    assert versions.may_be((0, 10), (1, 0))
    assert not versions.may_be((2, 7), (3, 9))
    assert not versions.may_be((0, 10), (0, 11))
