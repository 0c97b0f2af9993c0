"""Claims of tests/support/eras/claims.py on more partitions by the topic znode, on the live brokers
of every version under test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import CLAIMS, claim
from support.live.waiting import wait_until

from kadmin.worlds.zookeeper.znodes.topics import topic_path

if TYPE_CHECKING:
    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.claims(CLAIMS)]


def seen(cluster: Cluster, name: str) -> str:
    """What the table says for the version under test."""
    return claim(name).seen[cluster.version_text]


def grown(cluster: Cluster) -> tuple[str, dict[str, object]]:
    """Add two partitions to a topic's znode; return the topic, and the data of before."""
    topic = cluster.create_topic({0: [1, 2]})
    path = topic_path(topic)
    before = json.loads(cluster.get(path) or b"{}")
    partitions = {**before["partitions"], "1": [2, 3], "2": [4, 1]}
    cluster.raw.set(f"/kafka{path}", json.dumps({**before, "partitions": partitions}).encode())
    return topic, before


def led(cluster: Cluster, topic: str) -> dict[int, tuple[int, tuple[int, ...]]]:
    """The leader and ISR of each partition of a topic that has a state."""
    states = cluster.state(topic).states
    return {each.partition: (found.leader, found.isr) for each, found in states.items()}


def test_growth_by_topic_znode(cluster: Cluster) -> None:
    topic, _ = grown(cluster)
    wait_until(lambda: led(cluster, topic).keys() == {0, 1, 2})
    found = led(cluster, topic)
    assert (found[1], found[2]) == ((2, (2, 3)), (4, (4, 1)))
    assert seen(cluster, "growth_by_topic_znode") == "led by the first of each list"


def test_topic_znode_after_a_growth(cluster: Cluster) -> None:
    topic, before = grown(cluster)
    wait_until(lambda: led(cluster, topic).keys() == {0, 1, 2})
    after = json.loads(cluster.get(topic_path(topic)) or b"{}")
    assert after["partitions"] == {"0": [1, 2], "1": [2, 3], "2": [4, 1]}
    same = {key: after.get(key) for key in before if key != "partitions"} == {
        key: value for key, value in before.items() if key != "partitions"
    }
    assert same
    kept = "version and topic_id kept" if "topic_id" in before else "version kept"
    assert kept == seen(cluster, "topic_znode_after_a_growth")
