"""The answer of a command on stdout: text for people, or JSON of a published schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from kadmin.cli.options import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(output: OutputFormat, text: Callable[[], str], value: Callable[[], dict[str, Any]]) -> None:
    """Print the one form that was asked for."""
    if output is OutputFormat.JSON:
        typer.echo(json.dumps(value(), indent=2, ensure_ascii=False))
    else:
        typer.echo(text())
