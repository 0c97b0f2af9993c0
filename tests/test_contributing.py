"""CONTRIBUTING.md names files and make targets that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`\n]+)`")


def test_every_file_that_is_named_exists() -> None:
    words = {
        word
        for code in CODE.findall(PAGE)
        for word in code.split()
        if not word.startswith(".venv/")
    }
    paths = {word for word in words if re.fullmatch(r"[\w.][\w./-]*/[\w./-]*", word)}
    assert paths
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_every_make_target_that_is_named_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", " ".join(CODE.findall(PAGE))))
    targets = set(
        re.findall(
            r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    assert {"lint", "unit", "live", "test-eras"} <= named
    assert sorted(named - targets) == []
