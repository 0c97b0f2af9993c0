"""Quiet hours of a plan as `validate` and `diff` find them, and --leave without hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.inventories import CLUSTER_ID, small_inventory
from support.planner.load_histories import row, week, write

if TYPE_CHECKING:
    from pathlib import Path

NIGHT = [1.0 if hour < 6 or hour >= 22 else 10.0 for hour in range(24)]
PLAN = f"""\
kind: PartitionReassignment
metadata: {{cluster_id: {CLUSTER_ID}}}
spec:
  throttle: {{rate: 1MB/s}}
  hours: {{quiet: 0.7, of: load, outside: 100kB/s}}
  partitions:
    - {{topic: orders, partition: 0, current: [1, 2], replicas: [1, 3], size_bytes: 1000000}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    found = tmp_path / "plan.yaml"
    found.write_text(PLAN)
    return found


def diff(plan: Path, *more: str) -> tuple[int, str, str]:
    folder = plan.parent / "inventory"
    if not folder.exists():
        small_inventory(folder)
    found = command("diff", plan, "--inventory", folder, *more)
    return found.status, found.out, found.err


def test_quiet_hours_are_shown_as_windows(plan: Path) -> None:
    write(plan.parent / "load", [row("orders", 0, week(*NIGHT))])
    assert command("validate", plan).status == 0
    status, out, err = diff(plan)
    assert status == 0, err
    assert "hours: 22:00-06:00 in UTC, 100 kB/s outside; if copies begin now, done " in out


def test_a_plan_without_a_quiet_hour_is_refused(plan: Path) -> None:
    always = [row("orders", 0, week(5.0))]
    write(plan.parent / "load", always)
    status, out, _ = diff(plan, "--detailed-exitcode")
    assert (status, "No hour of the week is quiet" in out) == (3, True)


def test_the_history_of_other_topics_is_refused(plan: Path) -> None:
    write(plan.parent / "load", [row("elsewhere", 0, week(*NIGHT))])
    status, out, _ = diff(plan, "--detailed-exitcode")
    assert (status, "has the load of no partition of cluster" in out) == (3, True)


def test_a_folder_that_is_not_there_is_no_problem_of_the_plan_but_of_its_diff(plan: Path) -> None:
    assert command("validate", plan).status == 0
    status, _, err = diff(plan)
    assert status == 3
    assert "spec.hours.of names the folder of a load history" in err
    assert "kadmin load build --samples PATH --out" in err


def test_a_folder_without_a_history_is_a_problem(plan: Path) -> None:
    (plan.parent / "load").mkdir()
    found = command("validate", plan)
    assert found.status == 3
    assert "partition_load.parquet" in found.out
    (plan.parent / "load" / "partition_load.parquet").write_text("no table")
    found = command("validate", plan)
    assert (found.status, "is not a Parquet table" in found.out) == (3, True)


def test_a_run_without_hours_cannot_leave(plan: Path) -> None:
    plan.write_text(PLAN.replace("  hours: {quiet: 0.7, of: load, outside: 100kB/s}\n", ""))
    found = command("apply", plan, "-z", "localhost:1", "--leave", "--yes")
    assert found.status == 64
    assert "--leave goes with a plan that has spec.hours, or that waits for a person." in found.err
