"""Disks of live brokers in both modes, as `inspect disks`, `snapshot` and `doctor` show them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.eras.disks import BYTES
from support.live.waiting import wait_until

from kadmin.inventory import read_inventory
from kadmin.sandbox.disks import Disks, why_not
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from support.cli.in_process import Answer
    from support.eras.disks import DiskCluster

pytestmark = [pytest.mark.live, pytest.mark.eras]
OF_MOVES = ("arriving", "arriving_bytes", "leaving")


def kadmin(disks: DiskCluster, *arguments: str | Path) -> Answer:
    where = (
        {"KADMIN_BOOTSTRAP_SERVER": ",".join(disks.sandbox.bootstrap)}
        if disks.sandbox.spec.kraft
        else {"KADMIN_ZOOKEEPER": disks.sandbox.connect_string}
    )
    return command(*arguments, environment=where)


def asked(disks: DiskCluster, *arguments: str | Path) -> dict[str, Any]:
    answer = kadmin(disks, *arguments, "-o", "json")
    assert answer.out, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    return value


def rows(disks: DiskCluster, *arguments: str | Path) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the rows of `inspect disks`, by broker and path."""
    value = asked(disks, "inspect", "disks", *arguments)
    assert validate_value(value, "answers/inspect-disks") == []
    return {(row["broker_id"], row["path"]): row for row in value["disks"]}


def findings(disks: DiskCluster, *arguments: str | Path) -> dict[str, dict[str, Any]]:
    return {each["trouble"]: each for each in asked(disks, "doctor", *arguments)["findings"]}


def segment_bytes(disk: str) -> int:
    """The bytes of the log segments of replicas in a directory."""
    return sum(file.stat().st_size for file in Path(disk).glob("*-*[0-9]/*.log"))


def test_disks_are_shown_as_they_are_and_kept_by_a_snapshot(
    disks: DiskCluster, tmp_path: Path
) -> None:
    first, second, _ = disks.disks(1)
    partition = disks.partition(1, 2, at={1: first}, filled=True)
    wait_until(lambda: rows(disks)[1, first]["size_bytes"] >= BYTES)
    found = rows(disks)
    assert sorted(found) == [(broker, each) for broker in (1, 2, 3) for each in disks.disks(broker)]
    assert {row["state"] for row in found.values()} == {"online"}
    assert found[1, first]["size_bytes"] == segment_bytes(first)
    known = disks.sandbox.spec.version != "2.8.2"
    assert all((row["fill_percent"] is not None) == known for row in found.values())

    disks.begin_inside(1, partition, second)
    moving = rows(disks, "--broker", "1")
    assert {broker for broker, _ in moving} == {1}
    assert (moving[1, first]["leaving"], moving[1, second]["arriving"]) == (1, 1)
    assert 0 < moving[1, second]["arriving_bytes"] < BYTES
    (copy,) = findings(disks)["future-replicas"]["evidence"]
    assert copy.startswith(f"{partition} on broker 1: from {first} to {second}, ")

    taken = asked(disks, "snapshot", "--out", tmp_path / "inventory")
    assert taken["disks"] == 9
    kept = rows(disks, "--inventory", tmp_path / "inventory")
    assert kept[1, first]["size_bytes"] == moving[1, first]["size_bytes"]
    assert not set(OF_MOVES) & kept[1, first].keys()
    assert {key: row["replicas"] for key, row in kept.items()} == {
        key: row["replicas"] for key, row in rows(disks).items()
    }
    assert disks.ask(1, first, partition) == 0


def test_a_failed_disk_hides_its_own_replicas_and_nothing_else(
    disks: DiskCluster, tmp_path: Path
) -> None:
    bad, good, _ = disks.disks(3)
    followed = disks.partition(3, 1, at={3: bad})
    alone = disks.partition(3, at={3: bad})
    kept = disks.partition(3, at={3: good}, filled=True)
    assert disks.sandbox.fail_disk(3, Path(bad))
    try:
        found = rows(disks, "--broker", "3")
        assert found[3, bad]["state"] == "failed"
        assert found[3, bad]["replicas"] is found[3, bad]["size_bytes"] is None
        assert found[3, good]["size_bytes"] >= BYTES

        wait_until(lambda: "failed-disk" in findings(disks))
        failed = findings(disks)["failed-disk"]
        assert failed["message"] == f"Broker 3 cannot read log directories of its own: {bad}."
        missing, lost = failed["evidence"]
        assert all(str(each) in missing for each in (followed, alone))
        assert str(kept) not in missing
        assert lost.endswith(f": {alone}")

        brokers = asked(disks, "inspect", "brokers")
        assert brokers["brokers"][2]["size_bytes"] >= BYTES, "of its other disks"
        assert [each for each in brokers["unavailable"] if bad in each] != []

        taken = asked(disks, "snapshot", "--out", tmp_path)
        assert [each for each in (*taken["unavailable"], taken["no_sizes"] or "") if bad in each]
        inventory = read_inventory(tmp_path).single()
        assert {each.state for each in inventory.disks if each.path == bad} == {"failed"}
        places = {(each.partition, each.broker_id): each.path for each in inventory.replicas}
        assert places[kept, 3] == good
        assert (followed, 1) in places
        assert (followed, 3) not in places
    finally:
        disks.sandbox.repair_disk(3, Path(bad))
    wait_until(lambda: "failed-disk" not in findings(disks))


@pytest.mark.skipif(why_not() is not None, reason=f"disks with a size: {why_not()}")
def test_full_and_uneven_disks_are_found_where_brokers_report_sizes(disks: DiskCluster) -> None:
    full, *_ = disks.disks(2)
    ballast = Path(full) / "ballast"
    room = os.statvfs(full)
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - room.f_blocks * room.f_frsize // 20))
    try:
        found = findings(disks)
        if disks.sandbox.spec.version == "2.8.2":
            assert not {"full-disk", "uneven-disks"} & found.keys()
            return
        assert found["full-disk"]["evidence"][0].startswith(f"broker 2: {full} 95 %, ")
        assert found["uneven-disks"]["evidence"][0].startswith(f"broker 2: {full} 95 %, ")
        shown = rows(disks, "--sort", "-fill_percent")
        assert next(iter(shown)) == (2, full)
        assert shown[2, full]["shared_with"] == []
    finally:
        ballast.unlink()


@pytest.mark.matrix
def test_a_directory_that_was_taken_out_is_found_by_an_earlier_snapshot(
    disks: DiskCluster, tmp_path: Path
) -> None:
    *_, gone = disks.disks(2)
    alone, pair = (disks.partition(*each, at={2: gone}) for each in ((2,), (2, 1)))
    taken = kadmin(disks, "snapshot", "--out", tmp_path)
    assert taken.status == 0, taken.err
    assert "removed-disk" not in findings(disks, "--inventory", tmp_path)
    sandbox = disks.sandbox
    sandbox.stop_broker(2)
    replace(sandbox, spec=replace(sandbox.spec, disks=Disks(2))).start_broker(2)
    try:
        wait_until(lambda: "removed-disk" in findings(disks, "--inventory", tmp_path))
        found = findings(disks, "--inventory", tmp_path)["removed-disk"]
        assert found["message"].startswith(f"Broker 2 has no log directory {gone} any more")
        source, lost = found["evidence"]
        assert source.startswith(f"snapshot {tmp_path}, taken at ")
        assert str(alone) in lost
        assert str(pair) not in lost
        assert "removed-disk" not in findings(disks)
    finally:
        sandbox.stop_broker(2)
        for each in Path(gone).glob("*-*[0-9]"):
            shutil.rmtree(each)
        sandbox.start_broker(2)
