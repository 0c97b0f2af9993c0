"""Runs kadmin in a new process, with a given standard input, folder and environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
RUN = "import sys; from kadmin.cli import main; main()"


def kadmin(
    *arguments: str, data: bytes = b"", code: str = RUN, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=data,
        capture_output=True,
        cwd=cwd,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
