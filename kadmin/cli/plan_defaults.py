"""Completes a plan by the defaults of a context, for fields that the plan does not set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cli.inputs import read_plan, read_throttle
from kadmin.cli.propose import LOAD_LIBRARIES, require_libraries
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.contexts.address import ClusterAddress
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, ThrottleSpec


def read_plan_for(cluster: ClusterAddress | None, file: Path, approved: str | None = None) -> Plan:
    """Read a plan as `read_plan` does.

    Limits of waves that it does not set are those of the cluster's context.
    """
    from kadmin.documents.check import read
    from kadmin.plan.model import ReassignmentPlan

    plan = read_plan(file, approved)
    context, source = None if cluster is None else cluster.context, plan.header.file
    if (
        context is None
        or not context.waves
        or source is None
        or not isinstance(plan, ReassignmentPlan)
    ):
        return plan
    given = read(source.data, source.name).value["spec"].get("waves", {})
    missing = {name: limit for name, limit in context.waves.items() if name not in given}
    return replace(plan, limits=replace(plan.limits, **missing))


def throttle_for(
    cluster: ClusterAddress | None, plan: Plan, given: str | None
) -> ThrottleSpec | None:
    """Return the throttle that replaces the plan's own: --throttle, or the context's default.

    The default is for a reassignment without a throttle. None leaves the plan unchanged. Raises
    UsageError where --throttle is given and the plan is no reassignment.
    """
    from kadmin.plan.model import MaintenancePlan, ReassignmentPlan

    if given is not None:
        pace = read_throttle(rate=given)
        if not isinstance(plan, ReassignmentPlan | MaintenancePlan):
            raise UsageError(
                "--throttle goes with a plan that copies replicas.",
                next_step="leave --throttle out",
            )
        return pace
    context = None if cluster is None else cluster.context
    if context is None or not isinstance(plan, ReassignmentPlan | MaintenancePlan):
        return None
    return context.throttle if plan.throttle is None else None


def with_load(given: ClusterFacts, plan: Plan) -> ClusterFacts:
    """Add the load history to given facts in which the quiet hours of a plan are found.

    Raises UsageError where the libraries to read one are not installed, InvalidInputError where it
    cannot be read.
    """
    from kadmin.plan.model import ReassignmentPlan

    hours = plan.hours if isinstance(plan, ReassignmentPlan) else None
    if hours is None or hours.folder is None:
        return given
    require_libraries(LOAD_LIBRARIES, "spec.hours.quiet")
    from kadmin.planner.load.quiet import read_load
    from kadmin.planner.load.reading import path_in

    return replace(given, load=read_load(path_in(hours.folder, plan.header.file)))


def as_applied(cluster: ClusterAddress | None, plan: Plan, given: str | None) -> Plan:
    """Return a plan with the throttle with which `apply` would execute it."""
    from kadmin.operations.execute.apply import with_throttle

    return with_throttle(plan, throttle_for(cluster, plan, given))
