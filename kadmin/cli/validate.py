"""`kadmin validate`: all problems of documents at once."""

from __future__ import annotations

import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.deadline import bounded
from kadmin.cli.files import find_files, path_of
from kadmin.cli.inputs import read_document, read_policy, read_sizes, write_text, writing
from kadmin.cli.propose import LOAD_LIBRARIES, missing_libraries
from kadmin.cli.terminal import docs_site, screen_of
from kadmin.errors import InvalidInputError, UsageError
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.inventory.validation import Validation
    from kadmin.schema import SchemaSet

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


class ValidateFormat(StrEnum):
    """The format of `validate`'s answer."""

    HUMAN = "human"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    GITLAB = "gitlab"
    JUNIT = "junit"


FilesArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="Documents, folders (recursive), globs; - reads standard input."
    ),
]
InventoryOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--inventory", metavar="DIR", help="Also check names and replicas against this inventory."
    ),
]
FormatOption: TypeAlias = Annotated[
    ValidateFormat, typer.Option("-o", "--format", help="Format of the answer.")
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the answer to this file, and human-readable text to stdout.",
    ),
]
SchemaDirOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--schema-dir",
        metavar="DIR",
        help="A folder of your own schemas, to check as well (see schema export).",
    ),
]


@bounded
def validate(
    files: FilesArgument,
    *,
    inventory: InventoryOption = None,
    sizes: options.Sizes = None,
    policy: options.Policy = None,
    output_format: FormatOption = ValidateFormat.HUMAN,
    out: OutOption = None,
    schema_dir: SchemaDirOption = None,
) -> int:
    """Check plans and requests, and report all problems at once.

    Rules and the inventory are checked only in documents that satisfy their schema. Exit code 3 if
    there is an error, otherwise 0.
    """
    from kadmin.inventory.validation import validate_files
    from kadmin.report.problems.text import tally

    if sizes is not None and inventory is None:
        raise UsageError("--sizes goes with --inventory.", next_step="add --inventory DIR")
    schemas, disk_sizes = _schemas(schema_dir), read_sizes(sizes)
    found = validate_files(
        _read(files), read_policy(policy), inventory, schemas, disk_sizes, _check_load
    )
    _refuse_to_replace(
        out, [*(file.source for file in found.files), *filter(None, (policy, sizes))], inventory
    )
    answer = _render(output_format, found)
    if out is not None:
        write_text(out, f"{answer}\n")
        answer = _render(ValidateFormat.HUMAN, found)
    typer.echo(screen_of(sys.stdout).linked(answer))
    if output_format is ValidateFormat.GITHUB:
        _append_step_summary(found)
    if found.schema_alone:
        skipped = "other rules and the inventory are checked when these errors are corrected"
        typer.echo(f"{skipped}: {_named(found)}", err=True)
    return InvalidInputError.exit_code if tally(found.diagnostics)[0] else 0


def _refuse_to_replace(
    out: Path | None, names: Sequence[str | Path], inventory: Path | None
) -> None:
    """Raise UsageError where the answer would overwrite one of the documents."""
    if out is None:
        return
    read = [*names]
    if inventory is not None:
        from kadmin.inventory import inventory_files

        read += inventory_files(inventory)
    if os.path.realpath(out) in map(os.path.realpath, read):
        raise UsageError(
            f"--out {out} was read for this answer.", next_step="name another file with --out"
        )


def _check_load(folder: Path) -> None:
    """Raise InvalidInputError for a folder without a load history, if it can be read here."""
    if missing_libraries(LOAD_LIBRARIES):
        return
    from kadmin.planner.load.columns import PARTITION_LOAD
    from kadmin.planner.load.quiet import check_load

    check_load(folder / PARTITION_LOAD)


def _schemas(folder: Path | None) -> SchemaSet | None:
    if folder is None:
        return None
    from kadmin.schema import SchemaSet

    schemas = SchemaSet(folder)
    schemas.check()
    return schemas


def _read(names: Sequence[str]) -> Iterator[tuple[str, bytes | InvalidInputError]]:
    """Yield each file's bytes, or the error of its reading.

    The other files are still checked after an error.
    """
    for name, refusal in find_files(names):
        try:
            yield name, refusal or read_document(path_of(name))
        except InvalidInputError as error:
            yield name, error


def _render(output_format: ValidateFormat, found: Validation) -> str:
    from kadmin.report.problems import github, gitlab, junit, sarif, text
    from kadmin.schema.shapes import to_json

    files, problems = [file.source for file in found.files], found.diagnostics
    match output_format:
        case ValidateFormat.JSON:
            return to_json(text.problems_answer(files, problems))
        case ValidateFormat.GITHUB:
            return github.annotation_lines(files, problems)
        case ValidateFormat.SARIF:
            return sarif.sarif(files, problems, docs_site())
        case ValidateFormat.GITLAB:
            return gitlab.code_quality(problems)
        case ValidateFormat.JUNIT:
            return junit.junit(files, problems)
        case ValidateFormat.HUMAN:
            width = shutil.get_terminal_size((100, 24)).columns
            return text.problems_text(
                {file.source: file.text for file in found.files}, problems, width
            )


def _named(found: Validation) -> str:
    from kadmin.documents.text import printable

    return name_some([printable(name) for name in found.schema_alone])


def _append_step_summary(found: Validation) -> None:
    # GitHub gives each step a file to append to, where it runs one.
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return
    from kadmin.report.problems.github import step_summary

    with writing(path), Path(path).open("a", encoding="utf-8") as summary:
        summary.write(step_summary([file.source for file in found.files], found.diagnostics))
