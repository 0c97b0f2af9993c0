"""Chooses where a proposal is planned: in this process, or on Spark.

The plans are the same, byte for byte.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Options

SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable with the port of the JVM that spark-submit started."""
MOST_LOCAL_PARTITIONS = 2_000_000
"""The most partitions of a cluster that is planned in this process unless Spark is asked for."""


class Engine(StrEnum):
    """Where the planner runs."""

    AUTO = "auto"
    SPARK = "spark"
    LOCAL = "local"


class EngineChoice(NamedTuple):
    """An engine, and the reason for it; None where the user asked for it."""

    engine: Engine
    reason: str | None = None


def choose_engine(request: RebalanceRequest, directory: Path, options: Options) -> EngineChoice:
    """Choose the engine for an inventory.

    Spark plans where its options or spark-submit ask for it, several clusters of a fleet in
    parallel, and very large clusters. Raises the refusals of the engines that need no rows.
    """
    from kadmin.planner.inventory_tables import count_partitions
    from kadmin.planner.proposal import Options, checked_header

    if options != Options() or SUBMITTED in os.environ:
        return EngineChoice(Engine.SPARK)
    clusters = len(checked_header(request, directory).clusters)
    if clusters > 1:
        return EngineChoice(Engine.SPARK, f"planning on Spark: a fleet of {clusters:,} clusters")
    partitions = count_partitions(directory)
    counted = f"one cluster, {partitions:,} partitions"
    if partitions > MOST_LOCAL_PARTITIONS:
        return EngineChoice(Engine.SPARK, f"planning on Spark: {counted}")
    return EngineChoice(Engine.LOCAL, f"planning in this process: {counted}")
