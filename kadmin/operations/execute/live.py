"""Reads a live cluster for a preview, a prediction or a report; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.execute.apply import prepare
from kadmin.operations.reading.brokers import with_disks
from kadmin.operations.reading.preview import PlanPreview
from kadmin.operations.reading.snapshot import read_state
from kadmin.operations.reading.timeline import read_timeline
from kadmin.operations.record.holder import is_run_by
from kadmin.plan.rules import ClusterView

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.reading.timeline import Timeline
    from kadmin.operations.record.holder import Holder
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy


@dataclass(frozen=True, slots=True)
class OperationReview:
    """An operation and the current cluster, which was read at `read_at`."""

    timeline: Timeline
    cluster: ClusterView
    read_at: str
    runner: Holder | None


def preview_live(context: Context, plan: Plan, given: ClusterFacts, policy: Policy) -> PlanPreview:
    """Examine a plan on a live cluster."""
    found = prepare(context, plan, given, policy)
    read_from = f"the live cluster, at {context.clock.timestamp()}"
    return PlanPreview(plan, read_from, found.state, found.facts, found.examination)


def read_live(context: Context, given: ClusterFacts) -> ClusterView:
    """Read a live cluster; the brokers are asked for bytes that were not given."""
    state = read_state(context)
    return ClusterView(state, with_disks(given, state, context.backend.brokers(state)))


def review_operation(
    context: Context, operation_id: str | None, given: ClusterFacts
) -> OperationReview:
    """Read an operation, the last for None.

    For a reassignment the brokers are asked for bytes per partition. Raises InvalidInputError where
    there is none, NotCompletedError where it cannot be read.
    """
    state = read_state(context)
    timeline = read_timeline(context, operation_id)
    facts = with_disks(given, state, context.backend.brokers(state)) if timeline.targets else given
    cluster = ClusterView(state, facts)
    read_at = "; ".join([f"at {context.clock.timestamp()}", *cluster.why_unsized])
    holder = context.operations.lock.holder()
    return OperationReview(
        timeline,
        cluster,
        read_at,
        holder if is_run_by(timeline.record.operation_id, holder) else None,
    )
