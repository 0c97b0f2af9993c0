"""Runs what a page of the documentation tells to type, as it stands there, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
COMMAND = re.compile(r"^\$ (.*)\n(?:# exit code (\d+)\n)?", re.MULTILINE)


def commands(page: str, sections: tuple[str, ...] = ()) -> list[str]:
    """The commands of a page's console blocks, each checked to end with 0 or with the exit code
    told below it; with `sections` those above the first heading and in these.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    if sections:
        above, *others = re.split(r"^## ", text, flags=re.MULTILINE)
        named = {each.partition("\n")[0]: each for each in others}
        text = "\n".join([above, *(named[each] for each in sections)])
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return [
        f"(set +e; {command}; test $? -eq {code})" if code else command
        for block in blocks
        for command, code in COMMAND.findall(block)
    ]


def shown_answers(page: str) -> list[str]:
    """The lines that a page shows as answers, without those of its commands and of what it leaves
    out.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(\$ .*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.strip() not in {"", "..."} and line[0] != "$"]


def not_printed(lines: list[str], printed: str) -> list[str]:
    """Return the lines that were not printed in this order, whatever their numbers and columns."""
    waiting = iter([_masked(line) for line in printed.splitlines()])
    return [line for line in lines if _masked(line) not in waiting]


def _masked(line: str) -> str:
    line = re.sub(r"-b \S+|--approved \w+", "", line)
    return " ".join(re.sub(r"\d[\d.,]*|\bkB\b|\bMB\b", "0", line).split())


@contextmanager
def workplace_in(folder: Path) -> Iterator[Path]:
    """A folder that looks like a clone after `make setup`; a sandbox that a failure left behind is
    ended.
    """
    (folder / ".venv" / "bin").mkdir(parents=True)
    for program in ("kadmin", "python"):
        script = folder / ".venv" / "bin" / program
        module = ["-m", "kadmin"] if program == "kadmin" else []
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {" ".join(module)} "$@"\n')
        script.chmod(0o755)
    (folder / "plans").symlink_to(ROOT / "plans")
    try:
        yield folder
    finally:
        down = [sys.executable, "-m", "kadmin", "sandbox", "down", "--dir", str(folder / "sandbox")]
        subprocess.run(down, check=True, stdout=subprocess.DEVNULL)


def typed(workplace: Path, *pages: str, sections: tuple[str, ...] = ()) -> str:
    """Type the commands of pages, each going on where the one before it ended, and return what they
    print; with `sections` those of these sections alone.
    """
    script = ["set -e"]
    for page in pages:
        found = commands(page, sections)
        assert found, f"{page} shows no command"
        script += [f"echo '## {page}'", *found]
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
    return done.stdout
