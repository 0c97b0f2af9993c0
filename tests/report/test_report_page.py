"""The commands of docs/report.md that need no cluster do what the page says; those of a cluster
stand in README.md.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from family import SIZES, inventory
from support.cli.in_process import command

from kadmin.inventory import write_inventory

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^\$ kadmin (.*)$", re.MULTILINE)


def test_the_commands_of_the_page_write_what_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plans").symlink_to(ROOT / "plans")
    write_inventory(inventory(SIZES["S"], 1), tmp_path / "inventory", "csv")
    commands = [
        shlex.split(found) for found in COMMAND.findall((ROOT / "docs" / "report.md").read_text())
    ]
    assert len(commands) == 3
    for arguments in commands:
        told = command(*arguments)
        assert told.status == 0, told.err
    pages = [Path(name).read_text() for name in ("plan.html", "diff.html", "report.html")]
    assert pages[0] == pages[2], "the page of a proposal can be made again"
    assert ['id="figures"' in page for page in pages] == [True, False, True]
