"""The planner in this process, without Spark: the same kernel and the same plan, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from kadmin.errors import UsageError
from kadmin.inventory import read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.inventory.header import read_header
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.inventory.parquet_tables import arrow_table, holds
from kadmin.inventory.reading import refuse_columns, refuse_unknown_clusters, table_path
from kadmin.planner.answer import answer
from kadmin.planner.proposal import Options, check_cluster_ids, explain_bad_rows, proposals_of
from kadmin.planner.tables import arrow_schema, rows_as_arrow
from kadmin.planner.terms import refuse_contradictions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.inventory.columns import Table
    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Proposal
    from kadmin.planner.tables import ArrowTable


def propose(request: RebalanceRequest, directory: Path, options: Options) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name; raises as `proposals_of`, and UsageError for options.

    The signature is that of every engine.
    """
    if options != Options():
        raise UsageError("--master and --conf are Spark's; --engine local has no use for them.")
    refuse_contradictions(request)
    header = read_header(directory)
    check_cluster_ids(request, header)
    tables = _read(directory, header)
    answers = {name: answer(name, request, *tables[name]) for name in header.clusters}
    return proposals_of(request, directory, header, answers)


def _read(directory: Path, header: Header) -> dict[str, tuple[ArrowTable, ArrowTable]]:
    if any(table_path(directory, table).suffix != ".parquet" for table in (BROKERS, PARTITIONS)):
        return {name: rows_as_arrow(cluster) for name, cluster in read_inventory(directory).clusters.items()}
    brokers, partitions = (_by_cluster(directory, header, table) for table in (BROKERS, PARTITIONS))
    refuse_unknown_clusters(directory, header, {*brokers, *partitions})
    no_brokers, no_partitions = (arrow_schema(table).empty_table() for table in (BROKERS, PARTITIONS))
    return {name: (brokers.get(name, no_brokers), partitions.get(name, no_partitions)) for name in header.clusters}


def _by_cluster(directory: Path, header: Header, table: Table) -> dict[str, ArrowTable]:
    """Read a Parquet table and part it; whatever does not fit the table is explained by the careful reader."""
    read = _typed(directory, header.shape(table))
    if not header.fleet:
        return {SINGLE_CLUSTER: read}
    names = read.column(CLUSTER.name)
    if names.null_count:
        explain_bad_rows(directory)
    return {
        name: read.filter(pc.equal(names, name)).drop_columns([CLUSTER.name]) for name in names.unique().to_pylist()
    }


def _typed(directory: Path, shape: Table) -> ArrowTable:
    path = table_path(directory, shape)
    try:
        read = arrow_table(parquet, path)
        refuse_columns(path, shape, read.column_names)
        if not all(
            holds(pa.types, read.schema.field(c.name).type, c.kind)
            for c in shape.columns
            if c.name in read.column_names
        ):
            explain_bad_rows(directory)
        absent = [field for field in arrow_schema(shape) if field.name not in read.column_names]
        for field in absent:
            read = read.append_column(field, pa.nulls(len(read), field.type))
        return read.select(arrow_schema(shape).names).cast(arrow_schema(shape))
    except pa.ArrowInvalid:
        explain_bad_rows(directory)
