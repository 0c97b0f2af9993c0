"""The sandbox itself, through its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.cli.in_process import command
from support.live.waiting import wait_until

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.layout import STATE
from kadmin.sandbox.processes import Process, start

pytestmark = pytest.mark.live


@pytest.mark.eras
def test_a_whole_life_with_three_zookeepers_beside_another_sandbox(
    tmp_path: Path, zookeeper: Sandbox
) -> None:
    folder = tmp_path / "sandbox"
    up = command(
        "sandbox",
        "up",
        "--dir",
        folder,
        "--brokers",
        "2",
        "--zookeepers",
        "3",
        "--chroot",
        "/a/b",
        "-o",
        "json",
    )
    try:
        assert up.status == 0, up.err
        value = json.loads(up.out)
        assert value["connect"].endswith("/a/b")
        assert len(value["zookeepers"]) == 3
        assert [broker["rack"] for broker in value["brokers"]] == ["r1", "r2"]

        assert command("sandbox", "up", "--dir", folder).status == 5, "one folder, one sandbox"
        assert command("sandbox", "stop-broker", "2", "--dir", folder).status == 0
        assert [broker["alive"] for broker in json.loads(status(folder))["brokers"]] == [
            True,
            False,
        ]
        assert command("sandbox", "start-broker", "2", "--dir", folder).status == 0
        assert [broker["alive"] for broker in json.loads(status(folder))["brokers"]] == [True, True]
        assert command("sandbox", "stop-broker", "7", "--dir", folder).status == 3
        processes = [
            *Sandbox.load(folder).brokers.values(),
            *Sandbox.load(folder).zookeepers.values(),
        ]
    finally:
        down = command("sandbox", "down", "--dir", folder)
    assert down.status == 0, down.err
    assert not any(process.alive for process in processes)
    assert not folder.exists()
    assert all(process.alive for process in zookeeper.zookeepers.values()), (
        "the other sandbox lives on"
    )
    assert command("sandbox", "down", "--dir", folder).status == 0, "twice is fine"


def status(folder: Path) -> str:
    answer = command("sandbox", "status", "--dir", folder, "-o", "json")
    assert answer.status == 0, answer.err
    return answer.out


def test_a_broker_that_another_value_restarted_is_ended_too(tmp_path: Path) -> None:
    """Every Sandbox value reads from the folder which processes run."""
    folder = tmp_path / "a folder of Zoë"
    first = Sandbox.up(SandboxSpec(folder, brokers=1))
    other = Sandbox.load(folder)
    try:
        first.stop_broker(1, kill=True)
        first.start_broker(1)
        restarted = other.brokers[1]
        assert restarted.alive
        assert (folder / "broker-1" / "data").is_dir()
    finally:
        other.down()
    assert not Process(restarted.pid, restarted.started).alive
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_broker_that_ends_at_its_start_is_reported_with_its_log_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    spec = SandboxSpec(tmp_path / "sandbox", brokers=1, broker_config={"num.io.threads": "none"})
    with pytest.raises(NotCompletedError, match="Broker 1 ended before it was ready") as refused:
        Sandbox.up(spec)
    assert "num.io.threads" in (refused.value.cause or "")
    assert not (tmp_path / "sandbox").exists()


@pytest.mark.eras
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param((), id="zookeeper", marks=pytest.mark.matrix),
        pytest.param(("--kraft",), id="kraft"),
    ],
)
def test_a_broker_that_is_added_serves_on_its_rack_and_has_nothing(
    mode: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "sandbox"
    assert command("sandbox", "up", "--dir", folder, "--brokers", "1", *mode).status == 0
    try:
        assert command("sandbox", "seed", "--dir", folder).status == 0
        added = command("sandbox", "add-broker", "--dir", folder, "--rack", "far", "-o", "json")
        assert added.status == 0, added.err
        assert added.out == status(folder)
        brokers = json.loads(added.out)["brokers"]
        assert [(each["broker_id"], each["rack"], each["alive"]) for each in brokers] == [
            (1, "r1", True),
            (2, "far", True),
        ]
        bootstrap = ",".join(json.loads(added.out)["bootstrap"])
        seen = json.loads(command("inspect", "brokers", "-b", bootstrap, "-o", "json").out)[
            "brokers"
        ]
        assert [(each["broker_id"], each["rack"], each["replicas"]) for each in seen][1:] == [
            (2, "far", 0)
        ]
        assert seen[0]["replicas"] > 0
        broken = replace(
            Sandbox.load(folder), spec=SandboxSpec(folder, broker_config={"num.io.threads": "none"})
        )
        with pytest.raises(NotCompletedError, match="Broker 3 ended before it was ready"):
            broken.add_broker()
        assert not (folder / "broker-3").exists()
        assert json.loads(status(folder))["brokers"] == brokers
    finally:
        assert command("sandbox", "down", "--dir", folder).status == 0


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    assert command("sandbox", "up", "--dir", tmp_path).status == 3
    assert (tmp_path / "thesis.txt").exists()


def test_beside_a_sandbox_nothing_is_said_to_start_and_its_status_is_named(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text("{}")
    refused = command("sandbox", "up", "--dir", tmp_path)
    assert (refused.status, refused.err) == (
        5,
        (
            f"error: There is a sandbox in {tmp_path} already.\n"
            f"  next:  kadmin sandbox status --dir {tmp_path}; or kadmin sandbox down --dir "
            f"{tmp_path}\n"
        ),
    )
    status = command("sandbox", "status", "--dir", tmp_path)
    assert status.status == 3
    assert "does not describe a sandbox of this version of kadmin" in status.err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--zookeepers", "2"],
        ["--version", "0.7"],
        ["--config", "novalue"],
        ["--config", "broker.id=7"],
        ["--chroot", "kafka"],
        ["--kraft", "--version", "2.8.2"],
        ["--kraft", "--zookeepers", "3"],
        ["--version", "4.4.0", "--chroot", "/kafka"],
        ["--kraft", "--config", "node.id=7"],
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_starts(
    tmp_path: Path, wrong: list[str]
) -> None:
    refused = command("sandbox", "up", "--dir", tmp_path / "sandbox", *wrong)
    assert refused.status in {3, 64}
    assert not (tmp_path / "sandbox").exists()


def test_a_process_with_a_reused_id_is_not_ours(tmp_path: Path) -> None:
    """Its start time is another one."""
    sleeper = start(["sleep", "60"], tmp_path / "log", tmp_path / "process.json")
    try:
        assert sleeper.alive
        impostor = Process(sleeper.pid, "1")
        assert not impostor.alive
        impostor.stop(kill=True)
        assert sleeper.alive
    finally:
        sleeper.stop()
    assert not sleeper.alive


def test_no_thread_of_a_frozen_process_runs(tmp_path: Path) -> None:
    spin = (
        "import threading\nfor _ in range(8): threading.Thread(target=lambda: [0 for _ in "
        "iter(int, 1)]).start()"
    )
    process = start([sys.executable, "-c", spin], tmp_path / "log", tmp_path / "record")
    threads = Path(f"/proc/{process.pid}/task")
    try:
        wait_until(lambda: len(list(threads.iterdir())) == 9)
        process.freeze()
        assert {
            each.read_text().rpartition(")")[2].split()[0] for each in threads.glob("*/stat")
        } == {"T"}
        process.thaw()
        assert process.alive
    finally:
        process.stop(kill=True)
    assert not process.alive


def test_stopping_a_process_that_has_ended_is_fine() -> None:
    ended = subprocess.Popen(["true"])
    process = Process(ended.pid, "0")
    ended.wait()
    assert not process.alive
    process.stop()


def test_zookeeper_mode_ended_with_4_0(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"4\.4\.0 has no ZooKeeper mode"):
        Sandbox.up(SandboxSpec(tmp_path / "sandbox", version="4.4.0"))
