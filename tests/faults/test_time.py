"""No clock that jumps moves a deadline, and no command outlives its --timeout by more than two
seconds.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command, every_command
from support.controller.simple_controller import Manner
from support.documents.plans import document, reassignment
from typer.core import TyperGroup

from kadmin.cli.deadline import alarm
from kadmin.cli.inspect import TABLES
from kadmin.errors import NotCompletedError, StalePlanError, UnknownOutcomeError, UnreachableError
from kadmin.operations.context import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.controller.simple_controller import SimpleController

    from kadmin.errors import KadminError

HOUR_S = 3600.0
SLACK_S = 20.0
"""Far less than the minute a command has by itself; a busy machine may take some of it."""


@pytest.fixture(params=[(-HOUR_S, 0.0), (HOUR_S, 0.0)], ids=["back", "ahead"])
def jumping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wall clock jump to and fro, an hour at every look."""
    jumps, real = cycle(request.param), time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))


@pytest.mark.usefixtures("jumping")
def test_f30_deadlines_are_monotonic() -> None:
    started = time.monotonic()
    clock = Clock(started + 0.2)
    before = clock.now()
    clock.wait(30)
    assert clock.until <= time.monotonic() < started + 20.0
    assert clock.now() >= before


@pytest.mark.zookeeper
@pytest.mark.usefixtures("jumping")
def test_f30_a_plan_runs_and_times_out_as_ever(cluster: SimpleController, tmp_path: Path) -> None:
    cluster.create_topic("orders", {0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}))
    cluster.behave(Manner.BEGIN)
    started = time.monotonic()
    assert command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "2").status == 8
    assert 2 <= time.monotonic() - started < 2 + SLACK_S
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "30").status == 0


def commands() -> dict[str, set[str]]:
    """Return every command, as it is typed, with its options."""
    return {
        name: {option for parameter in each.params for option in parameter.opts}
        for name, each in every_command().items()
        if not isinstance(each, TyperGroup)
    }


def test_every_command_takes_a_timeout() -> None:
    assert [
        name for name, options in sorted(commands().items()) if "--timeout" not in options
    ] == []


@contextmanager
def silent_server() -> Iterator[str]:
    """Take connections and say nothing, as a server that stands still."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    kept.append(listener.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        host, port = listener.getsockname()
        yield f"{host}:{port}/kafka"
        listener.shutdown(socket.SHUT_RDWR)
    for each in kept:
        each.close()


ARGUMENTS = {
    "apply": ["PLAN", "--yes"],
    "resume": ["--yes"],
    "pause": [],
    "cancel": ["--yes"],
    "rollback": ["--yes"],
    "heal": ["--yes"],
    "doctor": [],
    "doctor migration": ["-b", "127.0.0.1:1"],
    "inspect admin": [],
    **{f"inspect {name}": [] for name in (*TABLES, "tree")},
    "inspect disks": [],
    "inspect znode": ["/controller"],
    "recreate": ["op", "--yes"],
    "consumers preview": ["--group", "readers", "--members", "2"],
    "consumers coordinator": ["readers"],
    "consumers disturbed": ["PLAN"],
    "broker list": [],
    "broker check": ["1", "--stop"],
    "whatif lose": ["--broker", "1"],
    "whatif plan": ["PLAN"],
    "throttle show": [],
    "throttle set": ["--rate", "1MB/s", "--yes"],
    "throttle clear": ["--yes"],
    "throttle audit": [],
    "throttle catch-up": ["--broker", "1", "--rate", "1MB/s", "--yes"],
    "verify": ["PLAN"],
    "diff": ["PLAN"],
    "report": [],
    "snapshot": ["--out", "OUT"],
    "sample": ["--out", "OUT"],
    "propose demotion": ["--broker", "1", "--out", "OUT"],
    **{f"broker {name}": ["1", "--yes"] for name in ("cordon", "uncordon", "unregister")},
    "propose decommission": ["--broker", "1", "--out", "OUT"],
    "propose recovery": ["--out", "OUT"],
    "propose maintenance": ["--broker", "1", "--out", "OUT"],
    "propose election": ["--out", "OUT"],
    "propose growth": ["orders", "--partitions", "9", "--out", "OUT"],
    "lock release": ["op", "--yes"],
    "status": [],
    "history": [],
    "history import": ["-b", "127.0.0.1:1"],
    "lock show": [],
}
"""What each command of a cluster is given here, beside the address."""


def test_every_command_of_a_cluster_is_tried() -> None:
    assert {name for name, options in commands().items() if "--zookeeper" in options} == set(
        ARGUMENTS
    )


@pytest.mark.parametrize("name", ARGUMENTS, ids=lambda name: f"F06-{name}")
def test_no_command_of_a_cluster_outlives_its_timeout(tmp_path: Path, name: str) -> None:
    plan = document(tmp_path / "plan.json", reassignment("orders", {0: [2, 3]}))
    given = [{"PLAN": plan, "OUT": tmp_path / "out"}.get(word, word) for word in ARGUMENTS[name]]
    with silent_server() as connect:
        started = time.monotonic()
        ended = command(*name.split(), *given, "-z", connect, "--timeout", "0.5")
        assert time.monotonic() - started < 0.5 + SLACK_S
    assert ended.status == 6, ended.err
    assert "takes connections but does not answer" in ended.err


def test_a_command_of_this_machine_ends_by_its_timeout(tmp_path: Path) -> None:
    entries = {number: [1, 2, 3] for number in range(200_000)}
    plan = document(tmp_path / "plan.json", reassignment("orders", entries))
    validate = [sys.executable, "-m", "kadmin", "validate", str(plan), "--timeout", "0.5"]
    late = subprocess.run(validate, capture_output=True, text=True, check=False, timeout=60)
    assert late.returncode == 8, late.stderr
    assert "run it again with a longer --timeout" in late.stderr


def test_an_alarm_that_was_lost_rings_again() -> None:
    with alarm(0.01):
        with suppress(NotCompletedError):  # as a finalizer does
            signal.pause()
        with pytest.raises(NotCompletedError):
            signal.pause()


@pytest.mark.parametrize("error", [UnknownOutcomeError("the write"), UnreachableError("the read")])
def test_what_is_on_its_way_out_is_reported_though_the_alarm_rings(error: KadminError) -> None:
    with pytest.raises(type(error), match=error.message), alarm(60.0):  # noqa: PT012 - what a dying run does
        try:
            raise error
        finally:
            with suppress(StalePlanError):
                signal.raise_signal(signal.SIGALRM)
