"""Samples of a live cluster in ZooKeeper mode, whose brokers ZooKeeper names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.sampling import await_topics, frozen_broker, read, sample, sampled_traffic
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

WAIT_S = 60


def test_each_partition_grows_as_is_produced_and_consumed(cluster: Cluster, live: Sandbox, tmp_path: Path) -> None:
    topics = [cluster.create_topic({0: [1, 2], 1: [2, 3]}), cluster.create_topic({0: [3, 4], 1: [4, 1], 2: [1, 3]})]
    await_topics(live, topics)
    sampled_traffic(live, ("-z", cluster.connect), topics, tmp_path / "samples")


def test_zookeeper_and_brokers_lead_to_the_same_rows(cluster: Cluster, tmp_path: Path) -> None:
    cluster.shared_topic()
    sample(("-z", cluster.connect), tmp_path / "zookeeper", "--once")
    sample(("-b", ",".join(cluster.bootstrap)), tmp_path / "brokers", "--once")
    assert read(tmp_path / "zookeeper").keys() == read(tmp_path / "brokers").keys()


def test_a_broker_that_does_not_answer_costs_its_rows_only(
    cluster: Cluster, live: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [3, 4]})
    await_topics(live, [topic])
    last, series = frozen_broker(live, ("-z", cluster.connect), tmp_path, monkeypatch)
    wait_until(lambda: sum(len(each.isr) for each in cluster.state(topic).states.values()) == 4, WAIT_S)
    assert all("roker 3" in each for each in last["unavailable"])
    assert {broker for _, _, _, broker, _ in series} == {None, 1, 2, 4}
