"""`inspect disks` on a snapshot, without a cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cluster.states import tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    write_inventory,
)
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = ClusterInventory(
    "cluster",
    tuple(BrokerRow(broker, alive=broker != 4) for broker in (1, 2, 3, 4)),
    (),
    disks=(
        Disk(1, "/a", 1000, 250),
        Disk(1, "/b", state=DiskState.FAILED),
        Disk(2, "/a", 1000, 90, DiskState.CORDONED),
    ),
    replicas=(DiskReplica(tp("t-0"), 1, "/a", 700),),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    taken = Inventory("2026-01-01T00:00:00Z", {SINGLE_CLUSTER: CLUSTER})
    write_inventory(taken, tmp_path / "inventory", "csv")
    return tmp_path / "inventory"


def test_the_disks_of_a_snapshot_are_shown_and_missing_ones_are_said(folder: Path) -> None:
    human = command("inspect", "disks", "--inventory", folder, "--sort", "-fill_percent")
    assert human.status == 0
    assert [line.split()[:6] for line in human.out.splitlines()] == [
        ["broker_id", "path", "state", "fill_percent", "replicas", "size_bytes"],
        ["2", "/a", "cordoned", "91", "0", "0"],
        ["1", "/a", "online", "75", "1", "700"],
        ["1", "/b", "failed", "-", "-", "-"],
    ]
    assert human.err == "the snapshot has no disks of broker 3\n"


def test_the_answer_in_json_is_that_of_its_schema(folder: Path) -> None:
    answer = command("inspect", "disks", "--inventory", folder, "--broker", "1,3", "-o", "json")
    value = json.loads(answer.out)
    assert validate_value(value, "answers/inspect-disks") == []
    assert [(row["broker_id"], row["path"], row["state"]) for row in value["disks"]] == [
        (1, "/a", "online"),
        (1, "/b", "failed"),
    ]
    assert "arriving" not in value["disks"][0]
    assert value["unavailable"] == ["the snapshot has no disks of broker 3"]


def test_a_snapshot_without_disks_says_so(folder: Path) -> None:
    for table in ("disks.csv", "replicas.csv"):
        (folder / table).unlink()
    answer = command("inspect", "disks", "--inventory", folder, "-o", "csv")
    assert len(answer.out.splitlines()) == 1
    assert answer.err == "the snapshot has no disks of brokers 1, 2, 3\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--watch"], "A snapshot does not change."),
        (["--broker", "one"], "'one' is not a broker id."),
    ],
)
def test_what_cannot_be_is_told(folder: Path, arguments: list[str], words: str) -> None:
    answer = command("inspect", "disks", "--inventory", folder, *arguments)
    assert (answer.status, answer.out) == (64, "")
    assert words in answer.err


def test_without_a_cluster_or_a_snapshot_it_says_how_to_name_one() -> None:
    answer = command("inspect", "disks")
    assert answer.status == 64
    assert "or --inventory DIR" in answer.err
