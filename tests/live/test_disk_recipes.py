"""Types the recipes of docs/disks.md, in their order, on live brokers with three disks each.

What the page leaves to the operator, the test does: it changes `log.dirs`, and restarts brokers.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.eras.disks import BYTES
from support.live.doctor import examine
from support.live.kraft import wait_assigned
from support.live.waiting import wait_until
from support.pages.snippets import put_on_path, shell
from support.pages.typed import COMMAND

from kadmin.sandbox.disks import why_not

if TYPE_CHECKING:
    from support.eras.disks import DiskCluster

pytestmark = [
    pytest.mark.live,
    pytest.mark.matrix,
    pytest.mark.on("4.4.0"),
    pytest.mark.skipif(why_not() is not None, reason=f"sized disks: {why_not()}"),
]
PAGE = (Path(__file__).parents[2] / "docs" / "disks.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([\w-]+\.yaml)`:\n\n```yaml\n(.*?)```", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)```", re.MULTILINE | re.DOTALL)
FIVE_PERCENT = 20


class Recipe:
    """A section of the page, with the names of this cluster in place of those of the page."""

    def __init__(
        self, heading: str, folder: Path, disks: DiskCluster, names: dict[str, str]
    ) -> None:
        text = PAGE.split(f"\n### {heading}\n", maxsplit=1)[1].split("\n##", maxsplit=1)[0]
        for name, own in names.items():
            assert name in text
            text = text.replace(name, own)
        self._folder, self._servers = folder, ",".join(disks.sandbox.bootstrap)
        self._blocks = iter(CONSOLE.findall(text))
        for file, written in FILE.findall(text):
            (folder / file).write_text(written)
        put_on_path(folder)

    def type_block(self) -> str:
        """Type the commands of the next block; return what they print."""
        printed = ""
        for command, code in COMMAND.findall(next(self._blocks)):
            done = shell(command, self._folder, KADMIN_BOOTSTRAP_SERVER=self._servers)
            assert done.returncode == int(code or 0), f"{command}: {done.stdout}{done.stderr}"
            printed += done.stdout
        return printed

    def end(self) -> None:
        """Fail where a block of the page was not typed."""
        assert [*self._blocks] == []


def test_add_a_disk(disks: DiskCluster, tmp_path: Path) -> None:
    with disks.without_last_disk(2) as added:
        made = [disks.partition(2, 1, filled=True) for _ in range(4)]
        recipe = Recipe("Add a disk", tmp_path, disks, {})
        assert "may be stopped" in recipe.type_block()
    wait_assigned(disks.connection, dict.fromkeys(made, (2, 1)))
    assert not any(str(added) in disks.copies(2, each) for each in made)
    recipe.type_block()
    assert any(str(added) in disks.copies(2, each) for each in made)
    recipe.end()
    assert "removed-disk" not in examine(disks, "--inventory", str(tmp_path / "inventory"))


def test_take_a_disk_out(disks: DiskCluster, tmp_path: Path) -> None:
    disk = disks.disks(2)[-1]
    alone, pair = (disks.partition(*each, at={2: disk}, filled=True) for each in ((2,), (2, 1)))
    recipe = Recipe("Take a disk out", tmp_path, disks, {"/data/b": disk})
    recipe.type_block()
    assert disks.counts(2)[disk] == 0
    with disks.without_last_disk(2):
        recipe.type_block()
        recipe.end()
        assert all(disks.size(2, each) >= BYTES for each in (alone, pair))
        assert "removed-disk" not in examine(disks, "--inventory", str(tmp_path / "inventory"))


def test_a_dead_disk(disks: DiskCluster, tmp_path: Path) -> None:
    dead, *_ = disks.disks(2)
    partition = disks.partition(2, 1, at={2: dead}, filled=True)
    recipe = Recipe("A dead disk", tmp_path, disks, {"orders": partition.topic})
    assert disks.sandbox.fail_disk(2, Path(dead))
    try:
        wait_until(lambda: "failed-disk" in examine(disks))
        assert dead in recipe.type_block()
        recipe.type_block()
        recipe.end()
        assert sorted(disks.shown(partition).isr) == [1, 3]
    finally:
        disks.sandbox.repair_disk(2, Path(dead))


def test_a_disk_at_95_percent(disks: DiskCluster, tmp_path: Path) -> None:
    full, emptier, _ = disks.disks(2)
    partition = disks.partition(2, 1, at={2: full}, filled=True)
    names = {"orders": partition.topic, "/data/a": emptier}
    recipe = Recipe("A disk at 95 %", tmp_path, disks, names)
    ballast, room = Path(full) / "ballast", os.statvfs(full)
    free = room.f_blocks * room.f_frsize // FIVE_PERCENT
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - free))
    try:
        assert full in recipe.type_block().splitlines()[1]
        recipe.type_block()
        recipe.end()
        assert disks.copies(2, partition).keys() == {emptier}
    finally:
        ballast.unlink()
