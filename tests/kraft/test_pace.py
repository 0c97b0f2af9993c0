"""A run whose rate follows its clients, on brokers: commit delays, every rate on record, a kill."""

from __future__ import annotations

import json
import re
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.kafka.processes import KadminProcess
from support.live.clients import clients_write
from support.live.kraft import make_topic, set_configs, without_broker
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.offsets import LogEnd
from kadmin.operations.observers.commit_delays import CommitDelays
from kadmin.plan.commit_delay import watched
from kadmin.plan.throttle import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE
from kadmin.worlds.kafka.brokers import KafkaBrokers
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

pytestmark = [pytest.mark.live, pytest.mark.on("4.4.0")]

LEAST = 1_000_000
LATE = 4
WAIT_S = 120


def rates(cluster: KraftCluster) -> set[int]:
    """Return the rates that brokers have."""
    shown = json.loads(cluster.kadmin("throttle", "show", "-o", "json").out)
    return {
        int(each["values"][LEADER_RATE])
        for each in shown["throttles"]
        if LEADER_RATE in each["values"]
    }


def on_record(cluster: KraftCluster) -> int:
    """Return the last rate of the unfinished operation."""
    (found,) = json.loads(cluster.kadmin("status", "-o", "json").out)["operations"]
    return int(found["throttle"])


@contextmanager
def held_back_alone(cluster: KraftCluster, follower: int, topic: str) -> Iterator[None]:
    """Let one follower copy what it misses of a topic at one byte per second."""
    connection, broker = cluster.connection, ConfigEntity.of_broker(follower)
    set_configs(connection, ConfigEntity.of_topic(topic), [FOLLOWER_REPLICAS], "*")
    set_configs(connection, broker, [FOLLOWER_RATE], "1", follower)
    try:
        yield
    finally:
        set_configs(connection, broker, [FOLLOWER_RATE], None, follower)
        set_configs(connection, ConfigEntity.of_topic(topic), [FOLLOWER_REPLICAS], None)


@pytest.mark.matrix
def test_a_killed_run_goes_on_from_its_last_rate_and_leaves_no_throttle(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    produce(cluster.connection.servers, {partition: [b"x" * 900_000] * 80})
    throttle = {"rate": {"min": f"{LEAST}B/s", "max": "200MB/s"}}
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: (3, 4)}, throttle=throttle))
    with ExitStack() as stack:
        runner = KadminProcess(cluster.connection.servers.addresses, "apply", plan, "--yes")
        stack.callback(runner.end)
        wait_until(lambda: max(rates(cluster), default=0) > LEAST, WAIT_S)
        assert not runner.ended, runner.told
    assert max(rates(cluster)) <= on_record(cluster), "what is set is on record"
    wait_until(lambda: cluster.kadmin("lock", "show").out.strip() == "the lock is free", WAIT_S)
    last = on_record(cluster)
    with ExitStack() as stack:
        runner = KadminProcess(cluster.connection.servers.addresses, "resume", "--yes")
        stack.callback(runner.end)
        held = f"(pid {runner.pid})"
        wait_until(lambda: held in cluster.kadmin("lock", "show").out, WAIT_S)
        wait_until(lambda: max(rates(cluster)) >= last, WAIT_S)
        assert on_record(cluster) >= last
        changed = cluster.kadmin("throttle", "set", "--rate", "80MB/s", "--yes")
        assert changed.status == 0, changed.err
        ended = runner.answer()
    assert ended.status == 0, ended.err
    assert rates(cluster) == set()
    shown = cluster.kadmin("history", cluster.history()[-1]["operation_id"]).out
    assert "changed the throttle to 1.16 MB/s (clients do not wait)" in shown


@pytest.mark.matrix
def test_rates_go_down_while_a_follower_of_another_topic_is_out_of_sync(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """It restarts, and a rate of its own keeps it from the ISR until that is taken away."""
    connection, least = cluster.connection, 100_000
    moved = make_topic(connection, {0: (1, 2)})
    other = make_topic(connection, {0: (1, LATE)})
    produce(connection.servers, {TopicPartition(moved, 0): [b"x" * 900_000] * 80})
    throttle = {"rate": {"min": f"{least}B/s", "max": "200MB/s"}}
    plan = document(tmp_path / "plan.json", reassignment(moved, {0: (3, 2)}, throttle=throttle))
    line = ("apply", plan, "--yes", "--metrics", tmp_path / "metrics")
    with ExitStack() as stack:
        with held_back_alone(cluster, LATE, other):
            runner = KadminProcess(connection.servers.addresses, *line)
            stack.callback(runner.end)
            wait_until(lambda: max(rates(cluster), default=0) > least, WAIT_S)
            with without_broker(cluster, LATE, other):
                pass
            wait_until(lambda: f"out_of_sync is 1, not below 1: {other}-0" in runner.told, WAIT_S)
            wait_until(lambda: rates(cluster) == {least}, WAIT_S)
            assert on_record(cluster) == least
            shown = (tmp_path / "metrics").read_text()
            assert re.search(
                r'^kadmin_operation_signal\{.*name="out_of_sync".*\} 1$', shown, re.MULTILINE
            )
        wait_until(lambda: "pace: out_of_sync is 0, below 1" in runner.told, WAIT_S)
        changed = cluster.kadmin("throttle", "set", "--rate", "80MB/s", "--yes")
        assert changed.status == 0, changed.err
        ended = runner.answer()
    assert ended.status == 0, ended.err
    assert rates(cluster) == set()
    shown = cluster.kadmin("history", cluster.history()[-1]["operation_id"]).out
    assert f"(out_of_sync is 1, not below 1: {other}-0)" in shown


def test_commit_delays_are_those_of_partitions_that_clients_write_to(
    cluster: KraftCluster,
) -> None:
    """A leader answers its log end (replica -2) at once, its high watermark once followers have it.

    Where a follower is stopped, commits are open until it has left the ISR or is back.
    """
    written, idle = (
        make_topic(cluster.connection, {0: (1, 3)}),
        make_topic(cluster.connection, {0: (1, 2)}),
    )
    busy = TopicPartition(written, 0)
    brokers = KafkaBrokers(cluster.connection.servers)
    with closing(CommitDelays(brokers)) as delays:
        state = read_cluster(cluster.connection, [written, idle])
        delays.watch(watched(state, {(1, 3)}, ()))
        began = time.monotonic()
        with clients_write(cluster.connection.servers, [busy]):
            wait_until(lambda: len(delays.since(began)) >= 5, WAIT_S)
        found = delays.since(began)
    assert {each.partition for each in found} == {busy}
    assert all(each.pairs == {(1, 3)} and each.is_over for each in found)
    with closing(KafkaBrokers(cluster.connection.servers)) as asked:
        for end in (LogEnd.WRITTEN, LogEnd.LAST):
            answers = asked.log_offsets({1: [busy]}, end, 10.0)
            assert answers.given[1].offsets[busy] > 0
