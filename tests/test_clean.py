"""`make clean` removes what targets, tests and tools leave in the checkout, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
IGNORED = (ROOT / ".gitignore").read_text(encoding="utf-8").split()


def test_make_clean_removes_what_is_ignored_and_nothing_else(tmp_path: Path) -> None:
    tree = tmp_path / "with spaces"
    tree.mkdir()
    for name in ("Makefile", ".gitignore"):
        shutil.copy(ROOT / name, tree)
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    kept = {"Makefile", ".gitignore", "kadmin/module.py", "notes.txt"}
    for pattern in IGNORED:
        path = tree / pattern.strip("/").replace("*", "host.1")
        (path / "within").mkdir(parents=True) if pattern.endswith("/") else path.touch()
        if pattern.endswith("/"):
            (path / "file").touch()
    for name in ("kadmin/module.py", "kadmin/__pycache__/module.pyc", "notes.txt"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    subprocess.run(["make", "--silent", "clean"], cwd=tree, check=True)
    left = {
        str(path.relative_to(tree))
        for path in tree.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert left == kept
    assert not any((tree / pattern.strip("/")).exists() for pattern in IGNORED)
