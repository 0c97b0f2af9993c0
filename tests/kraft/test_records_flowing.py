"""A throttled reassignment of several waves while records flow: whatever happens, no acknowledged
record is lost.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.kraft import make_topic
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.sandbox import Sandbox

ORIGIN, TARGET = (1, 2), (3, 4)
PARTITIONS = 3
DEADLINE_S = 300


class Reassigning:
    """`kadmin apply` of one partition per wave, as a process of its own; the second one has
    something to copy.
    """

    def __init__(self, cluster: KraftCluster, folder: Path, rate: str, records: int) -> None:
        self.cluster = cluster
        self.topic = make_topic(cluster.connection, dict.fromkeys(range(PARTITIONS), ORIGIN))
        self.partitions = [TopicPartition(self.topic, number) for number in range(PARTITIONS)]
        value = reassignment(
            self.topic,
            dict.fromkeys(range(PARTITIONS), TARGET),
            waves={"max_partitions": 1},
            throttle={"rate": rate},
            elect="at_end",
        )
        self.plan = document(folder / "plan.json", value)
        produce(
            Servers(cluster.sandbox.bootstrap),
            {self.partitions[1]: [b"x" * 1_000 for _ in range(records)]},
        )

    @contextmanager
    def started(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start the command and wait until its second wave is in flight."""
        command = [
            sys.executable,
            "-m",
            "kadmin",
            "apply",
            str(self.plan),
            "--yes",
            *self.cluster.options,
        ]
        runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            wait_until(
                lambda: self.partitions[1] in list_reassignments(self.cluster.connection), 120
            )
            yield runner
        finally:
            runner.kill()
            runner.wait()

    def orders(self) -> list[tuple[int, ...] | None]:
        state = read_cluster(self.cluster.connection, [self.topic])
        return [state.replicas(partition) for partition in self.partitions]

    def ended_well(self, runner: subprocess.Popen[bytes]) -> None:
        _, story = runner.communicate(timeout=DEADLINE_S)
        assert runner.returncode == 0, story.decode()
        assert self.orders() == [TARGET] * PARTITIONS
        assert self.cluster.kadmin("verify", self.plan).status == 0
        assert self.waves() == [1, 2, 3]
        self.leaves_nothing()

    def leaves_nothing(self) -> None:
        assert list_reassignments(self.cluster.connection) == {}
        assert read_own_configs(self.cluster.connection, [ConfigEntity.of_topic(self.topic)]) == {
            ConfigEntity.of_topic(self.topic): {}
        }

    def waves(self) -> list[int]:
        """Return the waves that were published, by the record of the last operation."""
        (shown,) = self.cluster.history(self.cluster.history()[-1]["operation_id"])
        steps = [event["step"] for event in shown["events"] if event["step"] is not None]
        return [step["wave"] for step in steps if step["kind"] == "wave"]


@pytest.mark.matrix
def test_it_runs_through(cluster: KraftCluster, tmp_path: Path) -> None:
    move = Reassigning(cluster, tmp_path, "5MB/s", 10_000)
    with (
        RecordsFlowing(cluster.sandbox.bootstrap, move.partitions) as flow,
        move.started() as runner,
    ):
        move.ended_well(runner)
    assert flow.lost() == []


@pytest.mark.matrix
def test_it_is_cancelled_in_the_middle_and_rolled_back(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    move = Reassigning(cluster, tmp_path, "100KB/s", 20_000)
    with (
        RecordsFlowing(cluster.sandbox.bootstrap, move.partitions) as flow,
        move.started() as runner,
    ):
        cancelled = cluster.kadmin("cancel", "--now", "--yes", "--timeout", "120")
        assert cancelled.status == 0, cancelled.err
        _, story = runner.communicate(timeout=DEADLINE_S)
        assert runner.returncode == 8, story.decode()
        assert move.orders() == [TARGET, ORIGIN, ORIGIN]
        move.leaves_nothing()
        rolled = cluster.kadmin("rollback", "--yes", "--timeout", "120")
        assert rolled.status == 0, rolled.err
        assert move.orders() == [ORIGIN] * PARTITIONS
        move.leaves_nothing()
    assert flow.lost() == []


@pytest.mark.matrix
def test_k14_a_target_broker_is_killed_in_the_middle(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    move = Reassigning(cluster, tmp_path, "200KB/s", 1_500)
    with (
        RecordsFlowing(cluster.sandbox.bootstrap, move.partitions) as flow,
        move.started() as runner,
    ):
        kraft.stop_broker(TARGET[1], kill=True)
        try:
            wait_until(lambda: TARGET[1] not in read_cluster(cluster.connection, []).brokers, 60)
            assert runner.poll() is None
        finally:
            kraft.start_broker(TARGET[1])
        move.ended_well(runner)
    assert flow.lost() == []


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("killed", marks=pytest.mark.executor),
        pytest.param("frozen", marks=pytest.mark.executor),
    ],
)
def test_k02_the_active_controller_is_lost_in_the_middle(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path, how: str
) -> None:
    move = Reassigning(cluster, tmp_path, "200KB/s", 1_500)
    with (
        RecordsFlowing(cluster.sandbox.bootstrap, move.partitions) as flow,
        move.started() as runner,
    ):
        before = describe_quorum(cluster.connection).leader_id
        if how == "killed":
            kraft.stop_controller(before, kill=True)
        else:
            kraft.freeze(before)
        try:
            wait_until(lambda: cluster.active_controller() not in {before, None}, 60)
            move.ended_well(runner)
        finally:
            if how == "killed":
                kraft.start_controller(before)
            else:
                kraft.thaw(before)
    assert flow.lost() == []
