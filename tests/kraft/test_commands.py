"""Every command with -b, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from support.kafka.processes import LEASE_S
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.stores import in_topic

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.values.topic_settings import BODIES, CONTROL

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.live


def plan_in(folder: Path, topic: str) -> Path:
    plan = folder / "plan.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: [3, 4]}}\n"
    )
    return plan


def test_apply_moves_partitions_and_the_history_in_a_folder_has_it(
    cluster_and_folder: KraftCluster, tmp_path: Path
) -> None:
    cluster = cluster_and_folder
    topic = make_topic(cluster.connection, {0: (1, 2)})
    plan = plan_in(tmp_path, topic)
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert applied.out.startswith("1 partition at the target ")
    wait_assigned(cluster.connection, {TopicPartition(topic, 0): (3, 4)})
    (operation,) = cluster.history()
    assert operation["state"] == "completed"
    assert cluster.kadmin("verify", plan).status == 0


@pytest.mark.usefixtures("record")
def test_a_folder_of_records_is_no_second_door(cluster: KraftCluster, tmp_path: Path) -> None:
    connection, topic = cluster.connection, make_topic(cluster.connection, {0: (1, 2)})
    beside = KraftCluster(cluster.sandbox, connection, tmp_path / "beside")
    operations = in_topic(connection, lease_s=LEASE_S)
    lease = operations.lock.take(
        Holder(Author("ann", "host-a", 7), "20260101T000000Z-000001", "now", LEASE_S), 10 * LEASE_S
    )
    try:
        refused = beside.kadmin("apply", plan_in(tmp_path, topic), "--yes")
    finally:
        operations.lock.release(lease)
    assert refused.status == 5, refused.err
    assert "in use, in its topic __kadmin" in refused.err
    assert "ann@host-a" in refused.err
    assert read_cluster(connection, [topic]).replicas(TopicPartition(topic, 0)) == (1, 2)
    applied = beside.kadmin("apply", plan_in(tmp_path, topic), "--yes")
    assert applied.status == 0, applied.err


@pytest.mark.usefixtures("record")
def test_the_topic_of_the_record_is_moved_last(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    """Each partition goes to another broker: lock and record are read and written throughout."""
    cluster, topic = KraftCluster(kraft, connection), make_topic(connection, {0: (1, 2)})
    partitions = [TopicPartition(RECORD_TOPIC, number) for number in (CONTROL, BODIES)]
    before = read_cluster(connection, [RECORD_TOPIC])
    targets = {each: rotated(before.replicas(each) or ()) for each in partitions} | {
        TopicPartition(topic, 0): (3, 4)
    }
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "apiVersion": "kadmin/v1",
                "kind": "PartitionReassignment",
                "spec": {
                    "partitions": [
                        {**asdict(each), "replicas": list(to)} for each, to in targets.items()
                    ]
                },
            }
        )
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "wave 3 of 3" in applied.err
    wait_assigned(connection, targets)
    assert cluster.kadmin("verify", plan).status == 0


def rotated(replicas: Replicas) -> Replicas:
    """Put the other broker of rack r1 in the place of the one that has a copy, and another one
    first.
    """
    first, *rest = ({1: 4, 4: 1}.get(broker, broker) for broker in replicas)
    return (*rest, first)
