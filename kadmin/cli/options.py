"""Arguments and options that more than one command has."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kadmin.cli.completion import complete_unfinished
from kadmin.errors import UsageError

READ_TIMEOUT_S = 60.0
"""Time limit of a command that only reads, unless --timeout says otherwise."""


class OutputFormat(StrEnum):
    """The format of a command's answer on stdout."""

    HUMAN = "human"
    JSON = "json"


class TableFormat(StrEnum):
    """The format of a table on stdout."""

    HUMAN = "human"
    JSON = "json"
    CSV = "csv"


PlanFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="PLAN", help="The plan, YAML or JSON; - reads standard input.")
]
OperationId: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        autocompletion=complete_unfinished,
        help="The operation's id; not needed when exactly one is unfinished.",
    ),
]

PlanOut: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="PLAN", help="The plan to write, .yaml or .json.")
]
Inventory: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--inventory", metavar="DIR", help="Use this snapshot instead of the live cluster."
    ),
]
GivenInventory: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--inventory",
        metavar="DIR",
        help="Take bytes per partition and capacities from this snapshot.",
    ),
]
Sizes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--sizes",
        metavar="FILE",
        help="Bytes per partition: the output of kafka-log-dirs --describe.",
    ),
]
Throttle: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--throttle",
        metavar="RATE",
        help="Copy at this rate, instead of the plan's: 50MB/s; or in a range: 10MB/s..200MB/s.",
    ),
]
WithoutBrokers: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--without-brokers", help="With -z: do not ask brokers for sizes, disk space and consumers."
    ),
]
Policy: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        envvar="KADMIN_POLICY",
        metavar="FILE",
        help="A Policy document: severity of each problem, protected topics.",
    ),
]
Margin: TypeAlias = Annotated[
    int,
    typer.Option(
        "--margin",
        metavar="N",
        help="In-sync replicas that each partition must keep above min.insync.replicas.",
        min=0,
    ),
]
Timeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit of the whole command. Default: none.",
        min=0,
    ),
]
ReadTimeout: TypeAlias = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", help="Time limit of the whole command.", min=0.1),
]
WatchTimeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit of the whole command. Default: 60; none with --watch.",
        min=0.1,
    ),
]
SampleTimeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit of the whole command. Default: 60 with --once; none else.",
        min=0.1,
    ),
]
BETWEEN_READS_S = 2.0
"""Seconds between two readings with --watch."""
LockTimeout: TypeAlias = Annotated[
    float,
    typer.Option(
        "--lock-timeout", metavar="SECONDS", help="Time to wait for a lock that is held.", min=0
    ),
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Run every check, but change nothing.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Html: TypeAlias = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write an HTML page to this file."),
]
Output: TypeAlias = Annotated[
    OutputFormat, typer.Option("-o", "--output", help="Format of the answer on stdout.")
]
TableOutput: TypeAlias = Annotated[
    TableFormat, typer.Option("-o", "--output", help="Format of the table on stdout.")
]
Sort: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--sort", metavar="COLUMN", help="Sort by a column; -COLUMN descending. Repeatable."
    ),
]
Filter: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="COLUMN=GLOB",
        help="Keep rows that match; COLUMN!=GLOB keeps the others. Repeatable.",
    ),
]


def refuse_watch(*, watch: bool) -> None:
    """Raise UsageError for --watch with several contexts."""
    if watch:
        raise UsageError(
            "--watch is for one cluster.", next_step="--context NAME, or leave --watch out"
        )


def watch_bound(timeout_s: float | None, *, watch: bool) -> float | None:
    """Return the time limit of a command that takes --watch; None where it has none."""
    return timeout_s if timeout_s is not None or watch else READ_TIMEOUT_S
