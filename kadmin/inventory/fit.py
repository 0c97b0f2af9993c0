"""Whether a document fits a cluster as an inventory shows it: the checks that `validate --inventory` adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.errors import name_some
from kadmin.inventory.state import facts_of, state_of
from kadmin.plan import checks, codes
from kadmin.plan.checks import Violation
from kadmin.plan.deletion import check_deletion
from kadmin.plan.election import check_election
from kadmin.plan.model import DeletionPlan, ElectionPlan, Policy, ReassignmentPlan, RebalanceRequest, RecreationPlan
from kadmin.plan.outlook import check_outlook
from kadmin.plan.recreation import check_recreation
from kadmin.plan.request_checks import unknown_in_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.inventory.model import ClusterInventory, Inventory
    from kadmin.plan.model import Document, Plan


def check_named(document: Document, inventory: Inventory) -> tuple[Violation, ...]:
    """Return why it cannot be told which cluster of a fleet a document is about; nothing else of it can be checked."""
    if not _is_of_one(document, inventory) or len(named := _named(document, inventory)) == 1:
        return ()
    return (_of_no_cluster(document, inventory, named),)


def check_fit(document: Document, inventory: Inventory, policy: Policy) -> tuple[Violation, ...]:
    """Return what only the cluster could know, nothing where `check_named` finds something.

    Of a fleet a plan is about the cluster with its `cluster_id`; a request without one is about every cluster.
    """
    if isinstance(document, Policy) or check_named(document, inventory):
        return ()
    names = _named(document, inventory) if _is_of_one(document, inventory) else [*inventory.clusters]
    clusters = [inventory.clusters[name] for name in names]
    if isinstance(document, RebalanceRequest):
        return tuple(_request(document, clusters))
    (cluster,) = clusters
    return (*checks.other_cluster(document, cluster.cluster_id), *_plan(document, cluster, policy))


def _is_of_one(document: Document, inventory: Inventory) -> bool:
    """Return whether a document is about one cluster among many."""
    everywhere = isinstance(document, RebalanceRequest) and document.header.cluster_id is None
    return inventory.fleet and not everywhere and not isinstance(document, Policy)


def _named(document: Document, inventory: Inventory) -> list[str]:
    """Return the names of the clusters that have the document's `cluster_id`."""
    wanted = document.header.cluster_id
    return [name for name, each in inventory.clusters.items() if wanted is not None and each.cluster_id == wanted]


def _of_no_cluster(document: Document, inventory: Inventory, named: Sequence[str]) -> Violation:
    wanted = document.header.cluster_id
    who = f"{name_some(named)} have" if named else "no cluster of it has"
    what = "the document has no cluster_id" if wanted is None else f"{who} cluster_id {wanted}"
    known = name_some(f"{each.cluster_id or 'no id'} ({name})" for name, each in inventory.clusters.items())
    return Violation(
        codes.OTHER_CLUSTER,
        f"the inventory holds a fleet, and {what}",
        f"name one of its clusters: {known}",
        field=("metadata", "cluster_id"),
    )


def _request(request: RebalanceRequest, clusters: Sequence[ClusterInventory]) -> Iterator[Violation]:
    if len(clusters) == 1:
        yield from checks.other_cluster(request, clusters[0].cluster_id)
    rows = [row for cluster in clusters for row in cluster.partitions]
    assignment = {TopicPartition(row.topic, row.partition): row.replicas for row in rows}
    yield from unknown_in_request(request, assignment, {row.broker_id for each in clusters for row in each.brokers})


def _plan(plan: Plan, cluster: ClusterInventory, policy: Policy) -> tuple[Violation, ...]:
    state, facts = state_of(cluster), facts_of(cluster)
    assignment = state.assignment
    brokers = {row.broker_id for row in cluster.brokers} | set(cluster.dead_brokers())
    match plan:
        case ReassignmentPlan():
            racks = {row.broker_id: row.rack for row in cluster.brokers}
            return (
                *checks.unknown_names(plan, assignment, brokers),
                *checks.stale_currents(plan, assignment),
                *checks.replication_factor_changes(plan, assignment),
                *checks.fewer_racks(plan, assignment, racks),
                *check_outlook(plan, state, facts),
            )
        case ElectionPlan():
            return (*checks.unknown_names(plan, assignment, brokers), *check_election(plan, state))
        case DeletionPlan():
            return check_deletion(plan, state, facts, policy)
        case RecreationPlan():
            return check_recreation(plan, state)
