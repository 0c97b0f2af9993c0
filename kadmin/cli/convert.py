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


class SourceTool(StrEnum):
    """The tool that wrote a file."""

    KAFKA = "kafka"
    CRUISE_CONTROL = "cruise-control"


@bounded
def convert(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to convert; - reads standard input.")
    ],
    to: Annotated[
        Form, typer.Option("--to", help="Target: a plan, or a JSON file of Kafka's tools.")
    ],
    *,
    origin: Annotated[
        SourceTool,
        typer.Option("--from", help="With --to plan: the tool that the file is from."),
    ] = SourceTool.KAFKA,
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

    Kafka's tools are kafka-reassign-partitions, whose printed text is read as well,
    kafka-preferred-replica-election and kafka-leader-election. Cruise Control's proposals become a
    plan, too. A conversion that would lose a field is refused.
    """
    if to is Form.PLAN:
        if current or lossy:
            raise UsageError(
                "--current and --lossy belong to --to kafka.",
                next_step=command("convert", file, "--to", "plan"),
            )
        text = _plan(file, origin, out)
    else:
        if origin is not SourceTool.KAFKA:
            raise UsageError(f"--from {origin} belongs to --to plan.")
        text = _kafka(file, current=current, lossy=lossy)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)


def _plan(file: Path, origin: SourceTool, out: Path | None) -> str:
    from kadmin.documents import dump_json, dump_yaml
    from kadmin.documents.cruise_control import parse_proposals
    from kadmin.documents.kafka_files import parse_kafka_file

    parse = parse_kafka_file if origin is SourceTool.KAFKA else parse_proposals
    document, notes = parse(read_document(file), str(file))
    for note in notes:
        typer.echo(note, err=True)
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
