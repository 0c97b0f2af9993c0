"""`throttle catch-up` of a live broker in ZooKeeper mode that was stopped."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from support.live.clients import clients_write
from support.live.waiting import stays, wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS, RATES

if TYPE_CHECKING:
    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

AWAY = 4
SLOW = dict.fromkeys(RATES, "1")
"""Holds copies for as long as it is set: one batch of records per quota window of 11 seconds."""


def in_sync(cluster: Cluster, topic: str) -> bool:
    return AWAY in cluster.state(topic).states[TopicPartition(topic, 0)].isr


@pytest.mark.matrix
@pytest.mark.on("2.8.2")
def test_it_throttles_the_broker_from_before_it_is_back_and_undoes_all_after_kill_9_and_resume(
    cluster: Cluster,
) -> None:
    """The configs of a broker that is away are in ZooKeeper: it starts with its rate."""
    topic = cluster.create_topic({0: [1, 2, AWAY]})
    before = {"follower.replication.throttled.rate": "777000000"}
    cluster.configure(f"brokers/{AWAY}", before)
    line = ["throttle", "catch-up", "--broker", str(AWAY), "--rate", "1B/s", "--yes"]
    command = [sys.executable, "-m", "kadmin", *line, "-z", cluster.connect]
    lists = {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: f"0:{AWAY}"}
    runner: subprocess.Popen[bytes] | None = None
    try:
        with cluster.broker_down(AWAY):
            wait_until(lambda: AWAY not in cluster.state(topic).brokers)
            cluster.produce_to(TopicPartition(topic, 0), [b"x" * 900_000] * 40)
            runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: cluster.config(f"topics/{topic}") == lists)
            wait_until(
                lambda: all(cluster.config(f"brokers/{each}") == SLOW for each in (1, 2, AWAY))
            )
        assert stays(lambda: not in_sync(cluster, topic))
        assert runner.poll() is None
    finally:
        if runner is not None:
            runner.kill()
            runner.wait()
    assert cluster.config(f"topics/{topic}") == lists, "killed, it is still throttled"
    wait_until(lambda: cluster.kadmin("lock", "show").out.strip() == "the lock is free")
    changed = cluster.kadmin("throttle", "set", "--rate", "200MB/s", "--yes")
    assert changed.status == 0, changed.err
    resumed = cluster.kadmin("resume", "--yes", "--timeout", "120")
    assert resumed.status == 0, resumed.err
    assert f"of broker {AWAY} in sync" in resumed.out
    assert in_sync(cluster, topic)
    assert cluster.throttles(topic) == {f"brokers/{AWAY}": before}
    cluster.configure(f"brokers/{AWAY}", {})
    again = cluster.kadmin(*line)
    assert again.status == 0, again.err
    assert f"nothing to catch up: every replica of broker {AWAY} is in sync" in again.out


@pytest.mark.matrix
@pytest.mark.on("2.8.2")
def test_its_rate_follows_the_clients(cluster: Cluster) -> None:
    """They write to a follower that was away and to one that was not, and nobody waits."""
    least, topic = 100_000, cluster.create_topic({0: [1, 2, AWAY]})
    written = [TopicPartition(cluster.create_topic({0: [1, each]}), 0) for each in (2, AWAY)]
    rates = ["--rate", f"{least}B/s..200MB/s", "--yes"]
    line = ["throttle", "catch-up", "--broker", str(AWAY), *rates, "-z", cluster.connect]
    with ExitStack() as stack:
        with cluster.broker_down(AWAY):
            wait_until(lambda: AWAY not in cluster.state(topic).brokers)
            cluster.produce_to(TopicPartition(topic, 0), [b"x" * 900_000] * 40)
            runner = stack.enter_context(subprocess.Popen([sys.executable, "-m", "kadmin", *line]))
            stack.callback(runner.kill)
            first = dict.fromkeys(RATES, str(least))
            wait_until(lambda: cluster.config(f"brokers/{AWAY}") == first)
        stack.enter_context(clients_write(Servers(cluster.bootstrap), written))
        wait_until(lambda: rate(cluster) > 2 * least, 240)
        assert runner.wait(480) == 0
    assert in_sync(cluster, topic)
    assert cluster.throttles(topic) == {}
    shown = cluster.kadmin("history", cluster.history()[-1].operation_id).out
    assert "(clients do not wait)" in shown


def rate(cluster: Cluster) -> int:
    """Return the rate of the broker, 0 without one."""
    return int(cluster.config(f"brokers/{AWAY}").get(LEADER_RATE, 0))
