"""A signal in every phase of an apply: it stops at a safe point, and what is on record is whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import Manner
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, request_of, request_with
from support.zookeeper.fault_proxy import EXISTS, MULTI, PUBLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.controller.simple_controller import SimpleController
    from support.network.frame_proxy import Frame
    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper

NODE = "/admin/reassign_partitions"
STATUSES = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}

# Where the signal comes: before this request passes.
PHASES: dict[str, Callable[[], Callable[[Frame], bool]]] = {
    "before-lock": lambda: request_of(EXISTS),
    "record-half-written": lambda: request_with(MULTI, b"/record/000000"),
    "between-waves": lambda: nth(2, PUBLISH),
    "election": lambda: request_with(MULTI, b"/admin/preferred_replica_election"),
}


def nth(number: int, matches: Callable[[Frame], bool]) -> Callable[[Frame], bool]:
    """Match the n-th frame that matches."""
    seen: list[Frame] = []

    def last(frame: Frame) -> bool:
        if matches(frame):
            seen.append(frame)
        return matches(frame) and len(seen) == number

    return last


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2], 1: [1, 2]})
    targets = {0: [2, 1], 1: [2, 3]}
    value = reassignment("orders", targets, waves={"max_partitions": 1}, elect="at_end")
    return document(tmp_path / "plan.yaml", value)


class Apply:
    """An apply in a process of its own; ended at the end, whatever became of it."""

    def __init__(self, plan: Path, connect: str) -> None:
        line = [
            sys.executable,
            "-m",
            "kadmin",
            "apply",
            str(plan),
            "--yes",
            "-z",
            connect,
            "--timeout",
            "60",
        ]
        self._process = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def takes(self, number: int) -> bool:
        """Whether the process handles a signal itself."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (number - 1) & 1)

    def ended(self) -> tuple[int, str]:
        _, story = self._process.communicate(timeout=60)
        return self._process.returncode, story

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def applying(plan: Path, broken: str) -> Iterator[Callable[[], Apply]]:
    started: list[Apply] = []

    def start() -> Apply:
        started.append(Apply(plan, broken))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.mark.parametrize("number", STATUSES, ids=lambda number: f"F28-{number.name}")
@pytest.mark.parametrize("phase", PHASES)
def test_a_signal_stops_at_a_safe_point_with_the_record_whole(
    cluster: SimpleController,
    proxy: FaultProxy,
    applying: Callable[[], Apply],
    phase: str,
    number: signal.Signals,
) -> None:
    runner: list[Apply] = []
    proxy.faults = [Fault(Action.CALL, PHASES[phase](), then=lambda: runner[0].send(number))]
    runner.append(applying())
    status, story = runner[0].ended()
    assert status == STATUSES[number], story
    assert "Traceback" not in story
    assert cluster.get("/kadmin/lock") is None
    operations = cluster.operations()
    if phase == "before-lock":
        assert operations == []
        return
    assert [each["state"] for each in operations] == ["running"]
    assert f"kadmin resume {operations[0]['id']}" in story
    resumed = command("resume", "--yes", "-z", cluster.connect, "--timeout", "60")
    assert resumed.status == 0, resumed.err
    assert cluster.replicas("orders") == {0: [2, 1], 1: [2, 3]}
    assert [step["wave"] for step in cluster.steps("wave")] == [0, 1]
    assert set(cluster.leaders("orders").values()) == {2}


@pytest.mark.parametrize("number", STATUSES, ids=lambda number: f"F28-{number.name}")
def test_a_signal_while_a_wave_runs_leaves_it_running(
    cluster: SimpleController, applying: Callable[[], Apply], number: signal.Signals
) -> None:
    cluster.behave(Manner.BEGIN)
    runner = applying()
    wait_until(lambda: cluster.get(NODE) is not None)
    runner.send(number)
    status, story = runner.ended()
    assert status == STATUSES[number], story
    assert "kadmin resume" in story
    assert cluster.get(NODE) is not None
    assert cluster.get("/kadmin/lock") is None


def test_f28_a_second_signal_ends_it_at_once(
    cluster: SimpleController, proxy: FaultProxy, applying: Callable[[], Apply]
) -> None:
    """Even where the first still waits for an answer that does not come."""
    runner: list[Apply] = []

    def twice() -> None:
        runner[0].send(signal.SIGINT)
        wait_until(lambda: not runner[0].takes(signal.SIGINT), 10)
        runner[0].send(signal.SIGINT)

    proxy.faults = [Fault(Action.HOLD, PUBLISH, then=twice)]
    runner.append(applying())
    status, _ = runner[0].ended()
    assert status == -signal.SIGINT
    assert cluster.operations()[-1]["state"] == "running"
