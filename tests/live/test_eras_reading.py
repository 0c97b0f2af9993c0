"""Each claim of READING_CLAIMS in tests/support/eras/claims.py, on live clusters in ZooKeeper
mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kafka.protocol.admin import ListPartitionReassignmentsRequest
from support.eras.claims import READING_CLAIMS, READING_VERSIONS, claim
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.cluster import Cluster

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(READING_CLAIMS),
    pytest.mark.on(*READING_VERSIONS),
]


@pytest.fixture
def connection(cluster: Cluster) -> Iterator[KafkaConnection]:
    with KafkaConnection(Servers(cluster.bootstrap)) as found:
        yield found


def seen(cluster: Cluster, name: str) -> str:
    """What the table says for the version under test."""
    return claim(name, READING_CLAIMS).seen[cluster.version_text]


def test_another_broker_is_asked(cluster: Cluster, connection: KafkaConnection) -> None:
    other = min({1, 2, 3, 4} - {cluster.controller()})
    request = ListPartitionReassignmentsRequest(timeout_ms=10_000, topics=None)
    answer = connection.ask("list reassignments", request, broker_id=other)
    assert f"error {answer.error_code}" == seen(cluster, "another_broker_is_asked")


def test_controller_in_metadata(cluster: Cluster, connection: KafkaConnection) -> None:
    assert {read_metadata(connection, []).controller_id for _ in range(20)} == {
        cluster.controller()
    }
    assert seen(cluster, "controller_in_metadata") == "the controller"


def test_topic_ids(cluster: Cluster, connection: KafkaConnection) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    wait_until(lambda: topic in read_metadata(connection, [topic]).topics)
    told = read_metadata(connection, [topic]).topics[topic].topic_id is not None
    assert ("reported" if told else "not reported") == seen(cluster, "topic_ids")


def test_quorum(cluster: Cluster, connection: KafkaConnection) -> None:
    with pytest.raises(NotCompletedError):
        describe_quorum(connection)
    assert seen(cluster, "quorum") == "not served"
