"""Runs kadmin in the process of the test."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cli import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit code of a command, its standard output and its standard error."""

    status: int
    out: str
    err: str


def command(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Answer:
    """Run kadmin in this process, with no terminal and nothing on standard input."""
    out, err, kept_stdin, kept = io.StringIO(), io.StringIO(), sys.stdin, dict(os.environ)
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    os.environ.update(environment or {})
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = run([str(argument) for argument in arguments])
    finally:
        sys.stdin = kept_stdin
        os.environ.clear()
        os.environ.update(kept)
    return Answer(status, out.getvalue(), err.getvalue())
