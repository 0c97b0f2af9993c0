"""The next leader that `whatif lose` predicts is the one that a cluster in KRaft mode elects."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import kafka
import pytest
from support.live.kraft import make_topic
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from support.live.kraft import KraftCluster

    from kadmin.cluster.model import PartitionState

pytestmark = pytest.mark.matrix

WAIT_S = 60
MANY_BYTES = b"x" * 100_000
RECORDS = 40
"""Records of MANY_BYTES: more than a follower fetches before a throttle holds it."""


def test_the_predicted_leaders_are_the_ones_elected(cluster: KraftCluster) -> None:
    """Broker 3 is alive and out of sync, held by a throttle, and broker 4 is stopped, while broker
    2 is lost.

    `spare` has another replica in sync; broker 3 may lead `unclean`, not `single`. Broker 4 left
    the ISR of `pair` when it was small: where brokers keep eligible leaders it leads when it
    returns, and elsewhere it never does.
    """
    connection, sandbox = cluster.connection, cluster.sandbox
    topics = {
        "spare": make_topic(connection, {0: (3, 2, 1)}),
        "pair": make_topic(connection, {0: (2, 4)}, {"min.insync.replicas": "2"}),
        "single": make_topic(connection, {0: (2, 3)}),
        "unclean": make_topic(connection, {0: (2, 3)}, {"unclean.leader.election.enable": "true"}),
    }
    _throttle(cluster, topics.values(), "1")
    for broker in (3, 4):
        sandbox.stop_broker(broker)
    try:
        wait_until(
            lambda: all(not {3, 4} & set(each.isr) for each in _states(cluster, topics).values()),
            WAIT_S,
        )
        _write(cluster, topics.values())
        sandbox.start_broker(3)
        wait_until(lambda: 3 in read_cluster(connection, ()).brokers, WAIT_S)
        known = _states(cluster, topics)
        in_sync = {name: sorted(each.isr) for name, each in known.items()}
        assert in_sync == {"spare": [1, 2], "pair": [2], "single": [2], "unclean": [2]}
        has_elr = sandbox.spec.version >= "4.1"
        assert {name: each.elr for name, each in known.items() if each.elr} == (
            {"pair": (4,)} if has_elr else {}
        )
        answer = json.loads(cluster.kadmin("whatif", "lose", "--broker", "2", "-o", "json").out)
        changes = {each["topic"]: each for each in answer["leader_changes"]}
        expected = {"spare": 1, "pair": NO_LEADER, "single": NO_LEADER, "unclean": 3}
        assert {name: changes[topic]["new_leader"] for name, topic in topics.items()} == expected
        assert [name for name, topic in topics.items() if changes[topic]["unclean"]] == ["unclean"]
        sandbox.stop_broker(2, kill=True)
        wait_until(lambda: 2 not in read_cluster(connection, ()).brokers, WAIT_S)
        wait_until(lambda: _leaders(cluster, topics) == expected, WAIT_S)
        sandbox.start_broker(4)
        wait_until(lambda: 4 in read_cluster(connection, ()).brokers, WAIT_S)
        expected["pair"] = 4 if has_elr else NO_LEADER
        wait_until(lambda: _leaders(cluster, topics) == expected, WAIT_S)
    finally:
        for broker in (2, 3, 4):
            if not sandbox.brokers[broker].alive:
                sandbox.start_broker(broker)
        wait_until(lambda: {1, 2, 3, 4} <= read_cluster(connection, ()).brokers.keys(), WAIT_S)
        _throttle(cluster, topics.values(), None)


def _throttle(cluster: KraftCluster, topics: Iterable[str], rate: str | None) -> None:
    """Let replicas of topics that are out of sync copy at a rate, or as they like."""
    operation = ConfigOperation.DELETE if rate is None else ConfigOperation.SET
    lists = {
        f"{side}.replication.throttled.replicas": ConfigEdit(
            operation, None if rate is None else "*"
        )
        for side in ("leader", "follower")
    }
    rates = {
        f"{side}.replication.throttled.rate": ConfigEdit(operation, rate)
        for side in ("leader", "follower")
    }
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        changed = alter_configs(connection, {ConfigEntity.of_topic(name): lists for name in topics})
        assert set(changed.values()) == {None}
        for broker in cluster.sandbox.broker_ports:
            changed = alter_configs(
                connection, {ConfigEntity.of_broker(broker): rates}, broker_id=broker
            )
            assert set(changed.values()) == {None}


def _states(cluster: KraftCluster, topics: Mapping[str, str]) -> dict[str, PartitionState]:
    states = read_cluster(cluster.connection, topics.values(), with_configs=True).states
    return {name: states[TopicPartition(topic, 0)] for name, topic in topics.items()}


def _leaders(cluster: KraftCluster, topics: Mapping[str, str]) -> dict[str, int]:
    return {name: each.leader for name, each in _states(cluster, topics).items()}


def _write(cluster: KraftCluster, topics: Iterable[str]) -> None:
    """Write what the leader alone acknowledges, also below min.insync.replicas."""
    with closing(
        kafka.KafkaProducer(bootstrap_servers=cluster.sandbox.bootstrap, acks=1, linger_ms=5)
    ) as producer:
        sent = [
            producer.send(topic, MANY_BYTES, partition=0)
            for topic in topics
            for _ in range(RECORDS)
        ]
        for each in sent:
            each.get(timeout=WAIT_S)
