"""The commands of the pages on other tools, on the files that the pages show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.cli.in_process import command
from support.pages.typed import commands

DOCS = Path(__file__).parents[2] / "docs"
FILE = re.compile(r"`([\w.-]+)`[^`\n]*:\n\n```\w+\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["from-kafka-reassign-partitions.md", "cruise-control.md"])
def test_what_the_page_tells_to_type_works(page: str, tmp_path: Path) -> None:
    for name, text in FILE.findall((DOCS / page).read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    typed = commands(f"docs/{page}")
    assert len(typed) > 1
    for line in typed:
        done = command(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.status == 0, (line, done.err)
