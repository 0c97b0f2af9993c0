"""The one list of rules.

`validate`, `diff`, `propose`, `apply` and `recreate` check every document by it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kadmin.plan.model import (
    DecommissionPlan,
    DeletionPlan,
    ElectionPlan,
    GrowthPlan,
    MaintenancePlan,
    Policy,
    ReassignmentPlan,
    RebalanceRequest,
    RecoveryPlan,
    RecreationPlan,
)
from kadmin.plan.rules.decommission import check_decommission
from kadmin.plan.rules.deletion import check_deletion
from kadmin.plan.rules.election import check_election, touched_by_election
from kadmin.plan.rules.growth import check_growth, touched_by_growth
from kadmin.plan.rules.maintenance import check_maintenance
from kadmin.plan.rules.policy import check_policy
from kadmin.plan.rules.reassignment import check_reassignment, touched_by_reassignment
from kadmin.plan.rules.recovery import check_recovery
from kadmin.plan.rules.recreation import check_recreation
from kadmin.plan.rules.request import check_request
from kadmin.plan.rules.together import NamedDocument, PlanFootprint, check_beside
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Document
    from kadmin.plan.rules.world import ClusterView

_RULES: dict[type, Callable[[Any, ClusterView | None, Policy | None], Iterator[Diagnostic]]] = {
    ReassignmentPlan: check_reassignment,
    ElectionPlan: check_election,
    DeletionPlan: check_deletion,
    RecreationPlan: check_recreation,
    MaintenancePlan: check_maintenance,
    DecommissionPlan: check_decommission,
    RecoveryPlan: check_recovery,
    GrowthPlan: check_growth,
    RebalanceRequest: check_request,
    Policy: check_policy,
}
_TOUCHED: dict[type, Callable[[Any], PlanFootprint]] = {
    ReassignmentPlan: touched_by_reassignment,
    DecommissionPlan: touched_by_reassignment,
    ElectionPlan: touched_by_election,
    DeletionPlan: lambda plan: PlanFootprint(deleted=plan.topics),
    GrowthPlan: touched_by_growth,
    RecoveryPlan: lambda plan: PlanFootprint(
        reassigned=tuple({entry.partition: None for entry in plan.partitions})
    ),
    MaintenancePlan: lambda plan: PlanFootprint(
        reassigned=tuple({target.partition: None for target in plan.demotions})
    ),
}


def check(
    document: Document, world: ClusterView | None = None, policy: Policy | None = None
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a document, in order.

    Wrong cluster, unknown names, busy, not allowed, stale, dead. Without a `world` the document
    alone is checked; without a policy, no guards of a policy are. A problem that several partitions
    of a topic share is one diagnostic.
    """
    return _grouped(_RULES[type(document)](document, world, policy))


def check_side_by_side(
    documents: Sequence[tuple[str, Document]],
) -> Iterator[tuple[Diagnostic, ...]]:
    """Yield for each document, given with its file's name, its conflicts with those before it."""
    named = [
        NamedDocument(
            file, each.header.cluster_id, _TOUCHED.get(type(each), lambda _: PlanFootprint())(each)
        )
        for file, each in documents
    ]
    for index, each in enumerate(named):
        yield _grouped(check_beside(each, named[:index]))


def _grouped(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Join diagnostics that several partitions of a topic share.

    The message is `a-0, a-1: ...`, with the place of the first.
    """
    groups: defaultdict[object, list[Diagnostic]] = defaultdict(list)
    for each in found:
        groups[_key(each)].append(each)
    return tuple(map(_joined, groups.values()))


def _key(diagnostic: Diagnostic) -> object:
    said = _without_partition(diagnostic)
    if diagnostic.partition is None or said == diagnostic.message:
        return diagnostic
    return diagnostic.code, diagnostic.partition.topic, said, diagnostic.next_step


def _joined(alike: Sequence[Diagnostic]) -> Diagnostic:
    first, partitions = alike[0], dict.fromkeys(each.partition for each in alike)
    if len(partitions) == 1:
        return first
    return replace(first, message=f"{name_some(partitions)}: {_without_partition(first)}")


def _without_partition(diagnostic: Diagnostic) -> str:
    return diagnostic.message.removeprefix(f"{diagnostic.partition}: ")
