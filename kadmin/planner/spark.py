"""The planner on Spark: tables read in parallel, one kernel per cluster, a fleet's clusters side by side.

One job reads both tables, brings the rows of each cluster together and runs the kernel on each; rows travel packed
(kadmin.planner.packing), for Spark's own handling of each costs more than the kernel. A cluster is never split: the
largest that ZooKeeper can carry fits in one task.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyspark.errors import PySparkException

from kadmin.errors import NotCompletedError
from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.inventory.header import read_header
from kadmin.inventory.reading import refuse_unknown_clusters
from kadmin.plan.rules import check, require
from kadmin.planner.answer import ANSWER_SCHEMA, Question, answer
from kadmin.planner.packing import PACKED, pack_batches, packed, unpacked
from kadmin.planner.proposal import check_cluster_ids, explain_bad_rows, proposals_of, tell_nobody
from kadmin.planner.spark_session import cause_of, spark_session
from kadmin.planner.spark_tables import BadTableError, read_frame
from kadmin.planner.tables import arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Options, Proposal
    from kadmin.planner.tables import ArrowTable

_TASKS_PER_CORE = 8
"""A fleet's clusters are spread over tasks by chance: the more tasks, the less one core has left at the end."""


def propose(
    request: RebalanceRequest, directory: Path, options: Options, tell: Callable[[str], None] = tell_nobody
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name; raises as `proposals_of`.

    `tell` hears of each stage with its counts. Raises NotCompletedError where Spark does not start or fails.
    """
    require(check(request))
    header = read_header(directory)
    check_cluster_ids(request, header)
    question = Question.on(request, header)
    answers = _answers(question, directory, header, options, tell)
    for name in header.clusters:
        if name not in answers:
            answers[name] = answer(
                name, question, *(arrow_schema(table).empty_table() for table in (BROKERS, PARTITIONS))
            )
    return proposals_of(request, directory, header, answers)


def _answers(
    question: Question, directory: Path, header: Header, options: Options, tell: Callable[[str], None]
) -> dict[str, ArrowTable]:
    tell("starting Spark")
    with spark_session(options) as session:
        tell(f"reading {directory} and planning on Spark (clusters: {len(header.clusters):,})")
        try:
            brokers, partitions = (
                read_frame(session, directory, header.shape(table)) for table in (BROKERS, PARTITIONS)
            )
            together = _solved(question, brokers, partitions, len(header.clusters)).toArrow().to_pylist()
        except BadTableError:
            explain_bad_rows(directory)
        except (PySparkException, Py4JError, ConnectionError) as error:
            read_inventory(directory)  # says it better, if it was a row that Spark stumbled over
            raise NotCompletedError("Spark failed.", cause=cause_of(error), next_command="--engine local") from error
    refuse_unknown_clusters(directory, header, [row[CLUSTER.name] for row in together])
    return {row[CLUSTER.name]: unpacked([row["rows"]], ANSWER_SCHEMA) for row in together}


def _solved(question: Question, brokers: DataFrame, partitions: DataFrame, clusters: int) -> DataFrame:
    def solve_one(key: tuple[Any, ...], cells: ArrowTable) -> ArrowTable:
        cluster, tables = key[0].as_py() or SINGLE_CLUSTER, cells.select(["name", "rows"]).to_pylist()
        rows = (
            unpacked([cell["rows"] for cell in tables if cell["name"] == table.name], arrow_schema(table))
            for table in (BROKERS, PARTITIONS)
        )
        return packed(cluster, "answer", answer(cluster, question, *rows))

    together = _packed(brokers, BROKERS.name).unionAll(_packed(partitions, PARTITIONS.name))
    tasks = min(max(clusters, 1), _TASKS_PER_CORE * together.sparkSession.sparkContext.defaultParallelism)
    return together.repartition(tasks, CLUSTER.name).groupBy(CLUSTER.name).applyInArrow(solve_one, schema=PACKED)


def _packed(rows: DataFrame, name: str) -> DataFrame:
    return rows.mapInArrow(partial(pack_batches, name=name), schema=PACKED)
