"""`kadmin snapshot`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import read_facts
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import UsageError


class FileFormat(StrEnum):
    """The format of an inventory's tables."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


@on_cluster
def snapshot(
    cluster: ClusterAddress | Fleet,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The inventory folder to write. Default: that of the context.",
        ),
    ] = None,
    sizes: options.Sizes = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    table: Annotated[
        FileFormat, typer.Option("--table", help="Format of the tables.")
    ] = FileFormat.PARQUET,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Write the inventory of a cluster: brokers and partitions.

    The planner and every command with --inventory read it. Brokers are asked for sizes of
    partitions that --sizes does not give (Kafka 1.1 and later). Several contexts give the inventory
    of a fleet, without clusters that fail.
    """
    from kadmin.inventory import write_inventory
    from kadmin.operations.reading.snapshot import take_snapshot
    from kadmin.report.cluster.snapshots import snapshot_answer, snapshot_text

    context = cluster.context if isinstance(cluster, ClusterAddress) else None
    folder = out if out is not None or context is None else context.inventory
    if folder is None:
        raise UsageError("No folder is named for the inventory.", next_step="add --out DIR")
    if isinstance(cluster, Fleet):
        if sizes is not None:
            raise UsageError("--sizes is of one cluster.", next_step="--context NAME")
        return _of_fleet(cluster, folder, table, timeout, output)
    given = read_facts(sizes)
    with open_reading(cluster, timeout_s=timeout) as opened:
        taken = take_snapshot(opened, given)
    write_inventory(taken.inventory, folder, table.value)
    answer(output, lambda: snapshot_text(taken, folder), lambda: snapshot_answer(taken, folder))
    return 0


def _of_fleet(
    fleet: Fleet, folder: Path, table: FileFormat, timeout_s: float, output: options.OutputFormat
) -> int:
    from kadmin.cli.side_by_side import FleetAnswer, answer_fleet, read_side_by_side
    from kadmin.inventory import Inventory, write_inventory
    from kadmin.operations.reading.snapshot import Snapshot, take_snapshot
    from kadmin.plan.facts import ClusterFacts
    from kadmin.report.cluster.snapshots import snapshot_answer, snapshot_notes

    def render(_name: str, taken: Snapshot) -> FleetAnswer:
        notes = snapshot_notes(taken)
        row = (taken.brokers, taken.topics, taken.partitions)
        return FleetAnswer([row], snapshot_answer(taken, folder), "\n".join(notes))

    found = read_side_by_side(
        fleet, lambda _cluster, context: take_snapshot(context, ClusterFacts()), timeout_s
    )
    taken = {each.name: each.found.inventory for each in found if each.found is not None}
    if taken:
        clusters = {name: inventory.single() for name, inventory in taken.items()}
        write_inventory(
            Inventory(max(each.taken_at for each in taken.values()), clusters), folder, table.value
        )
    return answer_fleet(output, ("brokers", "topics", "partitions"), found, render)
