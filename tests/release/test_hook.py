"""The pre-commit hook, installed by pre-commit itself from this repository's last commit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from support.release.environments import ROOT, TOOLS, run, succeed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.release

CONFIG = """repos:
  - repo: {}
    rev: {}
    hooks:
      - id: kadmin-validate
"""
BAD = "kind: TopicDeletion\nspec: {topics: []}\n"


def test_the_hook_refuses_a_plan_with_an_error_and_passes_one_without(tmp_path: Path) -> None:
    revision = succeed(["git", "rev-parse", "HEAD"], ROOT).strip()
    succeed(["git", "init", "--quiet"], tmp_path)
    shutil.copytree(ROOT / "plans", tmp_path / "plans")
    (tmp_path / "notes.yaml").write_text("not: a plan\n")
    (tmp_path / ".pre-commit-config.yaml").write_text(CONFIG.format(ROOT, revision))
    succeed(["git", "add", "."], tmp_path)
    command: list[str | Path] = [TOOLS / "pre-commit", "run", "--all-files"]
    home = {"PRE_COMMIT_HOME": str(tmp_path / ".git" / "pre-commit")}
    assert "Passed" in succeed(command, tmp_path, **home)

    (tmp_path / "plans" / "bad.yaml").write_text(BAD)
    succeed(["git", "add", "."], tmp_path)
    done = run(command, tmp_path, **home)
    assert done.returncode == 1
    assert "plans/bad.yaml:2" in done.stdout
