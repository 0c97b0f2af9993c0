"""The Spark engine: reads tables in parallel, and plans a fleet's clusters in parallel, one task per cluster.

One job reads both tables, groups the rows by cluster and runs the kernel on each group. Rows are packed into cells
(kadmin.planner.packed_rows), because Spark's cost per row exceeds the kernel's. A cluster is never split: the largest
that ZooKeeper can hold fits in one task.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import starmap
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyspark.errors import PySparkException

from kadmin.errors import NotCompletedError
from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.inventory.reading import refuse_unknown_clusters
from kadmin.planner.cluster_arrays import arrow_schema
from kadmin.planner.cluster_plan import RESULT_SCHEMA, PlanningTask, plan_cluster
from kadmin.planner.load.reading import ROWS, history_path, read_history
from kadmin.planner.packed_rows import PACKED, pack, pack_batches, unpack
from kadmin.planner.proposal import checked_header, explain_bad_rows, ignore_stages, proposals_of
from kadmin.planner.spark_session import cause_of, spark_session
from kadmin.planner.spark_tables import HISTORY, BadTableError, read_frame, read_history_frame
from kadmin.planner.worker_package import ship_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable
    from kadmin.planner.proposal import Options, Proposal

_TASKS_PER_SHUFFLE_PARTITION = 4
"""Tasks for each partition of a default shuffle: clusters are hashed to tasks, and more keep the cores evenly busy."""
_SHUFFLE_PARTITIONS = 200
"""Spark's own default, for a server whose setting is no number."""


def propose(
    request: RebalanceRequest, directory: Path, options: Options, on_stage: Callable[[str], None] = ignore_stages
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name.

    Calls `on_stage` with the name of each stage. Raises as `proposals_of`, and NotCompletedError where Spark does not
    start or fails.
    """
    header = checked_header(request, directory)
    task = PlanningTask.on(request, header)
    results = _results(task, directory, header, options, on_stage)
    schemas = _schemas(request)
    for name in header.clusters:
        if name not in results:
            results[name] = plan_cluster(name, task, *(schema.empty_table() for schema in schemas.values()))
    return proposals_of(request, directory, header, results)


def _results(
    task: PlanningTask, directory: Path, header: Header, options: Options, on_stage: Callable[[str], None]
) -> dict[str, ArrowTable]:
    on_stage("starting Spark")
    with spark_session(options) as session:
        on_stage(f"reading {directory} and planning on Spark (clusters: {len(header.clusters):,})")
        try:
            ship_package(session)
            tasks = min(max(len(header.clusters), 1), _most_tasks(session))
            frames = {
                table.name: read_frame(session, directory, header.shape(table)) for table in (BROKERS, PARTITIONS)
            }
            if (history := history_path(task.request)) is not None:
                frames[HISTORY] = read_history_frame(session, history, header)
            together = _solved(task, frames, tasks).toArrow().to_pylist()
        except BadTableError:
            explain_bad_rows(directory)
        except (PySparkException, Py4JError, ConnectionError) as error:
            read_inventory(directory)  # both raise the better error where Spark failed on a bad row
            read_history(task.request, header)
            raise NotCompletedError("Spark failed.", cause=cause_of(error), next_step="--engine local") from error
    refuse_unknown_clusters(directory, header, [row[CLUSTER.name] for row in together])
    return {row[CLUSTER.name]: unpack([row["rows"]], RESULT_SCHEMA) for row in together}


def _schemas(request: RebalanceRequest) -> dict[str, Any]:
    """Return the Arrow schemas of the tables that `plan_cluster` takes for a request, by name."""
    schemas = {table.name: arrow_schema(table) for table in (BROKERS, PARTITIONS)}
    return schemas if request.load is None else {**schemas, HISTORY: ROWS}


def _most_tasks(session: SparkSession) -> int:
    shuffles = session.conf.get("spark.sql.shuffle.partitions", None) or ""
    return _TASKS_PER_SHUFFLE_PARTITION * (int(shuffles) if shuffles.isdigit() else _SHUFFLE_PARTITIONS)


def _solved(task: PlanningTask, frames: Mapping[str, DataFrame], tasks: int) -> DataFrame:
    schemas = _schemas(task.request)

    def solve_one(key: tuple[Any, ...], cells: ArrowTable) -> ArrowTable:
        cluster, tables = key[0].as_py() or SINGLE_CLUSTER, cells.select(["name", "rows"]).to_pylist()
        rows = (
            unpack([cell["rows"] for cell in tables if cell["name"] == name], schema)
            for name, schema in schemas.items()
        )
        return pack(cluster, "result", plan_cluster(cluster, task, *rows))

    together = reduce(lambda one, other: one.unionAll(other), starmap(_packed, frames.items()))
    return together.repartition(tasks, CLUSTER.name).groupBy(CLUSTER.name).applyInArrow(solve_one, schema=PACKED)


def _packed(name: str, rows: DataFrame) -> DataFrame:
    return rows.mapInArrow(partial(pack_batches, name=name), schema=PACKED)
