"""Prints a command's answer on stdout: text, or JSON as a published schema describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from kadmin.cli.options import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(output: OutputFormat, text: Callable[[], str], value: Callable[[], dict[str, Any]]) -> None:
    """Print the answer in the format asked for."""
    if output is OutputFormat.JSON:
        typer.echo(json.dumps(value(), indent=2, ensure_ascii=False))
    else:
        typer.echo(text())
