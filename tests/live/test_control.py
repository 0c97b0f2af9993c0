"""Pause, cancel and rollback, with and without a runner, on live brokers."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.steps import waves_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.on("0.10.2.2", "2.8.2", "3.9.2"),
]

WAVES = 3


def state_of(cluster: Cluster, operation: str) -> str:
    return next(
        found.status.state.value for found in cluster.history() if found.operation_id == operation
    )


def orders(cluster: Cluster, topic: str) -> list[tuple[int, ...] | None]:
    return [cluster.state(topic).replicas(TopicPartition(topic, number)) for number in range(WAVES)]


class Run:
    """A runner in its first wave, which is held up until `go`."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.topic = cluster.create_topic(dict.fromkeys(range(WAVES), (1, 2)))
        self.plan = document(
            folder / "plan.json",
            reassignment(
                self.topic, dict.fromkeys(range(WAVES), (2, 3)), waves={"max_partitions": 1}
            ),
        )
        self.operation = ""

    @contextmanager
    def in_its_first_wave(self) -> Iterator[subprocess.Popen[bytes]]:
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
        self.cluster.produce(self.topic, per_partition=200)
        with self.cluster.held_back(self.topic):
            runner = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            )
            try:
                wait_until(
                    lambda: {found.operation_id for found in self.cluster.history()} > known, 60
                )
                self.operation = next(
                    f.operation_id for f in self.cluster.history() if f.operation_id not in known
                )
                wait_until(lambda: waves_of(self.cluster.steps(self.operation)) == [0], 60)
                yield runner
            except BaseException:
                runner.kill()
                runner.wait()
                raise


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path) -> Run:
    return Run(cluster, tmp_path)


def test_f41_pause_lets_the_running_wave_end_and_resume_goes_on(
    cluster: Cluster, run: Run, tmp_path: Path
) -> None:
    """Asked from elsewhere, the runner stops at its next tick."""
    with run.in_its_first_wave() as runner:
        paused = cluster.kadmin("pause")
        assert paused.status == 0, paused.err
        assert "stops when the running wave is done" in paused.out
        assert "asked to pause" in cluster.kadmin("status").out
        assert runner.poll() is None, "what runs is followed to its end"
    _, story = runner.communicate(timeout=60)
    assert runner.returncode == 8, story.decode()
    assert b"paused" in story
    assert state_of(cluster, run.operation) == "paused"
    assert orders(cluster, run.topic) == [(2, 3), (1, 2), (1, 2)]
    assert cluster.kadmin("lock", "show").out.strip() == "the lock is free"

    other = document(tmp_path / "other.json", reassignment(run.topic, {1: [1, 3]}))
    busy = cluster.kadmin("apply", other, "--yes")
    assert busy.status == 5, busy.err
    assert f"kadmin resume {run.operation}, or kadmin cancel {run.operation}" in busy.err
    assert cluster.kadmin("rollback", "--yes").status == 5
    assert cluster.kadmin("pause").status == 0, "paused twice is paused"

    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("verify", run.plan).status == 0
    assert waves_of(cluster.steps(run.operation)) == [0, 1, 2]


def test_cancel_publishes_no_further_wave_and_rollback_restores_the_original_order(
    cluster: Cluster, run: Run
) -> None:
    written = cluster.produce(run.topic, per_partition=20)
    with run.in_its_first_wave() as runner:
        cancelled = cluster.kadmin("cancel", run.operation, "--yes")
        assert cancelled.status == 0, cancelled.err
        assert cluster.kadmin("pause").status == 0, "the stronger request holds"
    _, story = runner.communicate(timeout=60)
    assert runner.returncode == 8, story.decode()
    assert b"cancelled" in story
    assert state_of(cluster, run.operation) == "cancelled"
    assert orders(cluster, run.topic) == [(2, 3), (1, 2), (1, 2)]

    again = cluster.kadmin("resume", run.operation, "--yes")
    assert again.status == 0, again.err
    assert "already cancelled" in again.out
    assert cluster.kadmin("cancel", run.operation, "--yes").status == 0
    assert cluster.kadmin("verify", run.plan).status == 8
    assert orders(cluster, run.topic) == [(2, 3), (1, 2), (1, 2)]

    assert cluster.kadmin("rollback", "--dry-run").status == 0
    rolled = cluster.kadmin("rollback", "--yes")
    assert rolled.status == 0, rolled.err
    assert orders(cluster, run.topic) == [(1, 2), (1, 2), (1, 2)]
    twice = cluster.kadmin("rollback", "--yes")
    assert (twice.status, "nothing to do" in twice.out) == (0, True), twice.err
    for partition, records in written.items():
        assert cluster.read_back(run.topic)[partition][: len(records)] == records


@pytest.mark.matrix
def test_cancel_now_takes_back_what_runs(cluster: Cluster, run: Run) -> None:
    """The runner hears it, restores the original order and ends; nothing waits for the copies."""
    with run.in_its_first_wave() as runner:
        wait_until(lambda: orders(cluster, run.topic)[0] not in {(1, 2), None}, 60)
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        _, story = runner.communicate(timeout=120)
        assert runner.returncode == 8, story.decode()
        assert orders(cluster, run.topic) == [(1, 2), (1, 2), (1, 2)]
    assert state_of(cluster, run.operation) == "cancelled"
    assert cluster.get("/admin/reassign_partitions") is None
    cluster.controllers.wait()


@pytest.mark.parametrize(
    ("target", "state"),
    [pytest.param("pause", "paused", marks=pytest.mark.matrix), ("cancel", "cancelled")],
)
def test_without_a_runner_it_is_done_here(
    cluster: Cluster, run: Run, target: str, state: str
) -> None:
    with run.in_its_first_wave() as runner:
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
    stopped = cluster.kadmin(target, *(["--yes"] if target == "cancel" else []))
    assert stopped.status == 0, stopped.err
    assert state_of(cluster, run.operation) == state
    assert orders(cluster, run.topic) == [(2, 3), (1, 2), (1, 2)]
    assert cluster.kadmin("lock", "show").out.strip() == "the lock is free"
    if target == "pause":
        assert cluster.kadmin("cancel", "--yes").status == 0
        assert state_of(cluster, run.operation) == "cancelled"


def test_nothing_to_stop_and_nothing_to_roll_back(cluster: Cluster, tmp_path: Path) -> None:
    for command in (["pause"], ["cancel", "--yes"]):
        idle = cluster.kadmin(*command)
        assert (idle.status, "no operation is unfinished" in idle.out) == (0, True), idle.err
    assert cluster.kadmin("cancel", "--allow-foreign", "--yes").status == 64
    assert cluster.kadmin("pause", "no-such-operation").status == 3
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    moved_on = document(tmp_path / "moved-on.json", reassignment(topic, {0: [3, 4]}))
    first = next(found.operation_id for found in reversed(cluster.history()))
    assert cluster.kadmin("apply", moved_on, "--yes").status == 0
    stale = cluster.kadmin("rollback", first, "--yes")
    assert stale.status == 4, stale.err
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (3, 4)
    assert cluster.kadmin("rollback", "--yes").status == 0
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 3)
