"""`kadmin snapshot`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli import options
from kadmin.cli.cluster import ClusterAddress, on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import read_facts
from kadmin.cli.output import answer


class FileFormat(StrEnum):
    """The format of an inventory's two tables."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


@on_cluster
def snapshot(
    cluster: ClusterAddress,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The inventory folder to write.")],
    *,
    sizes: options.Sizes = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    table: Annotated[FileFormat, typer.Option("--table", help="Format of the two tables.")] = FileFormat.PARQUET,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Write the inventory of a live cluster: its brokers and partitions.

    The planner and every command with --inventory read it. Bytes per partition that --sizes does not give are asked of
    the brokers (Kafka 1.1 and later).
    """
    from kadmin.inventory import write_inventory
    from kadmin.operations.reading.snapshot import take_snapshot
    from kadmin.report.cluster.snapshot import snapshot_answer, snapshot_text

    given = read_facts(sizes)
    with open_reading(cluster, timeout_s=timeout) as context:
        taken = take_snapshot(context, given)
    write_inventory(taken.inventory, out, table.value)
    answer(output, lambda: snapshot_text(taken, out), lambda: snapshot_answer(taken, out))
