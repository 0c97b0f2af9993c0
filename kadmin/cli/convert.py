"""`kadmin convert`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.inputs import read_document, write_text
from kadmin.errors import InvalidInputError, UsageError
from kadmin.next_step import command


class Form(StrEnum):
    """The target format of a conversion."""

    PLAN = "plan"
    KAFKA = "kafka"


@bounded
def convert(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to convert; - reads standard input.")
    ],
    to: Annotated[
        Form, typer.Option("--to", help="Target: a plan, or a JSON file of Kafka's tools.")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write. Default: stdout."),
    ] = None,
    current: Annotated[
        bool,
        typer.Option(
            "--current", help="With --to kafka: write the current replicas, for a rollback."
        ),
    ] = False,
    lossy: Annotated[
        bool,
        typer.Option(
            "--lossy", help="With --to kafka: leave out fields that the file cannot hold."
        ),
    ] = False,
) -> None:
    """Convert a JSON file of Kafka's tools to a plan, or back.

    Kafka's tools are kafka-reassign-partitions, kafka-preferred-replica-election and
    kafka-leader-election. A conversion that would lose a field is refused.
    """
    if to is Form.PLAN and (current or lossy):
        raise UsageError(
            "--current and --lossy belong to --to kafka.",
            next_step=command("convert", file, "--to", "plan"),
        )
    text = _plan(file, out) if to is Form.PLAN else _kafka(file, current=current, lossy=lossy)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)


def _plan(file: Path, out: Path | None) -> str:
    from kadmin.documents import dump_json, dump_yaml
    from kadmin.documents.kafka_files import parse_kafka_file

    document = parse_kafka_file(read_document(file), str(file))
    return dump_json(document) if out is not None and out.suffix == ".json" else dump_yaml(document)


def _kafka(file: Path, *, current: bool, lossy: bool) -> str:
    from kadmin.documents import parse_document
    from kadmin.documents.kafka_files import dump_kafka_file, losses

    document = parse_document(read_document(file), str(file))
    text = dump_kafka_file(document, current=current)
    lost = ", ".join(losses(document, current=current))
    if lost and not lossy:
        raise InvalidInputError(
            f"{file} has fields that a file of Kafka's tools cannot hold: {lost}.",
            next_step="add --lossy to leave it out",
        )
    if lost:
        typer.echo(f"left out: {lost}", err=True)
    return text
