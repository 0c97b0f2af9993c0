"""Operations that kadmin 1.0.0 put on record in the topic of a cluster in KRaft mode are read,
resumed, rolled back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.kafka.processes import LEASE_S
from support.live.kraft import wait_assigned
from support.record_topic.recorded import recorded_values
from support.stores import in_topic

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.kafka.values.topic import TopicValues
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from support.live.kraft import KraftCluster

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [pytest.mark.eras, pytest.mark.on("4.4.0")]

ORIGIN, TARGET = (1, 2), (2, 3)
COMPLETED, INTERRUPTED = "20261127T204804Z-67837f", "20261127T205140Z-cd4d3d"


def replicas_of(topic: str, replicas: Replicas) -> dict[TopicPartition, Replicas]:
    return {TopicPartition(topic, number): replicas for number in range(2)}


def put(connection: KafkaConnection, values: Mapping[str, bytes | None]) -> None:
    """Write values of operations under the lock."""
    topic = in_topic(connection, lease_s=LEASE_S).lock
    assert isinstance(topic, TopicValues)
    lease = topic.take(
        Holder(Author("ann", "host-a", 7), INTERRUPTED, "now", LEASE_S), 10 * LEASE_S
    )
    topic.put([*values.items()], lease)
    topic.release(lease)


@pytest.fixture
def recorded(cluster: KraftCluster) -> Iterator[KraftCluster]:
    """The cluster when the wave has ended that the killed runner of 1.0.0 published, with its
    record in the topic.
    """
    connection, started = cluster.connection, {"accounts": TARGET, "ledger": ORIGIN}
    for topic, replicas in started.items():
        create_topic(connection, topic, dict.fromkeys(range(2), replicas))
        wait_assigned(connection, replicas_of(topic, replicas))
    moved = {TopicPartition("ledger", 0): TARGET}
    assert alter_reassignments(connection, moved) == dict.fromkeys(moved)
    wait_assigned(connection, moved)
    metadata = read_metadata(connection, started)
    ids = {topic: str(metadata.topics[topic].topic_id) for topic in started}
    values = recorded_values({"cluster": str(metadata.cluster_id), **ids})
    put(connection, values)
    yield cluster
    put(connection, dict.fromkeys(values))
    assert delete_topics(connection, ids) == dict.fromkeys(ids)


def test_operations_of_1_0_0_are_read_resumed_and_rolled_back(recorded: KraftCluster) -> None:
    """One was throttled anew, paused, resumed and completed; one was asked to pause, and killed in
    its first wave.
    """
    told = recorded.kadmin("history").out
    assert (
        f"{COMPLETED}  reassignment  completed    -     ann@host-a  2 partitions at the target\n"
        in told
    )
    assert (
        f"{INTERRUPTED}  reassignment  interrupted  -     ann@host-a  asked to pause by ann@host-a"
        in told
    )
    assert f"operation {INTERRUPTED} (reassignment, interrupted)\n" in recorded.kadmin("status").out
    assert "changed the throttle to 2.00 MB/s\n" in recorded.kadmin("history", COMPLETED).out
    resumed = recorded.kadmin("resume", "--yes")
    assert resumed.status == 0, resumed.err
    wait_assigned(recorded.connection, replicas_of("ledger", TARGET))
    rolled_back = recorded.kadmin("rollback", COMPLETED, "--yes")
    assert rolled_back.status == 0, rolled_back.err
    wait_assigned(recorded.connection, replicas_of("accounts", ORIGIN))
    throttles = recorded.kadmin("throttle", "show").out
    assert not [
        each for each in ("accounts", "ledger", "50.0 kB/s", "2.00 MB/s") if each in throttles
    ]
