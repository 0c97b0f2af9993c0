"""Runs kadmin in the process of the test, and lists its commands."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from kadmin.cli import run
from kadmin.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit code of a command, its standard output and its standard error."""

    status: int
    out: str
    err: str


def command(
    *arguments: str | Path,
    data: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Run kadmin in this process without a terminal, with `data` on standard input.

    `support.cli.process.kadmin` starts a process, which takes half a second of a processor more.
    """
    out, err, kept_stdin, kept = io.StringIO(), io.StringIO(), sys.stdin, dict(os.environ)
    sys.stdin = io.TextIOWrapper(io.BytesIO(data))
    os.environ.update(environment or {})
    folder = nullcontext() if cwd is None else chdir(cwd)
    try:
        with folder, redirect_stdout(out), redirect_stderr(err):
            status = run([str(argument) for argument in arguments])
    finally:
        sys.stdin = kept_stdin
        os.environ.clear()
        os.environ.update(kept)
    return Answer(status, out.getvalue(), err.getvalue())


def every_command() -> dict[str, Any]:
    """Return each command and each group of commands by its words after `kadmin`; kadmin itself is
    ''.
    """
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        name, each = waiting.pop()
        found[name] = each
        if isinstance(each, TyperGroup):
            context = typer.Context(each)
            children = [
                (child, each.get_command(context, child)) for child in each.list_commands(context)
            ]
            waiting += [(f"{name} {child}".strip(), made) for child, made in children]
    return found
