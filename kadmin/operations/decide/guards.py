"""What stops a deletion, as errors: the violations of `kadmin.plan.deletion`, one error per guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError, NotCompletedError, StalePlanError
from kadmin.plan import codes
from kadmin.plan.deletion import check_deletion

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.plan.checks import Violation
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import DeletionPlan, Policy

_ERRORS: dict[str, type[KadminError]] = {
    codes.UNKNOWN_TOPIC: StalePlanError,
    codes.OFFLINE_REPLICAS: StalePlanError,
    codes.BEING_REASSIGNED: BusyError,
    codes.ACTIVE_CONSUMERS: BusyError,
    codes.DELETION_DISABLED: NotCompletedError,
}
"""What a guard's refusal is, where it is not input that can never be right."""

_MOST_NAMED = 5


def deletion_refusals(
    plan: DeletionPlan, state: ClusterState, facts: ClusterFacts, policy: Policy
) -> tuple[tuple[KadminError, ...], tuple[str, ...]]:
    """Return what stops a deletion, in the order in which an operator would want to hear it, and the warnings."""
    found = check_deletion(plan, state, facts, policy)
    by_code: dict[str, list[Violation]] = {}
    for violation in found:
        if violation.severity == "error":
            by_code.setdefault(violation.code, []).append(violation)
    refusals = tuple(_refusal(code, violations) for code, violations in by_code.items())
    return refusals, tuple(violation.message for violation in found if violation.severity == "warning")


def _refusal(code: str, violations: list[Violation]) -> KadminError:
    kind = _ERRORS.get(code, InvalidInputError)
    text = "; ".join(violation.message for violation in violations[:_MOST_NAMED])
    rest = len(violations) - _MOST_NAMED
    message = f"Not deleted: {text}" + (f"; and {rest} more." if rest > 0 else ".")
    return kind(
        message, cause=f"the deletion guard {code}", next_command=violations[0].hint or "take them out of spec.topics"
    )
