"""Throttles a broker that was away until it is in sync (`throttle catch-up`).

The catch-up is an operation on record. Its run ends when every replica is in sync.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.next_step import command
from kadmin.operations.decide.catch_up import CATCH_UP, catch_up_plan, catch_up_work, to_catch_up
from kadmin.operations.decide.kinds import record_of
from kadmin.operations.execute.apply import (
    Outcome,
    unexecutable,
    unfinished_error,
    unrecordable,
)
from kadmin.operations.execute.runner import Runner
from kadmin.operations.reading.brokers import refused_credentials
from kadmin.operations.session import held
from kadmin.operations.throttles.by_hand import Scope, require_known
from kadmin.operations.throttles.changes import record_throttle
from kadmin.plan.copying import Throttle
from kadmin.plan.throttle import throttled

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.decide.catch_up import CatchUpWork
    from kadmin.plan.model import ReassignmentPlan, ThrottleSpec


@dataclass(frozen=True, slots=True)
class CatchUpPreview:
    """A catch-up on the live cluster, before anything is written."""

    state: ClusterState
    plan: ReassignmentPlan
    work: CatchUpWork
    throttle: Throttle

    def settled(self, *, dry_run: bool) -> Outcome | None:
        """Return the outcome where there is nothing more to do, else None."""
        if not self.work.targets:
            text = f"nothing to catch up: every replica of broker {self.work.broker} is in sync"
            return Outcome(None, text)
        return Outcome(None, "dry run: nothing was changed") if dry_run else None


def prepare_catch_up(context: Context, broker: int, spec: ThrottleSpec) -> CatchUpPreview:
    """Read the cluster and return the catch-up; nothing is written.

    `spec` has a rate or a range. Raises StalePlanError for an unknown broker, and the first reason
    for which an operation could not be recorded or its throttle set.
    """
    found = _study(context, broker, spec)
    if found.work.targets:
        for refusal in unrecordable(context):
            raise refusal
        for refusal in unexecutable(context.backend, found.work, found.throttle):
            raise refusal
    return found


def catch_up(context: Context, broker: int, spec: ThrottleSpec, lock_timeout_s: float) -> Outcome:
    """Throttle the copies of a broker until it is in sync: lock, read again, record, run, release.

    Raises as `prepare_catch_up` and `Runner.run` do.
    """
    with held(context, context.new_holder(), lock_timeout_s, frozenset({broker})) as session:
        context.clock.stop_if_asked(
            "nothing was recorded",
            command("throttle catch-up", "--broker", broker, "--rate", "RATE"),
        )
        if unfinished := context.operations.unfinished():
            raise unfinished_error(unfinished, None)
        found = _study(context, broker, spec)
        if (outcome := found.settled(dry_run=False)) is not None:
            return outcome
        record = record_of(CATCH_UP, found.plan, found.work, found.state, session.holder)
        record = replace(record, throttle=record_throttle(context.backend, found.throttle))
        session.begin(record)
        return Outcome(record.operation_id, Runner(session, record).run(found.state))


def _study(context: Context, broker: int, spec: ThrottleSpec) -> CatchUpPreview:
    context.backend.check()
    state = context.backend.read()
    require_known(Scope((broker,)), state)
    if refused := refused_credentials(context.backend, state):
        raise refused
    plan = catch_up_plan(broker, to_catch_up(broker, state), spec, state)
    work = catch_up_work(plan)
    values = throttled(work.targets, spec.amount)
    return CatchUpPreview(state, plan, work, Throttle(spec.amount, values, (), None, (), spec))
