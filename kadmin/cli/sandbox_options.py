"""The options of `kadmin sandbox up`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

VersionOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--version", help="Kafka version.", show_default="2.8.2, with --kraft 4.4.0"),
]
KraftOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--kraft", help="KRaft mode: three controllers, no ZooKeeper. Implied from 4.0 on."
    ),
]
BrokersOption: TypeAlias = Annotated[
    int, typer.Option("--brokers", min=1, help="Number of brokers; ids start at 1.")
]
RacksOption: TypeAlias = Annotated[
    int, typer.Option("--racks", min=1, help="Number of racks: r1, r2, ... in turn.")
]
ZooKeepersOption: TypeAlias = Annotated[
    int, typer.Option("--zookeepers", help="Number of ZooKeeper servers, 1 or 3.")
]
ChrootOption: TypeAlias = Annotated[
    str, typer.Option("--chroot", metavar="/PATH", help="Chroot of the cluster.")
]
FourLetterWordsOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--four-letter-words/--no-four-letter-words",
        help="Enable ZooKeeper's four-letter commands.",
    ),
]
LinkOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="RATE",
        help="Limit each broker's network to this rate in each direction, as 100Mbit. "
        "Needs root on Linux.",
        show_default="not limited",
    ),
]
QueueOption: TypeAlias = Annotated[
    str,
    typer.Option("--queue", metavar="TIME", help="Longest wait of a byte in a link's queue."),
]
LatenciesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--latencies",
        metavar="FILE",
        help="Write the latencies of each second to this file, as JSON lines.",
    ),
]
ConfigOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--config", metavar="KEY=VALUE", help="Config of every broker and controller. Repeatable."
    ),
]
DisksOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--disks",
        metavar="N[:SIZE]",
        help="Number of log directories of each broker, as 2 or 2:64MB. "
        "With a size, each is a tmpfs; that needs root on Linux.",
        show_default="1, without a size",
    ),
]
TieredOption: TypeAlias = Annotated[
    bool,
    typer.Option("--tiered", help="Tiered storage in a local folder; Kafka 3.9.2 and 4.1.2."),
]
