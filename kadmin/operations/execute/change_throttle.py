"""Changes the throttle of an unfinished reassignment or catch-up.

It does so by a request to its runner, or here where there is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.execute.takeover import patience
from kadmin.operations.reading.brokers import with_disks
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.operations.session import held
from kadmin.operations.throttles.by_hand import Planned, Written
from kadmin.operations.throttles.changes import (
    in_flight_of,
    is_on_record,
    is_there,
    require_followed,
    wanted_by,
)
from kadmin.operations.throttles.operation import Throttling
from kadmin.plan.copying import sized, throttle_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ThrottleBy
from kadmin.plan.rules import check_hours
from kadmin.plan.throttle import edits_to_set, merge, only_readable
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.model import PartitionTarget, ThrottleSpec
    from kadmin.plan.throttle import ForeignValue
    from kadmin.plan.throttle_edit import ThrottleEdit


def unfinished_reassignment(context: Context) -> str | None:
    """Return the id of the unfinished reassignment or catch-up, whose throttle can be changed.

    None where there is none.
    """
    context.backend.check()
    for listing in context.operations.unfinished():
        if listing.kind.copies and listing.status.state is not OperationState.PREPARING:
            return listing.operation_id
    return None


def request_for(context: Context, operation_id: str, edit: ThrottleEdit) -> ThrottleRequest:
    """Return the request for an edit of an operation's throttle and hours; nothing is written.

    Raises InvalidInputError for one that makes no sense, and for signals and a time zone that this
    machine does not have. Hours that change nothing are noted.
    """
    before = context.operations.throttle(operation_id)
    rate = edit.rate
    if rate is not None and rate.by is not ThrottleBy.RATE:
        amount = _rate_for(context, operation_id, rate)
        rate = replace(rate, by=ThrottleBy.RATE, amount=amount)
    edit = replace(edit, rate=rate)
    spec = edit.throttle(None if before is None else before.asked)
    hours = edit.hours(None if before is None else before.hours)
    require_followed(context, spec, hours)
    for each in check_hours(hours, spec):
        context.tell(events.Note(f"warning: {each.message}"))
    now = before.rate if before is not None and rate is None else spec.amount
    return ThrottleRequest(now, str(context.author), context.clock.timestamp(), spec, hours)


def _rate_for(context: Context, operation_id: str, wanted: ThrottleSpec) -> int:
    """Return a throttle's rate in bytes per second, for the copies that the operation has left.

    For `finish_in` the brokers are asked for sizes that the plan does not have. Raises
    InvalidInputError where sizes are unknown, or nothing is left to copy.
    """
    work = _work(context, operation_id)
    state = context.backend.read(work.topics())
    left = [list(work.left_to_copy(wave, state)) for wave in work.waves]
    if wanted.by is ThrottleBy.FINISH_IN:
        left = _sized(left, state, context.backend.brokers(state))
    throttle = throttle_of(wanted, left, state, {})
    if throttle is None:
        raise InvalidInputError(
            f"Operation {operation_id} has nothing left to copy.", next_step=command("status")
        )
    return throttle.rate


def plan_change(context: Context, operation_id: str, request: ThrottleRequest) -> Planned:
    """Return the changes of a request to the present configs; nothing is written."""
    targets = (target for wave in _work(context, operation_id).waves for target in wave)
    wanted = wanted_by(request, context.operations.throttle(operation_id), targets)
    found = context.backend.read_configs(wanted)
    return Planned(merge(only_readable(wanted, found, {}), found))


def change_throttle(
    context: Context, operation_id: str, request: ThrottleRequest, lock_timeout_s: float
) -> Written:
    """Change the throttle of an operation, and return once every config has the rate.

    Without a runner the change is put on record under the lock, and set if something of the
    operation is in flight; otherwise `kadmin resume` sets it. Raises NotCompletedError where the
    runner does not answer.
    """
    planned = plan_change(context, operation_id, request)
    request = replace(request, at=context.clock.timestamp())
    with context.clock.deferring_signals():
        context.operations.ask_throttle(operation_id, request)
        kept = _await(context, operation_id, request)
    if kept is None:
        kept = _take_over(context, operation_id, request, lock_timeout_s)
    return Written(planned, kept, request=request)


def _await(
    context: Context, operation_id: str, request: ThrottleRequest
) -> tuple[ForeignValue, ...] | None:
    """Wait until the runner has set the rate.

    Returns the values of others that it kept, None without a runner.
    """
    give_up: float | None = None
    while True:
        holder = context.operations.lock.holder()
        if holder is None or holder.operation_id != operation_id:
            return None
        missing = "the request is not taken up yet"
        if is_on_record(request, context.operations.steps(operation_id)):
            unset, kept = _compare(context, operation_id)
            if not unset:
                return kept
            missing = f"it is on record, and not set yet on {name_some(unset)}"
        context.clock.stop_if_asked("the request stays on record", command("throttle show"))
        now = context.clock.now()
        give_up = now + patience(holder) if give_up is None else give_up
        if now >= min(give_up, context.clock.until):
            raise NotCompletedError(
                f"Runner {holder} has not set the throttle: {missing}.",
                cause=_lacking(request),
                next_step=command("throttle show") + "; " + command("status"),
            )
        context.clock.wait(POLL_S)


def _lacking(request: ThrottleRequest) -> str | None:
    """Return why a runner may have ignored a request."""
    if request.hours is None and not request.asked.signals:
        return None
    return (
        "if its machine lacks a signal of the context, or the time zone, it keeps the old throttle "
        "and notes that"
    )


def _take_over(
    context: Context, operation_id: str, request: ThrottleRequest, lock_timeout_s: float
) -> tuple[ForeignValue, ...]:
    with held(context, context.new_holder(operation_id), lock_timeout_s) as session:
        state = context.operations.status(operation_id).state
        if state.finished:
            raise NotCompletedError(
                f"Operation {operation_id} is {state} meanwhile; its throttle is removed.",
                next_step=command("throttle show"),
            )
        record, work = context.operations.record(operation_id), _work(context, operation_id)
        throttling = Throttling(context, record, work)
        throttling.put_on_record(request, session.lease)
        if in_flight_of(work, context.backend.read(work.topics())):
            throttling.set_up(session.lease)
        else:
            context.tell(
                events.Note(
                    f"nothing is in flight; to set these values: {command('resume', operation_id)}"
                )
            )
    return _compare(context, operation_id)[1]


def _compare(
    context: Context, operation_id: str
) -> tuple[tuple[ConfigEntity, ...], tuple[ForeignValue, ...]]:
    """Return entities without the throttle on record, and the kept values of other clients."""
    throttle = context.operations.throttle(operation_id)
    if throttle is None:
        return (), ()
    state = context.backend.read(_work(context, operation_id).topics())
    changes = {entity: keys for entity, keys in throttle.changes.items() if is_there(entity, state)}
    found = context.backend.read_configs(changes)
    edits = edits_to_set(
        {entity: keys for entity, keys in changes.items() if entity in found}, found
    )
    return tuple(sorted(edits.values)), edits.kept


def _work(context: Context, operation_id: str) -> CopyingSpec:
    operations = context.operations
    work = spec_of(operations.record(operation_id), operations.steps(operation_id))
    if not isinstance(work, CopyingSpec):
        raise InvalidInputError(
            f"Operation {operation_id} copies nothing.", next_step=command("history")
        )
    return work


def _sized(
    waves: Sequence[Sequence[PartitionTarget]], state: ClusterState, brokers: LiveBrokers
) -> list[list[PartitionTarget]]:
    if all(target.size_bytes is not None for wave in waves for target in wave):
        return [list(wave) for wave in waves]
    return sized(waves, with_disks(ClusterFacts(), state, brokers).sizes)
