"""Examines a plan on a snapshot, or on one cluster of an inventory, without a connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.inventory import facts_of, publish_limits_of, read_inventory, state_of, world_of
from kadmin.operations.decide.examine import examine, refuse_hours

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.inventory import ClusterInventory
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy
    from kadmin.plan.rules import ClusterView


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """A plan examined on a cluster's state.

    `read_from` names the source of the state, and when it was read.
    """

    plan: Plan
    read_from: str
    state: ClusterState
    facts: ClusterFacts
    examination: Examination


def preview_snapshot(
    plan: Plan, folder: Path, sizes: Mapping[TopicPartition, int], policy: Policy
) -> PlanPreview:
    """Examine a plan on the snapshot of one cluster; `sizes` take precedence."""
    found = read_inventory(folder)
    return preview_cluster(
        plan, found.single(), f"snapshot {folder}, taken at {found.taken_at}", sizes, policy
    )


def preview_cluster(
    plan: Plan,
    cluster: ClusterInventory,
    read_from: str,
    sizes: Mapping[TopicPartition, int],
    policy: Policy,
) -> PlanPreview:
    """Examine a plan on one cluster of an inventory; `sizes` take precedence."""
    state, facts, publish = state_of(cluster), facts_of(cluster, sizes), publish_limits_of(cluster)
    examination = refuse_hours(examine(plan, state, publish, facts, policy), plan)
    return PlanPreview(plan, read_from, state, facts, examination)


def read_snapshot(folder: Path, sizes: Mapping[TopicPartition, int]) -> ClusterView:
    """Read the snapshot of one cluster; `sizes` take precedence."""
    return world_of(read_inventory(folder).single(), sizes)
