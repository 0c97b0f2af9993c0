"""Takes what is there to copy from a page, and runs its commands as a CI system or a job would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def snippet(page: str, section: str, language: str) -> str:
    """Return the first block of a language in a section of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    text = text.split(f"\n## {section}\n", maxsplit=1)[1].split("\n## ", maxsplit=1)[0]
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    return found[0]


def put_on_path(folder: Path) -> None:
    """Make a `kadmin` for the commands that `shell` runs in a folder."""
    script = folder / "bin" / "kadmin"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m kadmin "$@"\n')
    script.chmod(0o755)


def shell(
    command: str, folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of a page in a folder."""
    return subprocess.run(
        ["bash", "-e", "-c", command, "bash", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
