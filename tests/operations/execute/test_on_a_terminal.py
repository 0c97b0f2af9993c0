"""A run on a real pseudo-terminal: kept lines, and one progress line that never wraps."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from support.cli.process import kadmin
from support.cli.terminal import Shown, in_terminal
from support.controller.simple_controller import SimpleController
from support.documents.plans import document, reassignment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        yield found


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    """A plan of two waves."""
    cluster.create_topic("orders", {0: [1, 2], 1: [1, 2]})
    return document(
        tmp_path / "plan.json",
        reassignment("orders", {0: [3, 2], 1: [3, 1]}, waves={"max_partitions": 1}),
    )


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_a_run_keeps_a_line_for_each_wave_and_event(
    cluster: SimpleController, plan: Path, columns: int
) -> None:
    command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", cluster.connect]
    status, written = in_terminal(command, columns)
    assert status == 0, written
    drawn = [
        re.sub(r"\x1b\[\d+m", "", line) for line in re.findall(r"\r\x1b\[J([^\r]*)\r", written)
    ]
    assert drawn
    assert all(len(line) < columns for line in drawn)
    shown = Shown(1000)
    shown.write(written)
    kept = " ".join(" ".join(shown.rows).split())  # messages are broken between words
    assert all(kept.count(f"wave {wave} of 2 done in ") == 1 for wave in (1, 2))
    assert kept.count("step 1: reassignment of 1 partition published") == 1
    assert "2 partitions at the target (operation " in kept


def test_nothing_of_a_terminal_is_in_a_pipe(cluster: SimpleController, plan: Path) -> None:
    done = kadmin("apply", str(plan), "--yes", "-z", cluster.connect)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stdout + done.stderr
    assert re.search(r"^wave 2 of 2 done in .*: 2/2 done$", done.stderr, re.MULTILINE)
