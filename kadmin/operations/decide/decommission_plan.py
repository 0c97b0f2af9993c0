"""Completes the examination of a decommission, which is that of a reassignment, by its stages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.decommission import decommission_work
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.plan.model import DecommissionPlan

if TYPE_CHECKING:
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.model import ReassignmentPlan


def with_stages(found: Examination, plan: ReassignmentPlan) -> Examination:
    """Return the examination of a plan as it is, of a decommission with its stages.

    They are left where nothing moves.
    """
    if not isinstance(plan, DecommissionPlan):
        return found
    moves = found.work
    if not isinstance(moves, ReassignmentWork):
        moves = ReassignmentWork((), (), plan.elect)
    work = decommission_work(plan, moves)
    return replace(found, work=work, targets=work.names)
