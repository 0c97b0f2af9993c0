"""Sizes have one order of sources on every command: the plan, --sizes, --inventory, the brokers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.inventories import small_inventory
from support.controller.simple_controller import CLUSTER_ID, SimpleController
from support.documents.plans import document, reassignment

from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli.in_process import Answer

REASON = "bytes on disk are not known: no broker has a PLAINTEXT listener"


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    """A cluster whose brokers cannot be asked."""
    with SimpleController(chroot) as found:
        found.create_topic("orders", {0: [1, 2]})
        yield found


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return document(
        tmp_path / "plan.yaml", reassignment("orders", {0: [1, 3]}, throttle={"finish_in": "10s"})
    )


def snapshot(
    folder: Path, size: int | None, *, cluster_id: str = CLUSTER_ID, capacity: int | None = None
) -> Path:
    brokers = tuple(
        BrokerRow(number, f"r{number}", capacity_bytes=capacity) for number in (1, 2, 3)
    )
    rows = (PartitionRow("orders", 0, (1, 2), 1, (1, 2), size_bytes=size),)
    taken = ClusterInventory(cluster_id, brokers, rows)
    write_inventory(Inventory("2026-11-22T08:00:00+00:00", {"": taken}), folder, "csv")
    return folder


def log_dirs(path: Path, size: int) -> Path:
    replica = {"partition": "orders-0", "size": size, "isFuture": False}
    return document(path, {"brokers": [{"logDirs": [{"partitions": [replica]}]}]})


def rate(answer: Answer) -> int:
    found: int = json.loads(answer.out)["throttle"]["rate"]
    return found


@pytest.mark.zookeeper
def test_apply_takes_sizes_from_a_snapshot(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    blind = command("apply", plan, "--yes", "-z", cluster.connect)
    assert (blind.status, blind.err.count(REASON)) == (3, 1), blind.err
    assert "KA025" in blind.err
    sized = snapshot(tmp_path / "inventory", 50_000)
    other = command(
        "apply",
        plan,
        "--yes",
        "-z",
        cluster.connect,
        "--inventory",
        snapshot(tmp_path / "x", 1, cluster_id="x"),
    )
    assert (
        other.status,
        f"The snapshot is of cluster x, this is cluster {CLUSTER_ID}" in other.err,
    ) == (4, True)
    full = snapshot(tmp_path / "full", 50_000, capacity=49_999)
    refused = command("apply", plan, "--yes", "-z", cluster.connect, "--inventory", full)
    assert refused.status == 4, refused.err
    assert (
        "broker 3 would hold 50.0 kB, and its capacity is 50.0 kB; it would get orders-0"
        in refused.err
    )
    applied = command("apply", plan, "--yes", "-z", cluster.connect, "--inventory", sized)
    assert (applied.status, "throttle: 5.00 kB/s" in applied.err) == (0, True), applied.err
    operation = cluster.operations()[-1]["id"]
    assert "\n  to copy: 50.0 kB\n" in command("history", operation, "-z", cluster.connect).out, (
        "the plan has no sizes"
    )
    shown = json.loads(command("history", operation, "-z", cluster.connect, "-o", "json").out)
    assert shown["operations"][0]["to_copy_bytes"] == 50_000
    back = command("rollback", "--yes", "-z", cluster.connect, "--inventory", sized)
    assert (back.status, "50.0 kB" in back.err) == (0, True), back.err


@pytest.mark.zookeeper
def test_without_anything_to_copy_the_brokers_are_asked_all_the_same(
    cluster: SimpleController, tmp_path: Path
) -> None:
    """The table of brokers shows bytes, so either these are known, or why not."""
    plan = document(tmp_path / "order.yaml", reassignment("orders", {0: [2, 1]}))
    told = command("diff", plan, "-z", cluster.connect)
    assert ("? bytes" in told.out, f"warning: {REASON}" in told.out) == (True, True), told.out
    there = document(tmp_path / "there.yaml", reassignment("orders", {0: [1, 2]}))
    assert REASON not in command("diff", there, "-z", cluster.connect).out, (
        "nothing is shown of any broker"
    )


@pytest.mark.zookeeper
def test_a_file_comes_before_a_snapshot_and_the_plan_before_both(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    files: list[str | Path] = ["--inventory", snapshot(tmp_path / "inventory", 50_000)]
    assert rate(command("diff", plan, *files, "-o", "json")) == 5_000
    files += ["--sizes", log_dirs(tmp_path / "sizes.json", 70_000)]
    assert rate(command("diff", plan, *files, "-o", "json")) == 7_000
    assert rate(command("diff", plan, "-z", cluster.connect, *files[2:], "-o", "json")) == 7_000
    value = json.loads(plan.read_text())
    value["spec"]["partitions"][0]["size_bytes"] = 90_000
    assert rate(command("diff", document(plan, value), *files, "-o", "json")) == 9_000


@pytest.mark.zookeeper
@pytest.mark.parametrize(
    "what", [["whatif", "lose", "--broker", "1"], ["whatif", "plan", "PLAN"], ["diff", "PLAN"]]
)
def test_every_command_says_in_the_same_words_that_brokers_gave_none(
    what: list[str], cluster: SimpleController, plan: Path
) -> None:
    told = command(*(plan if word == "PLAN" else word for word in what), "-z", cluster.connect)
    assert (told.out + told.err).count(REASON) == 1


def test_validate_refuses_what_apply_would_refuse_for_its_sizes(plan: Path, tmp_path: Path) -> None:
    alone = command("validate", plan)
    assert (alone.status, "warning KA025" in alone.out) == (0, True), "brokers may have them"
    unsized: list[str | Path] = ["--inventory", snapshot(tmp_path / "inventory", None)]
    refused = command("validate", plan, *unsized)
    assert (refused.status, "error KA025" in refused.out) == (3, True)
    sizes = log_dirs(tmp_path / "sizes.json", 70_000)
    assert command("validate", plan, *unsized, "--sizes", sizes).status == 0
    assert command("validate", plan, "--inventory", snapshot(tmp_path / "sized", 1)).status == 0
    lone = command("validate", plan, "--sizes", sizes)
    assert (lone.status, "--sizes goes with --inventory" in lone.err) == (64, True)
    fleet = command(
        "validate",
        plan,
        "--sizes",
        sizes,
        "--inventory",
        Path(small_inventory(tmp_path / "f", a="x")),
    )
    assert (fleet.status, "works on one cluster" in fleet.err) == (64, True)
