"""Reads a live cluster for a preview, a prediction or a report; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.execute.apply import prepare
from kadmin.operations.reading.preview import PlanPreview, SizedState
from kadmin.operations.reading.snapshot import ask_sizes, read_state
from kadmin.operations.reading.timeline import read_timeline
from kadmin.plan.facts import ClusterFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.reading.timeline import Timeline
    from kadmin.plan.model import Plan, Policy


@dataclass(frozen=True, slots=True)
class OperationReview:
    """An operation in order, and the cluster as it is now; `read_at` says when that was read."""

    timeline: Timeline
    cluster: SizedState
    read_at: str


def preview_live(
    context: Context, plan: Plan, sizes: Mapping[TopicPartition, int], policy: Policy, *, with_sizes: bool
) -> PlanPreview:
    """Examine a plan on a live cluster; `with_sizes` asks the brokers for bytes per partition."""
    found = prepare(context, plan, sizes, policy)
    sized = _sized(found.state, sizes) if with_sizes else SizedState(found.state, sizes)
    read_from = f"the live cluster, {_read_at(context, sized)}"
    return PlanPreview(plan, read_from, found.state, ClusterFacts(sizes=sized.sizes), found.examination)


def read_live(context: Context, sizes: Mapping[TopicPartition, int] | None) -> SizedState:
    """Read a live cluster; `sizes` None asks the brokers for bytes per partition."""
    state = read_state(context)
    return _sized(state, {}) if sizes is None else SizedState(state, sizes)


def review_operation(
    context: Context, operation_id: str | None, sizes: Mapping[TopicPartition, int]
) -> OperationReview:
    """Read an operation, the last for None; of a reassignment the brokers are asked for bytes per partition.

    Raises InvalidInputError where there is none, NotCompletedError where it cannot be read.
    """
    state = read_state(context)
    timeline = read_timeline(context, operation_id)
    sized = _sized(state, sizes) if timeline.targets else SizedState(state, sizes)
    return OperationReview(timeline, sized, _read_at(context, sized))


def _sized(state: ClusterState, sizes: Mapping[TopicPartition, int]) -> SizedState:
    """Ask the live brokers for bytes per partition; `sizes` come before theirs."""
    asked, unavailable = ask_sizes(state)
    return SizedState(state, {**(asked or {}), **sizes}, unavailable)


def _read_at(context: Context, found: SizedState) -> str:
    reason = f"; brokers gave no sizes: {found.unavailable}" if found.unavailable else ""
    return f"at {context.clock.timestamp()}{reason}"
