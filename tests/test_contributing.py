"""CONTRIBUTING.md names files and make targets that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`\n]+)`")


def test_every_file_that_is_named_exists() -> None:
    named = {word for code in CODE.findall(PAGE) for word in code.split() if re.fullmatch(r"[\w.][\w./-]*/[\w./-]*", word)}
    assert named
    assert sorted(word for word in named if not (ROOT / word).exists()) == []


def test_every_make_target_that_is_named_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", " ".join(CODE.findall(PAGE))))
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"lint", "unit", "live", "test-eras"} <= named
    assert sorted(named - targets) == []
