"""The one list of rules: `validate`, `diff`, `propose`, `apply` and `recreate` check every document by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.model import DeletionPlan, ElectionPlan, Policy, ReassignmentPlan, RebalanceRequest, RecreationPlan
from kadmin.plan.rules.deletion import check_deletion, touched_by_deletion
from kadmin.plan.rules.election import check_election, touched_by_election
from kadmin.plan.rules.kind import Kind
from kadmin.plan.rules.policy import check_policy
from kadmin.plan.rules.reassignment import check_reassignment, touched_by_reassignment
from kadmin.plan.rules.recreation import check_recreation
from kadmin.plan.rules.request import check_request
from kadmin.plan.rules.together import Named, check_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Document
    from kadmin.plan.rules.world import World

_KINDS: dict[type, Kind] = {
    ReassignmentPlan: Kind(check_reassignment, touched_by_reassignment),
    ElectionPlan: Kind(check_election, touched_by_election),
    DeletionPlan: Kind(check_deletion, touched_by_deletion),
    RecreationPlan: Kind(check_recreation),
    RebalanceRequest: Kind(check_request),
    Policy: Kind(check_policy),
}


def check(document: Document, world: World | None = None, policy: Policy | None = None) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a document, in the order in which an operator wants to read it.

    Wrong cluster, unknown names, busy, not allowed, stale, dead. Without a world the document alone is checked; without
    a policy no policy's guards are.
    """
    return tuple(_KINDS[type(document)].rules(document, world, policy))


def check_side_by_side(documents: Sequence[tuple[str, Document]]) -> Iterator[tuple[Diagnostic, ...]]:
    """Yield for each document, given with the name of its file, what it must not do beside those before it."""
    named = [Named(file, each.header.cluster_id, _KINDS[type(each)].touched(each)) for file, each in documents]
    for index, each in enumerate(named):
        yield tuple(check_beside(each, named[:index]))
