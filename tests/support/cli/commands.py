"""Every command of the command line, as it is typed."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from kadmin.cli.app import app


def every_command() -> dict[str, Any]:
    """Return each command and each group of commands by its words after `kadmin`; kadmin itself is ''."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        name, each = waiting.pop()
        found[name] = each
        if isinstance(each, TyperGroup):
            context = typer.Context(each)
            children = [(child, each.get_command(context, child)) for child in each.list_commands(context)]
            waiting += [(f"{name} {child}".strip(), command) for child, command in children]
    return found
