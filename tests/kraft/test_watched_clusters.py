"""Several live clusters on one screen: an operation is throttled, paused and cancelled by keys, as
the commands do it; in a pipe the same clusters are lines.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.terminal import Terminal
from support.documents.plans import contexts, document, reassignment
from support.kafka.processes import LEASE_S, KadminProcess
from support.live.kraft import make_topic

from kadmin.cluster.model import TopicPartition
from kadmin.report.operations.clusters_screen import KEYS
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.open import LEASE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

pytestmark = [pytest.mark.live, pytest.mark.on("4.4.0"), pytest.mark.matrix]

HELD, FREE = "1B/s", "80MB/s"
WATCH = ("status", "--watch", "--context", "prod-*")
WIDE = 200
"""Columns in which no answer of a command is broken."""
YES_OR_NO = "[y/N]:"


@pytest.fixture(scope="module")
def idle(kraft: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A second cluster, of one broker."""
    folder = tmp_path_factory.mktemp("idle") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, kraft.spec.version, brokers=1, mode="kraft"))
    yield sandbox
    sandbox.down()


@pytest.fixture
def environment(cluster: KraftCluster, idle: Sandbox, tmp_path: Path) -> dict[str, str]:
    addresses = {
        "prod-busy": cluster.sandbox.bootstrap,
        "prod-gone": ["127.0.0.1:1"],
        "prod-idle": idle.bootstrap,
        "test": ["127.0.0.1:1"],
    }
    entries = {
        name: {"kafka": {"bootstrap_servers": ",".join(each)}} for name, each in addresses.items()
    }
    named = contexts(tmp_path / "contexts.json", entries)
    return {**named, LEASE_VARIABLE: f"{LEASE_S:.0f}"}


@pytest.fixture
def plan(cluster: KraftCluster, tmp_path: Path) -> Path:
    """Three waves, of which the first two copy 9 MB at one byte per second."""
    topic = make_topic(cluster.connection, dict.fromkeys(range(3), (1, 2)))
    copied = [TopicPartition(topic, number) for number in range(2)]
    produce(cluster.connection.servers, dict.fromkeys(copied, [b"x" * 900_000] * 10))
    targets = dict.fromkeys(range(3), (3, 4))
    value = reassignment(topic, targets, waves={"max_partitions": 1}, throttle={"rate": HELD})
    return document(tmp_path / "plan.json", value)


def press(terminal: Terminal, key: str, yes: str, result: str) -> None:
    """Press a key on the screen, answer the question of its command, and go back to the screen."""
    terminal.type(key, KEYS)
    terminal.answer(yes, YES_OR_NO)
    terminal.wait_for(result)
    go_back(terminal)


def set_rate(terminal: Terminal, rate: str) -> None:
    terminal.type("t", KEYS)
    terminal.answer(rate, "(Enter: as it is):")
    terminal.answer("y", YES_OR_NO)
    go_back(terminal)


def go_back(terminal: Terminal) -> None:
    terminal.answer("", "Enter goes back to the screen:")
    terminal.wait_for(KEYS)


def test_an_operation_is_paused_throttled_and_cancelled_by_keys(
    cluster: KraftCluster, environment: dict[str, str], plan: Path
) -> None:
    bootstrap = cluster.sandbox.bootstrap
    runner = KadminProcess(bootstrap, "apply", plan, "--yes")
    watch = [sys.executable, "-m", "kadmin", *WATCH]
    with Terminal(watch, environment, columns=WIDE) as terminal:
        terminal.wait_for("published wave 1 of 3")
        terminal.wait_for("prod-gone  Nothing listens at 127.0.0.1:1.")
        terminal.wait_for("prod-idle  no operation is unfinished")
        terminal.type("p", KEYS)
        terminal.answer("n", YES_OR_NO)
        press(terminal, "p", "y", "stops when the running wave is done")
        assert not runner.ended, "the wave is followed to its end"
        set_rate(terminal, FREE)
        assert runner.answer().status == 8
        terminal.wait_for("  paused  ")
        set_rate(terminal, HELD)
        resumed = KadminProcess(bootstrap, "resume", "--yes")
        terminal.wait_for("published wave 2 of 3")
        press(terminal, "c", "n", "Not confirmed; nothing was changed.")
        press(terminal, "c", "y", "stops when the running wave is done")
        set_rate(terminal, FREE)
        assert resumed.answer().status == 8
        terminal.wait_for("> prod-busy  no operation is unfinished;")
        terminal.type("q", KEYS)
        assert terminal.ended() == 6
        assert terminal.modes == terminal.modes_before
    assert cluster.history()[-1]["state"] == "cancelled"


def test_a_pipe_gets_lines_with_the_context_and_an_outage_of_one_is_a_line(
    cluster: KraftCluster, environment: dict[str, str], plan: Path
) -> None:
    cluster.leave_in_flight(plan, step=2)
    (operation,) = (each for each in cluster.history() if each["state"] == "running")
    shown = command(*WATCH, "--timeout", "20", environment=environment)
    first = {line.partition(": ")[0]: line for line in reversed(shown.out.splitlines())}
    assert shown.status == 6, shown.err
    assert sorted(first) == ["prod-busy", "prod-gone", "prod-idle"]
    name = f"operation {operation['operation_id']} (reassignment, interrupted): wave 1 of 3"
    assert f"Z {name}, 0/3 done" in first["prod-busy"]
    told = command(*WATCH, "--timeout", "20", "-o", "json", environment=environment)
    values = [json.loads(line) for line in told.out.splitlines()]
    assert [validate_value(each, "answers/status-watch") for each in values] == [[]] * len(values)
    found = {each["context"]: each for each in values}
    assert found["prod-idle"]["operations"] == []
    assert found["prod-busy"]["operations"][0]["operation_id"] == operation["operation_id"]
    assert found["prod-gone"]["error"]["message"] == "Nothing listens at 127.0.0.1:1."
