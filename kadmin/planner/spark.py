"""The planner on Spark: tables read in parallel, one kernel per cluster, a fleet's clusters side by side.

One job reads both tables, brings the rows of each cluster together and runs the kernel on each; the answers come home
as Arrow. A cluster is never split: the largest that ZooKeeper can carry fits in one task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyspark.errors import PySparkException

from kadmin.errors import NotCompletedError
from kadmin.inventory import SINGLE_CLUSTER, read_inventory
from kadmin.inventory.columns import BROKERS, CLUSTER, PARTITIONS
from kadmin.inventory.header import read_header
from kadmin.inventory.reading import refuse_unknown_clusters
from kadmin.planner.answer import answer
from kadmin.planner.proposal import check_cluster_ids, explain_bad_rows, proposals_of
from kadmin.planner.spark_session import cause_of, spark_session
from kadmin.planner.spark_tables import BadTableError, read_frame
from kadmin.planner.tables import arrow_schema
from kadmin.planner.terms import refuse_contradictions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

    from kadmin.inventory.header import Header
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Options, Proposal
    from kadmin.planner.tables import ArrowTable

_ANSWER = (
    "cluster string, ordinal bigint, topic string, partition int, current array<int>, target array<int>, "
    "size_bytes bigint, reason string, report string"
)


def propose(request: RebalanceRequest, directory: Path, options: Options) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name; raises as `proposals_of`.

    Raises NotCompletedError where Spark does not start or fails.
    """
    refuse_contradictions(request)
    header = read_header(directory)
    check_cluster_ids(request, header)
    answers = _answers(request, directory, header, options)
    for name in header.clusters:
        if name not in answers:
            answers[name] = answer(
                name, request, *(arrow_schema(table).empty_table() for table in (BROKERS, PARTITIONS))
            )
    return proposals_of(request, directory, header, answers)


def _answers(request: RebalanceRequest, directory: Path, header: Header, options: Options) -> dict[str, ArrowTable]:
    with spark_session(options) as session:
        try:
            brokers, partitions = (
                read_frame(session, directory, header.shape(table)) for table in (BROKERS, PARTITIONS)
            )
            together = _solved(request, brokers, partitions).toArrow()
        except BadTableError:
            explain_bad_rows(directory)
        except (PySparkException, Py4JError) as error:
            read_inventory(directory)  # says it better, if it was a row that Spark stumbled over
            raise NotCompletedError("Spark failed.", cause=cause_of(error), next_command="--engine local") from error
    names = together.column(CLUSTER.name)
    found = names.unique().to_pylist()
    refuse_unknown_clusters(directory, header, found)
    return {name: together.filter(pc.equal(names, name)) for name in found}


def _solved(request: RebalanceRequest, brokers: DataFrame, partitions: DataFrame) -> DataFrame:
    def solve_one(key: tuple[Any, ...], some_brokers: ArrowTable, some_partitions: ArrowTable) -> ArrowTable:
        name = key[0].as_py() or SINGLE_CLUSTER
        return answer(
            name, request, some_brokers.drop_columns([CLUSTER.name]), some_partitions.drop_columns([CLUSTER.name])
        )

    grouped = brokers.groupBy(CLUSTER.name).cogroup(partitions.groupBy(CLUSTER.name))
    return grouped.applyInArrow(solve_one, schema=_ANSWER)
