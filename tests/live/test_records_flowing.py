"""A throttled reassignment of several waves while records flow: whatever happens, no acknowledged
record is lost.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.steps import waves_of

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.executor]

ORIGIN, TARGET = (1, 2), (3, 4)
PARTITIONS = 3


class Reassigning:
    """`kadmin apply` of one partition per wave, as a process of its own, and what became of it."""

    def __init__(self, cluster: Cluster, folder: Path, rate: str) -> None:
        self.cluster = cluster
        self.topic = cluster.create_topic(dict.fromkeys(range(PARTITIONS), ORIGIN))
        self.partitions = [TopicPartition(self.topic, number) for number in range(PARTITIONS)]
        value = reassignment(
            self.topic,
            dict.fromkeys(range(PARTITIONS), TARGET),
            waves={"max_partitions": 1},
            throttle={"rate": rate},
            elect="at_end",
        )
        self.plan = document(folder / "plan.json", value)
        self.operation = ""

    def start(self) -> subprocess.Popen[bytes]:
        known = {found.operation_id for found in self.cluster.history()}
        command = [
            sys.executable,
            "-m",
            "kadmin",
            "apply",
            str(self.plan),
            "--yes",
            "-z",
            self.cluster.connect,
        ]
        runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_until(lambda: {found.operation_id for found in self.cluster.history()} > known, 60)
        self.operation = next(
            f.operation_id for f in self.cluster.history() if f.operation_id not in known
        )
        return runner

    def wait_for_wave(self, number: int) -> None:
        wait_until(lambda: self.waves() == list(range(number + 1)), 120)
        moving = self.partitions[number]
        wait_until(lambda: self.cluster.state(self.topic).replicas(moving) != ORIGIN, 60)

    def waves(self) -> list[int]:
        return waves_of(self.cluster.steps(self.operation))

    def orders(self) -> list[tuple[int, ...] | None]:
        state = self.cluster.state(self.topic)
        return [state.replicas(partition) for partition in self.partitions]

    def load(self, number: int, records: int) -> None:
        """Give one partition something to copy."""
        partition = self.partitions[number]
        self.cluster.produce_to(partition, [b"x" * 1_000 for _ in range(records)])


def ended_well(runner: subprocess.Popen[bytes]) -> None:
    _, story = runner.communicate(timeout=300)
    assert runner.returncode == 0, story.decode()


def test_it_runs_through(cluster: Cluster, tmp_path: Path) -> None:
    move = Reassigning(cluster, tmp_path, "5MB/s")
    for number in range(PARTITIONS):
        move.load(number, 500)
    with RecordsFlowing(cluster.bootstrap, move.partitions) as flow:
        ended_well(move.start())
    assert flow.lost() == []
    assert move.orders() == [TARGET] * PARTITIONS
    assert move.waves() == [0, 1, 2]
    assert cluster.throttles(move.topic) == {}
    assert cluster.kadmin("verify", move.plan).status == 0


def test_it_is_cancelled_in_the_middle_and_rolled_back(cluster: Cluster, tmp_path: Path) -> None:
    move = Reassigning(cluster, tmp_path, "100KB/s")
    move.load(1, 20_000)  # three minutes and more at this rate: the second wave is still at it
    with RecordsFlowing(cluster.bootstrap, move.partitions) as flow:
        runner = move.start()
        move.wait_for_wave(1)
        cancelled = cluster.kadmin("cancel", "--now", "--yes", "--timeout", "150")
        assert cancelled.status == 0, cancelled.err
        _, story = runner.communicate(timeout=200)
        assert runner.returncode == 8, story.decode()
        assert move.orders() == [TARGET, ORIGIN, ORIGIN]
        assert cluster.throttles(move.topic) == {}
        cluster.controllers.wait()
        rolled = cluster.kadmin("rollback", "--yes", "--timeout", "150")
        assert rolled.status == 0, rolled.err
    assert flow.lost() == []
    assert move.orders() == [ORIGIN] * PARTITIONS
    assert cluster.throttles(move.topic) == {}


@pytest.mark.parametrize("victim", ["target broker", "controller"])
def test_a_broker_is_killed_in_the_middle(
    cluster: Cluster, live: Sandbox, tmp_path: Path, victim: str
) -> None:
    move = Reassigning(cluster, tmp_path, "200KB/s")
    move.load(1, 2_000)
    with RecordsFlowing(cluster.bootstrap, move.partitions) as flow:
        runner = move.start()
        move.wait_for_wave(1)
        broker = TARGET[1] if victim == "target broker" else cluster.controller()
        live.stop_broker(broker, kill=True)
        wait_until(lambda: broker not in cluster.state(move.topic).brokers, 60)
        assert runner.poll() is None
        live.start_broker(broker)
        ended_well(runner)
    assert flow.lost() == []
    assert move.orders() == [TARGET] * PARTITIONS
    waves = move.waves()
    # Up to 2.3 a union that a controller leaves behind is repaired by publishing the same wave
    # again.
    assert (waves if cluster.has_reassignment_api else list(dict.fromkeys(waves))) == [0, 1, 2]
    assert cluster.throttles(move.topic) == {}
    cluster.controllers.wait()
