"""The local engine: plans in this process, with the same plan as Spark, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from kadmin.errors import UsageError
from kadmin.inventory import read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.inventory.parquet_tables import arrow_table, holds
from kadmin.inventory.reading import refuse_columns, refuse_unknown_clusters, table_path
from kadmin.planner.cluster_arrays import arrow_schema, rows_as_arrow
from kadmin.planner.cluster_plan import PlanningTask, plan_cluster
from kadmin.planner.fast_csv import read_plain_csv
from kadmin.planner.load.reading import read_history
from kadmin.planner.proposal import Options, checked_header, explain_bad_rows, ignore_stages, proposals_of
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kadmin.inventory.columns import InventoryTable
    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable
    from kadmin.planner.proposal import Proposal


def propose(
    request: RebalanceRequest, directory: Path, options: Options, on_stage: Callable[[str], None] = ignore_stages
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name.

    Calls `on_stage` with the name of each stage. Raises as `proposals_of`, and UsageError for Spark's options. Every
    engine has this signature.
    """
    if options != Options():
        raise UsageError("--master, --remote and --conf are Spark's; --engine local does not use them.")
    header = checked_header(request, directory)
    on_stage(f"reading {directory}")
    tables = _read(directory, header)
    history = read_history(request, header)
    task = PlanningTask.on(request, header)
    results = {}
    for number, name in enumerate(header.clusters, start=1):
        brokers, partitions = tables[name]
        counts = f"{count(len(partitions), 'partition')} on {count(len(brokers), 'broker')}"
        on_stage(
            f"planning cluster {name} ({number} of {len(header.clusters)}): {counts}" if name else f"planning {counts}"
        )
        results[name] = plan_cluster(name, task, brokers, partitions, history.pop(name, None))
    return proposals_of(request, directory, header, results)


def _read(directory: Path, header: Header) -> dict[str, tuple[ArrowTable, ArrowTable]]:
    brokers, partitions = (_typed(directory, header.shape(table)) for table in (BROKERS, PARTITIONS))
    if brokers is None or partitions is None:
        return {name: rows_as_arrow(cluster) for name, cluster in read_inventory(directory).clusters.items()}
    of_brokers, of_partitions = (_by_cluster(directory, header, rows) for rows in (brokers, partitions))
    refuse_unknown_clusters(directory, header, {*of_brokers, *of_partitions})
    no_brokers, no_partitions = (arrow_schema(table).empty_table() for table in (BROKERS, PARTITIONS))
    return {
        name: (of_brokers.get(name, no_brokers), of_partitions.get(name, no_partitions)) for name in header.clusters
    }


def _by_cluster(directory: Path, header: Header, rows: ArrowTable) -> dict[str, ArrowTable]:
    if not header.fleet:
        return {SINGLE_CLUSTER: rows}
    names = rows.column(CLUSTER.name)
    if names.null_count:
        explain_bad_rows(directory)
    return {
        name: rows.filter(pc.equal(names, name)).drop_columns([CLUSTER.name]) for name in names.unique().to_pylist()
    }


def _typed(directory: Path, shape: InventoryTable) -> ArrowTable | None:
    """Read a table column by column; None where only kadmin.inventory can decode it."""
    path = table_path(directory, shape)
    read = {".parquet": _parquet, ".csv": read_plain_csv}.get(path.suffix)
    return None if read is None else read(path, shape)


def _parquet(path: Path, shape: InventoryTable) -> ArrowTable | None:
    schema = arrow_schema(shape)
    try:
        read = arrow_table(parquet, path)
        refuse_columns(path, shape, read.column_names)
        present = [column for column in shape.columns if column.name in read.column_names]
        if not all(holds(pa.types, read.schema.field(column.name).type, column.kind) for column in present):
            return None
        for field in schema:
            if field.name not in read.column_names:
                read = read.append_column(field, pa.nulls(len(read), field.type))
        return read.select(schema.names).cast(schema)
    except pa.ArrowInvalid:
        return None
