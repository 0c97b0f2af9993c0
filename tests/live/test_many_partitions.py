"""F22: ten thousand partitions through a ZooKeeper with a heap of 256 MB, as every server of the sandbox has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cluster_under_test import document, reassignment
from live_support import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from cluster_under_test import Cluster

pytestmark = [pytest.mark.live, pytest.mark.executor]

PARTITIONS = 10_000
TOPICS = 20
EACH = PARTITIONS // TOPICS


@pytest.mark.parametrize("live", ["2.8.2"], indirect=True)
def test_f22_ten_thousand_partitions_leave_zookeeper_alive(cluster: Cluster, tmp_path: Path) -> None:
    """A reorder copies nothing, so that what is measured are the writes of the controller."""
    topics = [cluster.create_topic({number: [1, 2] for number in range(EACH)}, prefix="many") for _ in range(TOPICS)]
    value = reassignment("", {})
    value["spec"]["partitions"] = [
        {"topic": topic, "partition": number, "replicas": [2, 1]} for topic in topics for number in range(EACH)
    ]
    try:
        applied = cluster.kadmin("apply", document(tmp_path / "plan.json", value), "--yes", "--timeout", "1200")
        assert applied.status == 0, applied.err
        assert cluster.get("/admin/reassign_partitions") is None
        assert all(set(cluster.state(topic).topics[topic].replicas.values()) == {(2, 1)} for topic in topics)
    finally:
        for topic in topics:
            cluster.raw.create(f"/kafka/admin/delete_topics/{topic}")
        wait_until(lambda: not any(cluster.get(f"/brokers/topics/{topic}") for topic in topics), 300)
