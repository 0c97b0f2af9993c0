"""`kadmin schema list`, `show` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.inputs import write_text

schema_app = typer.Typer(help="List, show or export the JSON Schemas of documents and answers.")

NameArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="The schema's name, from kadmin schema list.")
]
FolderArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder to write to; it is created.")
]


@schema_app.command("list")
@bounded
def list_schemas() -> None:
    """List the names of all schemas."""
    from kadmin.schema import schema_names

    typer.echo("\n".join(schema_names()))


@schema_app.command("show")
@bounded
def show_schema(name: NameArgument) -> None:
    """Print one schema."""
    from kadmin.schema import schema_text

    typer.echo(schema_text(name), nl=False)


@schema_app.command("export")
@bounded
def export_schemas(folder: FolderArgument) -> None:
    """Write all schemas to a folder.

    Editors refer to them with `$schema`; `kadmin validate --schema-dir` reads them.
    """
    from kadmin.errors import NotCompletedError
    from kadmin.schema import schema_file_name, schema_names, schema_text

    names = schema_names()
    for name in names:
        path = folder / schema_file_name(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotCompletedError(f"Cannot write {path}.", cause=error.strerror or str(error)) from error
        write_text(path, schema_text(name))
    typer.echo(f"{len(names)} schemas written to {folder}")
