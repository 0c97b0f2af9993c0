"""Sandboxes whose brokers have several disks, which fail and are repaired."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command

from kadmin.cluster.disks import DiskState
from kadmin.cluster.servers import Servers
from kadmin.errors import UsageError
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.disks import Disks, why_not
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from support.cli.in_process import Answer

    from kadmin.cluster.disks import Disk

needs_mounts = pytest.mark.skipif(why_not() is not None, reason=f"sized disks: {why_not()}")
SIZE_BYTES = 64_000_000
ONLINE, FAILED = DiskState.ONLINE, DiskState.FAILED


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "sandbox"
    command("sandbox", "down", "--dir", tmp_path / "sandbox")


def sandbox(folder: Path, *arguments: str) -> str:
    done = command("sandbox", *arguments, "--dir", folder)
    assert done.status == 0, done.err
    return done.out


def brokers(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sandbox(folder, "status", "-o", "json"))["brokers"]
    return found


def disks(folder: Path, broker_id: int) -> Sequence[Disk]:
    found = describe_log_dirs(Servers(Sandbox.load(folder).bootstrap), [broker_id])
    return found.disks[broker_id]


def states(folder: Path, broker_id: int) -> list[DiskState]:
    return [each.state for each in disks(folder, broker_id)]


@needs_mounts
@pytest.mark.live
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(("--kraft",), id="kraft", marks=pytest.mark.matrix),
        pytest.param((), id="zookeeper", marks=pytest.mark.matrix),
    ],
)
def test_disks_have_a_size_and_fail_and_are_repaired(mode: tuple[str, ...], folder: Path) -> None:
    """A disk that failed stays so when its broker starts; a broker ends with its last disk."""
    sandbox(folder, "up", *mode, "--brokers", "2", "--disks", "2:64MB")
    first, second = brokers(folder)[0]["log_dirs"]
    assert [each.path for each in disks(folder, 1)] == [first, second]
    if mode:
        assert {each.total_bytes for each in disks(folder, 1)} == {SIZE_BYTES // 4096 * 4096}
    sandbox(folder, "seed")
    said = sandbox(folder, "fail-disk", "1", "2")
    assert said == f"{second} has failed; broker 1 runs\n"
    assert states(folder, 1) == [ONLINE, FAILED]
    sandbox(folder, "stop-broker", "1")
    sandbox(folder, "start-broker", "1")
    assert states(folder, 1) == [ONLINE, FAILED]
    said = sandbox(folder, "repair-disk", "1", second)
    assert said == f"{second} is repaired, and broker 1 was restarted to read it\n"
    assert states(folder, 1) == [ONLINE, ONLINE]

    sandbox(folder, "add-broker")
    added = brokers(folder)[2]["log_dirs"]
    assert states(folder, 3) == [ONLINE, ONLINE]
    sandbox(folder, "fail-disk", "3", "1")
    said = sandbox(folder, "fail-disk", "3", "2")
    assert said == f"{added[1]} has failed; broker 3 does not run\n"
    said = sandbox(folder, "repair-disk", "3", "2")
    assert said == (
        f"{added[1]} is repaired; broker 3 does not run: "
        f"kadmin sandbox start-broker 3 --dir {folder}\n"
    )
    sandbox(folder, "start-broker", "3")
    assert states(folder, 3) == [FAILED, ONLINE]

    mounted = [each for broker in brokers(folder) for each in broker["log_dirs"]]
    sandbox(folder, "down")
    assert not any(each in mounts() for each in mounted)
    assert not folder.exists()


def mounts() -> list[str]:
    with open("/proc/self/mounts", encoding="utf-8") as lines:  # noqa: PTH123 - as the kernel has it
        return [line.split()[1] for line in lines]


@needs_mounts
@pytest.mark.live
def test_what_fails_at_the_start_leaves_no_mount(folder: Path) -> None:
    wrong = ("--brokers", "1", "--disks", "2:64MB", "--config", "log.segment.bytes=nonsense")
    up = command("sandbox", "up", "--dir", folder, "--kraft", *wrong)
    assert up.status == 8, up.err
    assert not [each for each in mounts() if each.startswith(str(folder))]


@needs_mounts
def test_mounts_of_a_command_that_was_killed_are_found(folder: Path) -> None:
    """The sandbox is on record before its disks are mounted."""
    spec = SandboxSpec(folder, brokers=1, disks=Disks(2, SIZE_BYTES))
    left = Sandbox.plan(spec)
    left.save()
    assert spec.disks is not None
    first, _ = left.log_dirs(1)
    spec.disks.make([first])
    up = command("sandbox", "up", "--dir", folder, "--disks", "2:64MB")
    assert up.status == 5
    assert "sandbox down" in up.err
    assert str(first) in mounts()
    sandbox(folder, "down")
    assert str(first) not in mounts()
    assert not folder.exists()


def test_without_root_a_size_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    refused = up(tmp_path, "--disks", "2:64MB")
    assert (refused.status, refused.err) == (
        3,
        (
            "error: Disks cannot have a size here: that needs root.\n"
            "  next:  name their number alone, as --disks 2\n"
        ),
    )
    assert not (tmp_path / "sandbox").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--version", "2.3.1", "--disks", "2"), "Kafka 2.3.1 in zookeeper mode"),
        (("--version", "3.3.2", "--kraft", "--disks", "2"), "Kafka 3.3.2 in kraft mode"),
        (("--tiered",), "no tier for Kafka 2.8.2"),
        (("--kraft", "--tiered"), "LocalTieredStorage, which is published up to Kafka 4.1"),
    ],
)
def test_versions_without_disks_or_a_tier_are_refused(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    refused = up(tmp_path, *arguments)
    assert refused.status == 3
    assert said in refused.err
    assert "by --version" in refused.err
    assert not (tmp_path / "sandbox").exists()


def up(tmp_path: Path, *arguments: str) -> Answer:
    return command("sandbox", "up", "--dir", tmp_path / "sandbox", *arguments)


def test_a_disk_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """So are disks of a sandbox that has none; nothing runs here."""
    plain, two = (
        Sandbox.plan(SandboxSpec(tmp_path / name, disks=of))
        for name, of in (("a", None), ("b", Disks(2)))
    )
    for each in (plain, two):
        each.save()
    for folder, disk, said in (
        ("a", "1", "The sandbox has no disks."),
        ("b", "3", "Broker 1 has no disk 3."),
        ("b", "/disk", "Broker 1 has no disk /disk."),
    ):
        for verb in ("fail-disk", "repair-disk"):
            refused = command("sandbox", verb, "1", disk, "--dir", tmp_path / folder)
            assert (refused.status, said in refused.err) == (3, True), refused.err


def test_a_number_and_a_size_are_read() -> None:
    assert Disks.parse("3") == Disks(3)
    assert Disks.parse("2:64MB") == Disks(2, SIZE_BYTES)
    for text in ("0", "two", "2:", "2:64", "2:1MB", "2:64MB/s", ":64MB", "-1", "100"):
        with pytest.raises(UsageError, match=f"--disks {text}"):
            Disks.parse(text)
