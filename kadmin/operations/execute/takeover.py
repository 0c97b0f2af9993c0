"""Resumes, pauses and cancels an operation on record, from any machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.next_step import NextStep, command
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.execute.runner import Runner
from kadmin.operations.reading.brokers import refused_credentials
from kadmin.operations.record.record import OperationKind, OperationState, OperationStatus
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.operations.session import held
from kadmin.operations.throttles.changes import require_followed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing, OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.operations.session import Session

_TAKEN_BACK = {OperationKind.REASSIGNMENT, OperationKind.DECOMMISSION}
"""The kinds of operations whose running wave can be taken back."""


def find_unfinished(context: Context, operation_id: str | None) -> str | None:
    """Return the unfinished operation, the only one for None; None where there is none."""
    context.operations.lock.sync()
    if operation_id is None:
        return _only_unfinished(context.operations.unfinished())
    return None if context.operations.status(operation_id).state.finished else operation_id


def find_resumable(context: Context, operation_id: str | None) -> str | None:
    """Return as `find_unfinished` does.

    Raises UnreachableError where the cluster does not answer.
    """
    context.backend.check()
    return find_unfinished(context, operation_id)


def resume(
    context: Context, operation_id: str | None, lock_timeout_s: float, *, leaves: bool = False
) -> Outcome:
    """Complete an unfinished operation; return the state of a finished one.

    A pending pause is dropped; a pending cancel is carried out. `leaves`: the run ends outside the
    hours of the operation, with LeftError.
    """
    unfinished = find_resumable(context, operation_id)
    if unfinished is None:
        return _already_finished(context, operation_id)
    _require_rights(context, unfinished)
    _require_followed(context, unfinished)
    if refused := refused_credentials(context.backend, context.backend.read(())):
        raise refused
    other = context.operations.lock.holder()
    wait_s = lock_timeout_s + (other.expires_s if other is not None else 0)
    with held(context, context.new_holder(unfinished), wait_s) as session:
        if (record := _record_of(session)) is None:
            return _already_finished(context, unfinished)
        asked = session.request()
        if asked is None or asked.stop is Stop.PAUSE:
            running = OperationStatus(
                OperationState.RUNNING, session.holder.started_at, by=str(context.author)
            )
            session.reopen(replace(running, leaves=leaves))
        return Outcome(unfinished, Runner(session, record, leaves=leaves).run())


def stop(
    context: Context,
    operation_id: str | None,
    kind: Stop,
    lock_timeout_s: float,
    *,
    allow_foreign: bool = False,
) -> Outcome:
    """Pause or cancel an operation: by a request to its runner, or here where there is none.

    A request is written to the record only, so it works without a controller.
    """
    unfinished = find_unfinished(context, operation_id)
    if unfinished is None:
        return _already_finished(context, operation_id)
    state, now = context.operations.status(unfinished).state, context.clock.timestamp()
    request = StopRequest(kind, str(context.author), now, allow_foreign)
    if state is OperationState.PAUSED and kind is Stop.PAUSE:
        return _stay_paused(context, unfinished, request)
    if state is not OperationState.PREPARING:
        if kind is Stop.CANCEL_NOW:
            _require_reassignment(context, unfinished)
        with context.clock.deferring_signals():
            request = context.operations.ask(unfinished, request)
            if (answer := _ask(context, unfinished, request)) is not None:
                return Outcome(unfinished, answer)
    _require_rights(context, unfinished)
    with held(context, context.new_holder(unfinished), lock_timeout_s) as session:
        if (record := _record_of(session)) is None:
            return _already_finished(context, unfinished)
        try:
            return Outcome(unfinished, Runner(session, record).run())
        except StoppedByRequestError:
            return Outcome(unfinished, str(context.operations.status(unfinished)))


def _stay_paused(context: Context, operation_id: str, request: StopRequest) -> Outcome:
    """Put a request to pause on record for a paused operation that `resume --due` would resume."""
    status = context.operations.status(operation_id)
    if not status.leaves:
        return _already_finished(context, operation_id)
    request = context.operations.ask(operation_id, request)
    return Outcome(operation_id, f"{status}; {request.asked}: resume --due leaves it paused")


def _require_rights(context: Context, operation_id: str) -> None:
    """Raise the error that names the rights which the operation lacks, before the lock is taken."""
    if context.operations.status(operation_id).state is OperationState.PREPARING:
        return  # its record is incomplete, and it is discarded
    record, store = context.operations.record(operation_id), context.backend.metadata_store
    throttled = () if record.throttle is None else record.throttle.changes
    if store is not None and (denied := store.denied(spec_of(record), throttled)):
        raise denied


def _require_followed(context: Context, operation_id: str) -> None:
    """Raise InvalidInputError where this machine cannot follow the throttle, unless it is ended."""
    operations, asked = context.operations, context.operations.request(operation_id)
    ends = asked is not None and asked.stop is not Stop.PAUSE
    if ends or operations.status(operation_id).state is OperationState.PREPARING:
        return
    throttle = operations.throttle(operation_id)
    if throttle is None:
        return
    try:
        require_followed(context, throttle.asked, throttle.hours)
    except InvalidInputError as error:
        if throttle.asked.signals and isinstance(error.next_step, NextStep):
            without = command("throttle set", "--while", "none")
            error.next_step = error.next_step + "; to go on without signals: " + without
        raise


def _record_of(session: Session) -> OperationRecord | None:
    """Return the record of the operation; None where it ended while we waited for the lock.

    Raises NotCompletedError where the record is incomplete; the operation is discarded then.
    """
    operations, operation_id = session.context.operations, session.operation_id
    state = operations.status(operation_id).state
    if state is OperationState.PREPARING:
        now = session.context.clock.timestamp()
        session.set_status(
            OperationStatus(OperationState.DISCARDED, now, "its record was incomplete")
        )
        raise NotCompletedError(
            f"Operation {operation_id} has an incomplete record and is discarded; nothing was "
            "published.",
            next_step=command("apply", "FILE"),
        )
    return None if state.finished else operations.record(operation_id)


def _ask(context: Context, operation_id: str, request: StopRequest) -> str | None:
    """Wait until the runner confirms the request; None where no runner holds the lock."""
    give_up: float | None = None
    while True:
        holder = context.operations.lock.holder()
        if holder is None or holder.operation_id != operation_id:
            return None
        status = context.operations.status(operation_id)
        if status.state is not OperationState.RUNNING:
            return str(status)
        if status.answered == request:
            return f"runner {holder} {_effect(context, operation_id, request)}"
        context.clock.stop_if_asked(
            "the request stays on record", command("status") + f", for the state of {operation_id}"
        )
        now = context.clock.now()
        if give_up is None:
            give_up = min(now + patience(holder), context.clock.until)
            context.tell(
                events.Note(
                    f"waiting at most {give_up - now:.0f} s for an answer of runner {holder}"
                )
            )
        if now >= give_up:
            raise NotCompletedError(
                f"Runner {holder} holds the lock and has not answered; the request stays on "
                "record.",
                next_step=command("status")
                + "; for a stuck runner: "
                + command("lock release", operation_id),
            )
        context.clock.wait(POLL_S)


def _effect(context: Context, operation_id: str, request: StopRequest) -> str:
    if request.stop is Stop.CANCEL_NOW:
        return f"takes the running wave back; see {command('status')}"
    record = context.operations.record(operation_id)
    if record.kind is OperationKind.CATCH_UP:
        return f"stops; see {command('status')}"
    last = _is_last_wave(record, context.operations.steps(operation_id))
    stops = (
        f"stops when the running wave is done{', which is the last one' if last else ''}; "
        f"see {command('status')}"
    )
    if record.kind not in _TAKEN_BACK:
        return stops
    return (
        f"{stops}; to slow that wave: {command('throttle set', '--rate', 'RATE')}; "
        f"to take it back at once: {command('cancel', '--now', operation_id)}"
    )


def _is_last_wave(record: OperationRecord, steps: Iterable[Step]) -> bool:
    """Whether every wave has begun: a pause then stops nothing."""
    begun = {step.wave for step in steps if isinstance(step, WaveStep)}
    return len(record.waves) - 1 in begun


def _require_reassignment(context: Context, operation_id: str) -> None:
    # Before the request is on record: the runner could not follow it, and nothing replaces it.
    kind = context.operations.record(operation_id).kind
    if kind not in _TAKEN_BACK:
        raise NotCompletedError(
            f"A running {kind} cannot be taken back.", next_step=command("cancel", operation_id)
        )


def patience(holder: Holder) -> float:
    """Return the seconds to wait for an answer of a runner."""
    # A runner that has ended keeps its lock for one session timeout; a live one may be reading a
    # large cluster.
    return 2 * holder.expires_s


def _already_finished(context: Context, operation_id: str | None) -> Outcome:
    if operation_id is None:
        return Outcome(None, "no operation is unfinished")
    return Outcome(operation_id, f"already {context.operations.status(operation_id)}")


def _only_unfinished(unfinished: tuple[Listing, ...]) -> str | None:
    if len(unfinished) > 1:
        names = ", ".join(listing.operation_id for listing in unfinished)
        raise InvalidInputError(
            f"Several operations are unfinished: {names}.",
            next_step=command("status") + ", then the command with one of these ids",
        )
    return unfinished[0].operation_id if unfinished else None
