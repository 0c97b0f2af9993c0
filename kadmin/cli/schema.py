"""`kadmin schema list`, `show` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.inputs import make_folder, write_text
from kadmin.schema import bundled, schema_file_name
from kadmin.wording import count

schema_app = typer.Typer(help="List, show or export JSON Schemas of documents and answers.")


@schema_app.command("list")
@bounded
def list_schemas() -> None:
    """List the names of all schemas."""
    typer.echo("\n".join(bundled().names()))


@schema_app.command("show")
@bounded
def show_schema(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The schema's name, from kadmin schema list.")
    ],
) -> None:
    """Print one schema."""
    typer.echo(bundled().text(name), nl=False)


@schema_app.command("export")
@bounded
def export_schemas(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to; it is created.")
    ],
) -> None:
    """Write all schemas to a folder.

    Editors refer to them with `$schema`; `kadmin validate --schema-dir` reads them.
    """
    names = bundled().names()
    for name in names:
        path = folder / schema_file_name(name)
        make_folder(path.parent)
        write_text(path, bundled().text(name))
    typer.echo(f"{count(len(names), 'schema')} written to {folder}")
