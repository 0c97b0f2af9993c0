"""A run in ZooKeeper mode whose rate follows its clients and has hours, killed and resumed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.plan.throttle import LEADER_RATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.on("2.8.2")]

LEAST = 1_000_000
WAIT_S = 120
ALWAYS = {"within": ["00:00-12:00", "12:00-00:00"], "zone": "UTC", "outside": "pause"}


def rate(cluster: Cluster) -> int:
    """Return the rate of broker 1, 0 without one."""
    return int(cluster.config("brokers/1").get(LEADER_RATE, 0))


@contextmanager
def at_work(cluster: Cluster, *words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a process that is killed with the block."""
    line = [sys.executable, "-m", "kadmin", *map(str, words), "--yes", "-z", cluster.connect]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as runner:
        try:
            yield runner
        finally:
            runner.kill()


@pytest.mark.matrix
def test_a_killed_run_goes_on_from_its_last_rate_and_leaves_no_throttle(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    cluster.produce_to(TopicPartition(topic, 0), [b"x" * 900_000] * 80)
    throttle = {"rate": {"min": f"{LEAST}B/s", "max": "200MB/s"}}
    value = reassignment(topic, {0: (3, 4)}, throttle=throttle, hours=ALWAYS)
    with at_work(cluster, "apply", document(tmp_path / "plan.json", value)) as runner:
        wait_until(lambda: rate(cluster) > LEAST, WAIT_S)
        assert runner.poll() is None
    last = rate(cluster)
    assert last > LEAST, "killed, it is still throttled"
    wait_until(lambda: cluster.kadmin("lock", "show").out.strip() == "the lock is free", WAIT_S)
    with at_work(cluster, "resume") as runner:
        held = f"(pid {runner.pid})"
        wait_until(lambda: held in cluster.kadmin("lock", "show").out, WAIT_S)
        wait_until(lambda: rate(cluster) >= last, WAIT_S)
        changed = cluster.kadmin("throttle", "set", "--rate", "80MB/s", "--yes")
        assert changed.status == 0, changed.err
        assert runner.wait(WAIT_S) == 0
    assert cluster.throttles(topic) == {}
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (3, 4)
    shown = cluster.kadmin("history", cluster.history()[-1].operation_id).out
    assert "changed the throttle to 1.16 MB/s (clients do not wait)" in shown
