"""Options that several commands share, named once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

READ_TIMEOUT_S = 60.0
"""Bound on a command that only reads."""


class OutputFormat(StrEnum):
    """The format of a command's answer on stdout."""

    HUMAN = "human"
    JSON = "json"


ZooKeeperOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "-z",
        "--zookeeper",
        envvar="KADMIN_ZOOKEEPER",
        metavar="HOST:PORT[,HOST:PORT...][/CHROOT]",
        help="ZooKeeper of the cluster.",
    ),
]
OptionalZooKeeperOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "-z",
        "--zookeeper",
        envvar="KADMIN_ZOOKEEPER",
        metavar="HOST:PORT[,HOST:PORT...][/CHROOT]",
        help="ZooKeeper of the cluster.",
    ),
]
OutputOption: TypeAlias = Annotated[
    OutputFormat, typer.Option("-o", "--output", help="Format of the answer on stdout.")
]
TimeoutOption: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Bound on the whole command.", min=0)
]
BoundOption: TypeAlias = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="Bound on the whole command.", min=0.1)
]
LockTimeoutOption: TypeAlias = Annotated[
    float, typer.Option("--lock-timeout", metavar="SECONDS", help="How long to wait for a held lock.", min=0)
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
PlanArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="A plan; - reads standard input.")]
SizesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--sizes", metavar="FILE", help="Output of kafka-log-dirs --describe: bytes per partition."),
]
PolicyOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        envvar="KADMIN_POLICY",
        metavar="FILE",
        help="A Policy: which problems count, which topics are guarded.",
    ),
]
OperationArgument: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The operation; may be left out when one is unfinished.")
]
