"""Confirmation before anything is changed: asked on a terminal, waived by --yes, refused where nobody can answer."""

from __future__ import annotations

import sys

import typer

from kadmin.errors import UsageError


def ask(question: str, *, yes: bool) -> None:
    """Ask unless `yes`; raises UsageError for a no, and where there is no terminal."""
    if yes:
        return
    require_terminal()
    if not typer.confirm(question, err=True):
        raise UsageError("Not confirmed; nothing was changed.")


def require_terminal() -> None:
    """Raise UsageError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise UsageError("A confirmation is needed, and there is no terminal to ask.", next_command="add --yes")
