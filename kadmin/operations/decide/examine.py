"""Examines a plan on a state of the cluster: the refusals, and the work that it would be.

Rules and their order are those of kadmin.plan.rules. Refusals are returned, not raised: `diff`
shows all of them, `apply` raises the first, with those that are alike.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kadmin.operations.decide.decommission_plan import with_stages
from kadmin.operations.decide.deletion import examine_deletion
from kadmin.operations.decide.election import examine_election
from kadmin.operations.decide.examination import Examination, placed
from kadmin.operations.decide.growth import examine_growth
from kadmin.operations.decide.maintenance_plan import examine_maintenance
from kadmin.operations.decide.quiet_hours import with_quiet_hours
from kadmin.operations.decide.reassignment_plan import examine_reassignment
from kadmin.operations.decide.recovery_plan import examine_recovery
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.plan import codes
from kadmin.plan.ending import ending_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import (
    DeletionPlan,
    ElectionPlan,
    GrowthPlan,
    MaintenancePlan,
    Policy,
    ReassignmentPlan,
    RecoveryPlan,
    RecreationPlan,
)
from kadmin.plan.rules import ClusterView, check, refusals_of, refuses

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.model import ClusterState
    from kadmin.plan.model import Plan

_NO_CHANGE = frozenset(
    {
        codes.OTHER_CLUSTER,
        codes.UNKNOWN_TOPIC,
        codes.UNKNOWN_PARTITION,
        codes.SIZE_UNKNOWN,
        codes.TOO_BIG_FOR_A_WAVE,
    }
)
"""Refusals without work: names that do not exist, and moves that fit in no wave."""


_EXAMINED: dict[type, Callable[[Examination, Any, ClusterView], Examination]] = {
    ElectionPlan: lambda found, plan, world: examine_election(found, plan, world.state),
    DeletionPlan: examine_deletion,
    RecreationPlan: lambda found, plan, _: replace(
        found, work=RecreationWork(plan), targets=plan.topics
    ),
    MaintenancePlan: lambda found, plan, world: examine_maintenance(found, plan, world.state),
    RecoveryPlan: examine_recovery,
    GrowthPlan: examine_growth,
}
"""The other kinds; a reassignment is cut into waves besides."""


def examine(
    plan: Plan,
    state: ClusterState,
    publish: PublishLimits,
    facts: ClusterFacts | None = None,
    policy: Policy | None = None,
) -> Examination:
    """Examine a plan on a state.

    `publish` bounds its waves, `facts` are what is known beyond the state.
    """
    world = ClusterView(state, facts or ClusterFacts(), live=True)
    found = check(plan, world, policy or Policy())
    refusing = [each for each in found if refuses(each)]
    warnings = [*(each.message for each in found if not refuses(each)), *world.facts.hidden_topics]
    refusals = refusals_of(refusing, partial(placed, plan))
    examination = Examination(refusals, None, warnings=(*warnings, *world.facts.disks_unavailable))
    if any(each.code in _NO_CHANGE for each in refusing):
        return examination
    if isinstance(plan, ReassignmentPlan):
        examined = with_stages(
            examine_reassignment(examination, plan, world, publish, policy), plan
        )
        return with_quiet_hours(examined, world)
    return _EXAMINED[type(plan)](examination, plan, world)


def with_ending(found: Examination, at: datetime) -> Examination:
    """Complete an examination by the end of the copies by their hours, if they begin at `at`."""
    if found.throttle is None or found.throttle.hours is None or found.refusals:
        return found
    throttle = replace(found.throttle, ending=ending_of(found.throttle, at))
    return replace(found, throttle=throttle)
