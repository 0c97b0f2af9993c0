"""`kadmin schema`: the JSON Schemas of documents, payloads and answers, for editors and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kadmin.cli.deadline import bounded

schema_app = typer.Typer(help="JSON Schemas of documents, znode payloads and answers.", no_args_is_help=True)

NameArgument: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="A name that `schema list` shows.")]
FolderArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="DIR", help="Where to write them.")]


@schema_app.command("list")
@bounded
def list_schemas() -> None:
    """Name every schema."""
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
    """Write every schema into a folder, for editors (`$schema=`) and for `validate --schema-dir`."""
    from kadmin.cli.inputs import write_text
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
