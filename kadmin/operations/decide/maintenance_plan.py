"""Examines a maintenance plan: its stages, and the throttle of its catch-ups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.maintenance import maintenance_work
from kadmin.operations.decide.maintenance_stages import replicas_of
from kadmin.plan.copying import Throttle
from kadmin.plan.model import ThrottleBy
from kadmin.plan.throttle import throttled

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.model import MaintenancePlan


def examine_maintenance(
    found: Examination, plan: MaintenancePlan, state: ClusterState
) -> Examination:
    """Complete the examination of a maintenance by its stages and its throttle."""
    work = maintenance_work(plan, replicas_of(plan, state.assignment))
    spec, throttle = plan.throttle, None
    if spec is not None and spec.by is not ThrottleBy.NONE:
        values = throttled(work.targets, spec.amount)
        throttle = Throttle(spec.amount, values, (), None, (), spec)
    return replace(found, work=work, targets=work.names, throttle=throttle)
