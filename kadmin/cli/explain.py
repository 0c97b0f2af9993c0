"""`kadmin explain`."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

import typer

from kadmin.cli.completion import complete_explained
from kadmin.cli.deadline import bounded
from kadmin.cli.terminal import docs_site, screen_of

NameArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        autocompletion=complete_explained,
        help="A code, a trouble or an exit code: KA044, leftover-throttle, exit 8.",
    ),
]


@bounded
def explain(name: NameArgument = None) -> None:
    """Explain a code, a trouble or an exit code.

    Without a name, list all. The text is that of the documentation's pages.
    """
    from kadmin.manual import section_named, sections
    from kadmin.report.explained import explained_list, explained_text

    width = screen_of(sys.stdout).width
    words = [word for word in name or () if word.lower() not in {"exit", "code"}]
    if not words:
        typer.echo(explained_list(sections(), width))
        return
    site = docs_site()
    section = section_named(" ".join(words))
    typer.echo(explained_text(section, width, site and f"{site}/{section.address}"))
