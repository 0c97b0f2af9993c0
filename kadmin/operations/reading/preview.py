"""Examines a plan on a snapshot, or on one cluster of an inventory, without a connection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.inventory import facts_of, publish_limits_of, read_inventory, state_of, world_of
from kadmin.operations.decide.examine import examine, with_ending

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
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
    plan: Plan, folder: Path, given: ClusterFacts, policy: Policy, at: datetime
) -> PlanPreview:
    """Examine a plan on the snapshot of one cluster; arguments are as in `preview_cluster`."""
    found = read_inventory(folder)
    read_from = f"snapshot {folder}, taken at {found.taken_at}"
    return preview_cluster(plan, found.single(), read_from, given, policy, at)


def preview_cluster(
    plan: Plan,
    cluster: ClusterInventory,
    read_from: str,
    given: ClusterFacts,
    policy: Policy,
    at: datetime | None = None,
) -> PlanPreview:
    """Examine a plan on one cluster of an inventory; sizes that are `given` take precedence.

    `at` is the time at which the plan would be applied, None where no end of copies is needed.
    """
    state, publish = state_of(cluster), publish_limits_of(cluster)
    facts = replace(facts_of(cluster, given.sizes), load=given.load)
    examination = examine(plan, state, publish, facts, policy)
    if at is not None:
        examination = with_ending(examination, at)
    return PlanPreview(plan, read_from, state, facts, examination)


def read_snapshot(folder: Path, sizes: Mapping[TopicPartition, int]) -> ClusterView:
    """Read the snapshot of one cluster; `sizes` take precedence."""
    return world_of(read_inventory(folder).single(), sizes)
