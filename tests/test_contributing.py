"""CONTRIBUTING.md names files and make targets that exist; what tests need is locked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def test_every_package_that_the_tests_need_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {
        canonicalize_name(Requirement(each).name)
        for each in project["optional-dependencies"]["dev"]
    }
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {
        canonicalize_name(line.partition("==")[0]) for line in lock.splitlines() if "==" in line
    }
    assert sorted(needed - locked - {project["name"]}) == []
