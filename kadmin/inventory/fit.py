"""Whether a document fits a cluster as an inventory shows it: the checks that `validate --inventory` adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError, name_some
from kadmin.inventory.state import facts_of, state_of
from kadmin.plan import checks
from kadmin.plan.deletion import check_deletion
from kadmin.plan.diff import assignment_of
from kadmin.plan.election import check_election
from kadmin.plan.model import DeletionPlan, ElectionPlan, Policy, ReassignmentPlan, RebalanceRequest, RecreationPlan
from kadmin.plan.outlook import check_outlook
from kadmin.plan.recreation import check_recreation
from kadmin.plan.request_checks import unknown_in_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.inventory.model import ClusterInventory, Inventory
    from kadmin.plan.checks import Violation
    from kadmin.plan.model import Document, Plan


def check_fit(document: Document, inventory: Inventory, policy: Policy, source: str) -> tuple[Violation, ...]:
    """Return what only the cluster could know; raises InvalidInputError for a plan of no cluster of a fleet."""
    if isinstance(document, Policy):
        return ()
    if isinstance(document, RebalanceRequest):
        return tuple(_request(document, _clusters_of(document, inventory, source)))
    (cluster,) = _clusters_of(document, inventory, source)
    return (*checks.other_cluster(document, cluster.cluster_id), *_plan(document, cluster, policy))


def _clusters_of(document: Document, inventory: Inventory, source: str) -> Sequence[ClusterInventory]:
    """Return the clusters that a document is about: of a fleet the one with its `cluster_id`.

    A request without a `cluster_id` is about every cluster of the fleet.
    """
    wanted = document.header.cluster_id
    if not inventory.fleet or (wanted is None and isinstance(document, RebalanceRequest)):
        return tuple(inventory.clusters.values())
    ids = {name: cluster.cluster_id for name, cluster in inventory.clusters.items()}
    found = [name for name, cluster_id in ids.items() if cluster_id == wanted and wanted is not None]
    if len(found) != 1:
        what = f"{name_some(found)} have" if found else "no cluster of it has"
        known = name_some(f"{cluster_id or 'no id'} ({name})" for name, cluster_id in ids.items())
        raise InvalidInputError(
            f"{source}: the inventory holds a fleet, and {what} the document's cluster_id.",
            cause=f"metadata.cluster_id is {wanted}" if wanted else "the document has no metadata.cluster_id",
            next_command=f"name one of its clusters: {known}",
        )
    return [inventory.clusters[found[0]]]


def _request(request: RebalanceRequest, clusters: Sequence[ClusterInventory]) -> Iterator[Violation]:
    if len(clusters) == 1:
        yield from checks.other_cluster(request, clusters[0].cluster_id)
    rows = [row for cluster in clusters for row in cluster.partitions]
    assignment = {TopicPartition(row.topic, row.partition): row.replicas for row in rows}
    yield from unknown_in_request(request, assignment, {row.broker_id for each in clusters for row in each.brokers})


def _plan(plan: Plan, cluster: ClusterInventory, policy: Policy) -> tuple[Violation, ...]:
    state, facts = state_of(cluster), facts_of(cluster)
    assignment = assignment_of(state)
    brokers = {row.broker_id for row in cluster.brokers} | set(cluster.dead_brokers())
    match plan:
        case ReassignmentPlan():
            racks = {row.broker_id: row.rack for row in cluster.brokers}
            return (
                *checks.unknown_names(plan, assignment, brokers),
                *checks.stale_currents(plan, assignment),
                *checks.replication_factor_changes(plan, assignment),
                *checks.fewer_racks(plan, assignment, racks),
                *check_outlook(plan, state, assignment, facts),
            )
        case ElectionPlan():
            return (*checks.unknown_names(plan, assignment, brokers), *check_election(plan, state))
        case DeletionPlan():
            return check_deletion(plan, state, facts, policy)
        case RecreationPlan():
            return check_recreation(plan, state)
