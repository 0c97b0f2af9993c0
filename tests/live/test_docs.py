"""Every command of the README and of the pages beside it is run as it stands there, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.live, pytest.mark.spark]

ROOT = Path(__file__).parents[2]
# Pages in one line go on where the page before them ended.
READINGS = (
    ("README.md", "docs/documents.md", "docs/throttles.md", "docs/convert.md"),
    ("docs/exit-codes.md",),
    ("docs/inspect.md", "docs/consumers.md", "docs/whatif.md"),
    ("docs/sandbox.md",),
    ("docs/kraft.md", "docs/load.md"),
)
COMMAND = re.compile(r"^\$ (.*)\n(?:# exit code (\d+)\n)?", re.MULTILINE)


def commands(page: str) -> list[str]:
    """The commands of a page's console blocks, each checked to end with 0 or with the exit code told below it."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return [
        f"(set +e; {command}; test $? -eq {code})" if code else command
        for block in blocks
        for command, code in COMMAND.findall(block)
    ]


@pytest.fixture
def workplace(tmp_path: Path) -> Iterator[Path]:
    """A folder that looks like a clone after `make setup`; a sandbox that a failure left behind is ended."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for program in ("kadmin", "python"):
        script = tmp_path / ".venv" / "bin" / program
        module = ["-m", "kadmin"] if program == "kadmin" else []
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {" ".join(module)} "$@"\n')
        script.chmod(0o755)
    (tmp_path / "plans").symlink_to(ROOT / "plans")
    yield tmp_path
    down = [sys.executable, "-m", "kadmin", "sandbox", "down", "--dir", str(tmp_path / "sandbox")]
    subprocess.run(down, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("pages", READINGS, ids=lambda pages: pages[0])
def test_what_the_pages_tell_to_type_works(workplace: Path, pages: tuple[str, ...]) -> None:
    script = ["set -e"]
    for page in pages:
        assert commands(page), f"{page} shows no command"
        script += [f"echo '## {page}'", *commands(page)]
    environment = {**os.environ, "PATH": f"{workplace / '.venv' / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-x", "-c", "\n".join(script)],
        cwd=workplace,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    if pages[0] == "README.md":
        assert "nothing to do" not in done.stdout.split("## docs/")[0], "every step of the README has an effect"
