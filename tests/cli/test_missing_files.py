"""A file that cannot be read: the command that shows what is there instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "shown"),
    [("plans/none.yaml", "plans"), ("none/none/none.yaml", ""), ("plans", "plans")],
)
def test_what_is_there_is_shown_by_the_next_command(tmp_path: Path, name: str, shown: str) -> None:
    (tmp_path / "plans").mkdir()
    answer = command("diff", tmp_path / name, "--inventory", "inventory")
    assert answer.status == 3
    assert answer.err.splitlines()[0] == f"error: Cannot read {tmp_path / name}."
    assert answer.err.splitlines()[-1] == f"  next:  ls -l {tmp_path / shown}"
