"""Asks for confirmation on a terminal; --yes answers it, and without a terminal it is refused."""

from __future__ import annotations

import sys

import typer

from kadmin.errors import UsageError


def ask(question: str, *, yes: bool) -> None:
    """Ask unless `yes`; raises UsageError for "no", and where there is no terminal."""
    if yes:
        return
    require_terminal()
    if not typer.confirm(question, err=True):
        raise UsageError("Not confirmed; nothing was changed.")


def require_terminal() -> None:
    """Raise UsageError where standard input is no terminal."""
    if not sys.stdin.isatty():
        raise UsageError("A confirmation is needed, and there is no terminal to ask.", next_command="add --yes")
