"""Samples of a live cluster in ZooKeeper mode, whose brokers ZooKeeper names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.sampling import await_topics, read, sample, sampled_traffic

from kadmin.inventory.samples import Metric

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

FIRST_WITH_LOG_DIRS = (1, 0)
"""Kafka's first version that is asked for the bytes of its replicas (KIP-113)."""


@pytest.mark.eras
@pytest.mark.on("2.8.2", "3.9.2")
def test_each_partition_grows_as_is_produced_and_consumed(
    cluster: Cluster, live: Sandbox, tmp_path: Path
) -> None:
    topics = [
        cluster.create_topic({0: [1, 2], 1: [2, 3]}),
        cluster.create_topic({0: [3, 4], 1: [4, 1], 2: [1, 3]}),
    ]
    await_topics(live, topics)
    sampled_traffic(live, ("-z", cluster.connect), topics, tmp_path / "samples")


def test_zookeeper_and_brokers_lead_to_the_same_rows(cluster: Cluster, tmp_path: Path) -> None:
    cluster.shared_topic()
    sample(("-z", cluster.connect), tmp_path / "zookeeper", "--once")
    sample(("-b", ",".join(cluster.bootstrap)), tmp_path / "brokers", "--once")
    rows = read(tmp_path / "zookeeper")
    assert rows.keys() == read(tmp_path / "brokers").keys()
    tells_sizes = tuple(map(int, cluster.version_text.split("."))) >= FIRST_WITH_LOG_DIRS
    assert any(metric == Metric.LOG_SIZE_BYTES for metric, *_ in rows) == tells_sizes
