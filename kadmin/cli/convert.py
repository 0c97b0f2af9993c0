"""convert: files of Kafka's own tools to plans, and plans to such files; offline."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli.deadline import bounded
from kadmin.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from kadmin.plan.model import Document


class Form(StrEnum):
    """What a file becomes."""

    PLAN = "plan"
    KAFKA = "kafka"


@bounded
def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to convert; - reads standard input.")],
    to: Annotated[Form, typer.Option("--to", help="A kadmin document, or a JSON file of Kafka's tools.")],
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write; stdout if absent.")] = None,
    current: Annotated[
        bool, typer.Option("--current", help="With --to kafka: the current replicas, which is the file to go back.")
    ] = False,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="With --to kafka: leave out what Kafka's file cannot hold.")
    ] = False,
) -> None:
    """Turn a JSON file of Kafka's tools into a plan, or a plan into such a file; lossless or refused."""
    if to is Form.PLAN and (current or lossy):
        raise UsageError("--current and --lossy belong to --to kafka.", next_command="kadmin convert --help")
    text = _plan(file, out) if to is Form.PLAN else _kafka(file, current=current, lossy=lossy)
    if out is None:
        typer.echo(text, nl=False)
        return
    from kadmin.cli.inputs import write_text

    write_text(out, text)


def _plan(file: Path, out: Path | None) -> str:
    from kadmin.cli.inputs import read_document
    from kadmin.documents import dump_json, dump_yaml
    from kadmin.documents.kafka_files import parse_kafka_file

    document = parse_kafka_file(read_document(file), str(file))
    return dump_json(document) if out is not None and out.suffix == ".json" else dump_yaml(document)


def _kafka(file: Path, *, current: bool, lossy: bool) -> str:
    from kadmin.cli.inputs import read_document
    from kadmin.documents import parse_document
    from kadmin.documents.kafka_files import dump_kafka_file

    document = parse_document(read_document(file), str(file))
    text = dump_kafka_file(document, current=current)
    _tell_losses(file, document, current=current, lossy=lossy)
    return text


def _tell_losses(file: Path, document: Document, *, current: bool, lossy: bool) -> None:
    from kadmin.documents.kafka_files import losses

    lost = ", ".join(losses(document, current=current))
    if lost and not lossy:
        raise InvalidInputError(
            f"{file} holds what a file of Kafka's tools cannot: {lost}.", next_command="add --lossy to leave it out"
        )
    if lost:
        typer.echo(f"left out: {lost}", err=True)
