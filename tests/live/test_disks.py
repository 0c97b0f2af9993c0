"""Disks of live brokers in both modes, as `inspect disks`, `snapshot` and `doctor` show them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.eras.disks import BYTES
from support.live.doctor import examine
from support.live.kraft import set_configs
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.inventory import read_inventory
from kadmin.plan.cordon import CORDON
from kadmin.sandbox.disks import why_not
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from support.eras.disks import DiskCluster

pytestmark = pytest.mark.live
OF_MOVES = ("arriving", "arriving_bytes", "leaving")


def asked(disks: DiskCluster, *arguments: str | Path) -> dict[str, Any]:
    answer = disks.kadmin(*arguments, "-o", "json")
    assert answer.out, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    return value


def rows(disks: DiskCluster, *arguments: str | Path) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the rows of `inspect disks`, by broker and path."""
    value = asked(disks, "inspect", "disks", *arguments)
    assert validate_value(value, "answers/inspect-disks") == []
    return {(row["broker_id"], row["path"]): row for row in value["disks"]}


def segment_bytes(disk: str) -> int:
    """The bytes of the log segments of replicas in a directory."""
    return sum(file.stat().st_size for file in Path(disk).glob("*-*[0-9]/*.log"))


@pytest.mark.eras
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
    (copy,) = examine(disks)["future-replicas"]["evidence"]
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


@pytest.mark.matrix
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

        wait_until(lambda: "failed-disk" in examine(disks))
        failed = examine(disks)["failed-disk"]
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
    wait_until(lambda: "failed-disk" not in examine(disks))


@pytest.mark.eras
@pytest.mark.skipif(why_not() is not None, reason=f"disks with a size: {why_not()}")
def test_full_and_uneven_disks_are_found_where_brokers_report_sizes(disks: DiskCluster) -> None:
    full, *_ = disks.disks(2)
    ballast = Path(full) / "ballast"
    room = os.statvfs(full)
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - room.f_blocks * room.f_frsize // 20))
    try:
        found = examine(disks)
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


@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_a_cordoned_disk_is_shown_with_its_replicas(disks: DiskCluster) -> None:
    own, (cordoned, *_) = ConfigEntity.of_broker(1), disks.disks(1)
    disks.partition(1, at={1: cordoned})
    set_configs(disks.connection, own, [CORDON], cordoned, 1)
    try:
        wait_until(lambda: rows(disks)[1, cordoned]["state"] == "cordoned")
        assert rows(disks)[1, cordoned]["replicas"] >= 1
        assert examine(disks)["cordoned-broker"]["evidence"][0] == f"cordoned.log.dirs: {cordoned}"
    finally:
        set_configs(disks.connection, own, [CORDON], None, 1)


@pytest.mark.matrix
def test_a_disk_that_was_taken_out_is_named_beside_a_snapshot(
    disks: DiskCluster, tmp_path: Path
) -> None:
    *_, disk = disks.disks(2)
    alone, pair = (disks.partition(*each, at={2: disk}) for each in ((2,), (2, 1)))
    asked(disks, "snapshot", "--out", tmp_path)
    assert "removed-disk" not in examine(disks, "--inventory", str(tmp_path))
    with disks.without_last_disk(2):
        wait_until(lambda: bool(disks.copies(2, alone) and disks.copies(2, pair)))
        found = examine(disks, "--inventory", str(tmp_path))["removed-disk"]
        assert disk in found["message"]
        held, empty = found["evidence"]
        assert held.endswith(" replicas")
        assert empty.endswith(f" without an error: {alone}")


@pytest.mark.matrix
def test_copies_of_a_broker_that_was_away_are_named_where_it_lists_them(
    disks: DiskCluster,
) -> None:
    """In KRaft mode it sets both copies of a move aside when it starts: no answer shows them."""
    partition = disks.partition(2, 1, filled=True)
    there, target = disks.disk_of(2, partition), disks.others(2, partition)[0]
    disks.begin_inside(2, partition, target)
    disks.sandbox.stop_broker(2)
    disks.reassign(partition, 1)
    disks.sandbox.start_broker(2)
    found = examine(disks)
    if disks.sandbox.spec.kraft:
        assert not {"future-replicas", "unused-copies"} & found.keys()
        assert list(Path(there).glob(f"{partition.topic}*-stray"))
        return
    (copy,) = found["future-replicas"]["evidence"]
    assert copy.startswith(f"{partition} on broker 2: left in {target}, ")
    unused = found["unused-copies"]["evidence"]
    assert [each for each in unused if f"{partition} (" in each and f"broker 2, {there}: " in each]
