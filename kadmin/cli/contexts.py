"""`kadmin context list`, `show`, `use` and `check`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.deadline import bounded
from kadmin.cli.inputs import read_document, writing
from kadmin.cli.named_clusters import complete_context, contexts_path, find_context, read_contexts
from kadmin.cli.output import answer
from kadmin.contexts.address import address_of
from kadmin.errors import UnreachableError, UsageError
from kadmin.next_step import command
from kadmin.whole_files import replaced

if TYPE_CHECKING:
    from kadmin.contexts.settings import Setting

context_app = typer.Typer(help="List, show, select or check contexts: clusters with a name.")

NameArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", autocompletion=complete_context, help="The context's name.")
]
GivenName: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        autocompletion=complete_context,
        help="Name of the context. Default: the current context.",
    ),
]


@context_app.command("list")
@bounded
def list_(*, output: options.Output = options.OutputFormat.HUMAN) -> None:
    """List the contexts, with address and protection."""
    from kadmin.report.contexts import contexts_answer, contexts_text

    contexts = read_contexts()
    answer(
        output,
        lambda: contexts_text(contexts),
        lambda: contexts_answer(contexts, str(contexts_path())),
    )


@context_app.command("show")
@bounded
def show(name: GivenName = None, *, output: options.Output = options.OutputFormat.HUMAN) -> None:
    """Show every value of a context, and its source.

    Secrets are not read: references to them are shown. Of a command that prints a secret, only the
    program is shown.
    """
    from kadmin.answers.contexts import ContextAnswer
    from kadmin.contexts.settings import settings_of
    from kadmin.report.contexts import context_text

    chosen = _chosen(name)
    context = find_context(chosen.value or "")
    settings = [chosen, *settings_of(context, os.environ, str(contexts_path()))]
    answer(output, lambda: context_text(settings), lambda: ContextAnswer(tuple(settings)))


@context_app.command("use")
@bounded
def use(name: NameArgument) -> None:
    """Set the current context, for commands without an address.

    Only the value of `current` is written; comments and layout of the file are preserved.
    """
    from kadmin.documents.current_context import with_current

    find_context(name)
    path = contexts_path()
    before = read_document(path)
    after = with_current(before, str(path), name)
    if after != before:
        _replace(path, after)
    typer.echo(f"current context: {name}")


@context_app.command("check")
def check(
    name: GivenName = None,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Connect to a context's cluster, list missing rights and read signals.

    Nothing is written. Exit code 6 if a right is missing, with the command that grants it, or if a
    signal has no value; otherwise 0.
    """
    from kadmin.cli.context import open_reading
    from kadmin.contexts.signals import exposed_credentials, read_signals
    from kadmin.operations.events import Note
    from kadmin.report.contexts import rights_answer, rights_text

    context = find_context(_chosen(name).value or "")
    address = address_of(context, typed=True)
    with open_reading(address, timeout_s=timeout) as opened:
        found = opened.rights()
        for warning in exposed_credentials(context.signals):
            opened.tell(Note(f"warning: {warning}"))
        signals = tuple(read_signals(context.signals, opened.clock.until))
    answer(
        output,
        lambda: rights_text(context, found, signals),
        lambda: rights_answer(context, found, signals),
    )
    failed = found.missing or any(isinstance(each.result, UnreachableError) for each in signals)
    return UnreachableError.exit_code if failed else 0


def _chosen(name: str | None) -> Setting:
    from kadmin.contexts.settings import Setting, Source, name_of

    if name is not None:
        return Setting("context", name, Source.FLAG, "NAME")
    found = name_of(os.environ, read_contexts(), str(contexts_path()))
    if found.value is None:
        raise UsageError(
            "No context is named, and none is current.", next_step=command("context list")
        )
    return found


def _replace(path: Path, data: bytes) -> None:
    """Replace a file whole or not at all; links are followed, permissions are kept."""
    with writing(path):
        real_path = path.resolve()
        with replaced(real_path) as file:
            shutil.copymode(real_path, file.name)
            file.write(data)
