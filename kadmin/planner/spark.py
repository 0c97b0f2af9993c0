"""The Spark engine: plans a fleet's clusters in parallel, one task per cluster.

This process reads the inventory, some 15 bytes for each partition once packed; the workers read the
load history, some 2,000 bytes for each. One job groups the rows by cluster and runs the kernel on
each group. Rows are packed into cells (kadmin.planner.packed_rows), because Spark's cost per row
exceeds the kernel's. A cluster is never split: the largest that ZooKeeper can hold fits in one
task.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyspark.errors import PySparkException

from kadmin.errors import NotCompletedError
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.planner.cluster_arrays import arrow_schema
from kadmin.planner.cluster_plan import RESULT_SCHEMA, PlanningTask, plan_cluster
from kadmin.planner.inventory_tables import read_tables
from kadmin.planner.load.reading import ROWS, history_path, read_history
from kadmin.planner.packed_rows import PACKED, pack, pack_batches, pack_tables, unpack
from kadmin.planner.proposal import (
    checked_header,
    checked_patterns,
    ignore_stages,
    proposals_of,
)
from kadmin.planner.spark_history import read_history_frame
from kadmin.planner.spark_session import cause_of, spark_session
from kadmin.planner.worker_package import ship_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.inventory.header import Header
    from kadmin.plan.model import Policy, RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable
    from kadmin.planner.proposal import Options, Proposal

_HISTORY = "history"
"""The name of a load history's rows among packed ones."""
_TASKS_PER_SHUFFLE_PARTITION = 4
"""Tasks for each partition of a default shuffle: clusters are hashed to tasks, and more keep the
cores evenly busy."""
_SHUFFLE_PARTITIONS = 200
"""Spark's own default, for a server whose setting is no number."""


def propose(
    request: RebalanceRequest,
    directory: Path,
    options: Options,
    on_stage: Callable[[str], None] = ignore_stages,
    policy: Policy | None = None,
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name.

    Calls `on_stage` with the name of each stage. Raises as `proposals_of`, and NotCompletedError
    where Spark does not start or fails.
    """
    header = checked_header(request, directory)
    on_stage(f"reading {directory}")
    by_cluster = read_tables(directory, header)
    warnings = checked_patterns(request, (rows for _, rows in by_cluster.values()), policy)
    cells = pack_tables(
        {
            (cluster, table.name): rows
            for cluster, tables in by_cluster.items()
            for table, rows in zip((BROKERS, PARTITIONS), tables, strict=True)
        }
    )
    del by_cluster
    on_stage("starting Spark")
    with spark_session(options) as session:
        on_stage(f"planning on Spark (clusters: {len(header.clusters):,})")
        results = _results(session, PlanningTask.on(request, header), header, cells)
    return proposals_of(request, directory, header, results, warnings)


def _results(
    session: SparkSession, task: PlanningTask, header: Header, cells: ArrowTable
) -> dict[str, ArrowTable]:
    """Return the result of `plan_cluster` for each cluster of the header by name.

    `cells` hold its inventory.
    """
    try:
        ship_package(session)
        packed = session.createDataFrame(cells)
        if (history := history_path(task.request)) is not None:
            rows = read_history_frame(session, history, header)
            packed = packed.unionAll(
                rows.mapInArrow(partial(pack_batches, name=_HISTORY), schema=PACKED)
            )
        tasks = min(len(header.clusters), _most_tasks(session))
        planned = _solved(task, packed, tasks).toArrow().to_pylist()
    except (PySparkException, Py4JError, ConnectionError) as error:
        # It raises the better error where Spark failed on a bad row.
        read_history(task.request, header)
        raise NotCompletedError(
            "Spark failed.", cause=cause_of(error), next_step="--engine local"
        ) from error
    return {row[CLUSTER.name]: unpack([row["rows"]], RESULT_SCHEMA) for row in planned}


def _schemas(request: RebalanceRequest) -> dict[str, Any]:
    """Return the Arrow schemas of the tables that `plan_cluster` takes for a request, by name."""
    schemas = {table.name: arrow_schema(table) for table in (BROKERS, PARTITIONS)}
    return schemas if request.load is None else {**schemas, _HISTORY: ROWS}


def _most_tasks(session: SparkSession) -> int:
    shuffles = session.conf.get("spark.sql.shuffle.partitions", None) or ""
    return _TASKS_PER_SHUFFLE_PARTITION * (
        int(shuffles) if shuffles.isdigit() else _SHUFFLE_PARTITIONS
    )


def _solved(task: PlanningTask, packed: DataFrame, tasks: int) -> DataFrame:
    schemas = _schemas(task.request)

    def solve_one(key: tuple[Any, ...], cells: ArrowTable) -> ArrowTable:
        cluster, tables = key[0].as_py(), cells.select(["name", "rows"]).to_pylist()
        rows = (
            unpack([cell["rows"] for cell in tables if cell["name"] == name], schema)
            for name, schema in schemas.items()
        )
        return pack(cluster, "result", plan_cluster(cluster, task, *rows))

    return (
        packed.repartition(tasks, CLUSTER.name)
        .groupBy(CLUSTER.name)
        .applyInArrow(solve_one, schema=PACKED)
    )
