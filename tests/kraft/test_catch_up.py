"""`throttle catch-up` of a broker of a cluster in KRaft mode that was stopped."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from support.kafka.processes import KadminProcess
from support.live.clients import clients_write
from support.live.kraft import make_topic, without_broker
from support.live.waiting import stays, wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS, RATES
from kadmin.worlds.kafka.reader import read_cluster

if TYPE_CHECKING:
    from support.live.kraft import KraftCluster

pytestmark = pytest.mark.live

AWAY = 4
LINE = ("throttle", "catch-up", "--broker", str(AWAY), "--rate", "1B/s", "--yes")
SLOW = dict.fromkeys(RATES, "1")
"""Holds copies for as long as it is set: one batch of records per quota window of 11 seconds."""


def throttles(cluster: KraftCluster, topic: str) -> dict[str, dict[str, str]]:
    """Return the throttle values of a topic and of the live brokers."""
    shown = json.loads(cluster.kadmin("throttle", "show", "-o", "json").out)
    found = {each["entity"]: each["values"] for each in shown["throttles"]}
    return {
        entity: values
        for entity, values in found.items()
        if entity.startswith(("brokers", f"topics/{topic}"))
    }


def in_sync(cluster: KraftCluster, topic: str) -> bool:
    state = read_cluster(cluster.connection, [topic])
    return AWAY in state.states[TopicPartition(topic, 0)].isr


@pytest.fixture
def topic(cluster: KraftCluster) -> str:
    """A topic of the broker and of two others."""
    return make_topic(cluster.connection, {0: (1, 2, AWAY)})


@pytest.mark.matrix
def test_it_waits_for_the_broker_throttles_it_and_undoes_all_after_kill_9_and_resume(
    cluster: KraftCluster, topic: str
) -> None:
    """The broker's own rate is set when it is back: before that nobody can read what it has."""
    lists = {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: f"0:{AWAY}"}
    with ExitStack() as stack:
        with without_broker(cluster, AWAY, topic):
            dry = cluster.kadmin(*LINE, "--dry-run")
            assert dry.status == 0, dry.err
            assert f"on broker {AWAY}, which is not alive: it is waited for" in dry.err
            runner = KadminProcess(cluster.connection.servers.addresses, *LINE)
            stack.callback(runner.end)
            wait_until(lambda: throttles(cluster, topic).get(f"topics/{topic}") == lists)
            wait_until(lambda: throttles(cluster, topic).get("brokers/2") == SLOW)
            assert f"brokers/{AWAY}" not in throttles(cluster, topic)
            status = cluster.kadmin("status")
            assert f"broker {AWAY} is not alive: waiting until it is back" in status.out
        wait_until(lambda: throttles(cluster, topic).get(f"brokers/{AWAY}") == SLOW)
        assert stays(lambda: not in_sync(cluster, topic))
        assert not runner.ended, runner.told
    assert throttles(cluster, topic)[f"topics/{topic}"] == lists, "killed, it is still throttled"
    wait_until(lambda: cluster.kadmin("lock", "show").out.strip() == "the lock is free")
    changed = cluster.kadmin("throttle", "set", "--rate", "200MB/s", "--yes")
    assert changed.status == 0, changed.err
    resumed = cluster.kadmin("resume", "--yes", "--timeout", "120")
    assert resumed.status == 0, resumed.err
    assert f"of broker {AWAY} in sync" in resumed.out
    assert in_sync(cluster, topic)
    assert throttles(cluster, topic) == {}
    listed = cluster.history()[-1]
    assert (listed["kind"], listed["state"]) == ("catch-up", "completed")
    again = cluster.kadmin(*LINE)
    assert again.status == 0, again.err
    assert f"nothing to catch up: every replica of broker {AWAY} is in sync" in again.out
    assert cluster.history()[-1] == listed


@pytest.mark.matrix
def test_cancelled_it_is_throttled_no_longer(cluster: KraftCluster, topic: str) -> None:
    with without_broker(cluster, AWAY, topic):
        late = cluster.kadmin(*LINE, "--timeout", "15")
        assert late.status == 8, late.err
        assert "not in sync; remove it later with kadmin resume" in late.err
        assert throttles(cluster, topic)["brokers/1"] == SLOW
    cancelled = cluster.kadmin("cancel", "--yes")
    assert cancelled.status == 0, cancelled.err
    assert throttles(cluster, topic) == {}
    wait_until(lambda: in_sync(cluster, topic))


@pytest.mark.matrix
def test_its_rate_follows_the_clients(cluster: KraftCluster, topic: str) -> None:
    """They write to a follower that was away and to one that was not, and nobody waits."""
    connection, least = cluster.connection, 100_000
    written = [TopicPartition(make_topic(connection, {0: (1, each)}), 0) for each in (2, AWAY)]
    line = ("throttle", "catch-up", "--broker", str(AWAY), "--rate", f"{least}B/s..200MB/s")
    with ExitStack() as stack:
        with without_broker(cluster, AWAY, topic):
            runner = KadminProcess(connection.servers.addresses, *line, "--yes")
            stack.callback(runner.end)
            first = dict.fromkeys(RATES, str(least))
            wait_until(lambda: throttles(cluster, topic).get("brokers/1") == first)
        stack.enter_context(clients_write(connection.servers, written))
        wait_until(lambda: rate(cluster, topic) > 2 * least, 240)
        ended = runner.answer(480)
    assert ended.status == 0, ended.err
    assert in_sync(cluster, topic)
    assert throttles(cluster, topic) == {}
    shown = cluster.kadmin("history", cluster.history()[-1]["operation_id"]).out
    assert "(clients do not wait)" in shown


def rate(cluster: KraftCluster, topic: str) -> int:
    """Return the rate of the broker, 0 without one."""
    return int(throttles(cluster, topic).get(f"brokers/{AWAY}", {}).get(LEADER_RATE, 0))
