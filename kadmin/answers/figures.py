"""Shapes of the answer of `propose rebalance` and its --figures file.

A plan's figures are written where it is made, in a task of Spark maybe, and arrive as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from kadmin.planner.figures import PlanFigures
from kadmin.schema.shapes import ABSENT, Absent


@dataclass(frozen=True, slots=True)
class FiguresAnswer:
    """The figures of proposed plans."""

    clusters: Annotated[tuple[ClusterFigures, ...], "One entry per cluster, by name."]
    explained: Annotated[
        Mapping[str, Annotated[str, "A sentence."]] | Absent,
        "Why the partitions that --explain names are in the plan, by topic-partition.",
    ] = ABSENT
    warnings: Annotated[
        tuple[Annotated[str, "A sentence."], ...] | Absent,
        "Patterns of the request that match no topic of the inventory.",
    ] = ABSENT


@dataclass(frozen=True)
class NamedCluster:
    """The cluster of a plan."""

    cluster: Annotated[str, "The cluster's name in a fleet; empty for a single cluster."]
    cluster_id: Annotated[str | None, "The cluster's id."]


@dataclass(frozen=True)
class ClusterFigures(PlanFigures, NamedCluster):
    """The figures of a cluster's plan, after its name."""
