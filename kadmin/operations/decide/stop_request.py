"""Rules of a request to pause or cancel: no new wave is published, the running one is completed.

==================================================  ==========================================
next action without the request                     with it
==================================================  ==========================================
Finish that leaves the operation unfinished (1)     Finish: cancelled, with what is in its way
Wait for what was asked for, which has stalled (1)  Finish: cancelled, with what it waits for
any other Finish, Advance, Wait for its own wave    the same
an errand that uncordons brokers                    the same
a publish that repairs a published wave             the same
any other Wait                                      Finish: paused or cancelled
any other publish, or a question that precedes one  Finish: paused or cancelled
==================================================  ==========================================

(1) Of a request to cancel anything but a reassignment, which `cancel --now` ends: nothing else
takes back an election, a deletion or a creation, and what they wait for may never come. The
operation then ends, and the cluster goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    STALLED_S,
    Advance,
    AskListening,
    Finish,
    PublishLogDirs,
    PublishWave,
    RunErrand,
    TakeBack,
    Wait,
)
from kadmin.operations.decide.catch_up import CatchUpWork
from kadmin.operations.decide.decommission import DecommissionWork
from kadmin.operations.decide.growth import GrowthWork
from kadmin.operations.decide.maintenance import MaintenanceWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recovery import RecoveryWork
from kadmin.operations.decide.wave import published
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Channel, Errand
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.errors import KadminError
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.stop_request import StopRequest

_QUIET = "nothing is in flight"


def apply_stop_request(
    action: Action, work: OperationSpec, observed: Observed, memory: Memory, now: float
) -> Action:
    """Return the action with the stop request, from the action without it."""
    request = observed.request
    if request is None:
        return action
    if (own := _without_waves(action, work, request, observed, memory)) is not None:
        return own
    in_way = _in_its_way(action, work, request, stalled=now - memory.changed_at >= STALLED_S)
    if in_way is not None:
        return _given_up(request, in_way) if observed.steps else stopped(request, None)
    if isinstance(action, Finish | Advance) or _goes_on(action, work, observed, memory):
        return action
    if not isinstance(work, ReassignmentWork):
        return stopped(request, None, _what_stays(work, observed))
    tally = work.tally(observed, memory)
    moved = f"{tally.done} of {count(tally.total, 'partition')} moved"
    return stopped(request, work.undone_by(observed, memory), f"{_QUIET}, {moved}")


def _what_stays(work: OperationSpec, observed: Observed) -> str:
    if isinstance(work, GrowthWork):
        return f"{_QUIET}, {work.added_in_words(observed.state)}"
    return _QUIET


def _without_waves(
    action: Action, work: OperationSpec, request: StopRequest, observed: Observed, memory: Memory
) -> Action | None:
    """Return the action of a catch-up, a maintenance, a recovery or a cancelled decommission.

    None for others. A catch-up ends at once. A maintenance and a recovery pause where no request is
    pending. Their cancellation is work: it restores the order of replicas of before.
    """
    staged = isinstance(work, MaintenanceWork | DecommissionWork | RecoveryWork)
    if staged and isinstance(action, Finish) and action.state is OperationState.CANCELLED:
        left = work.undone_by(observed, memory) if isinstance(work, DecommissionWork) else None
        return stopped(request, left, action.message)
    if isinstance(work, CatchUpWork) and not isinstance(action, Finish):
        return stopped(request, None, work.in_sync_in_words(observed.state))
    if not isinstance(work, MaintenanceWork | RecoveryWork):
        return None
    if isinstance(action, Finish) or request.stop is not Stop.PAUSE:
        return action
    if work.in_flight(observed, memory):
        return action
    return stopped(request, None, f"{_QUIET}, {work.stage_in_words(memory)}")


def _goes_on(action: Action, work: OperationSpec, observed: Observed, memory: Memory) -> bool:
    """Whether an action follows or repairs a published request, or ends what an operation set."""
    if isinstance(action, RunErrand) and action.errand is Errand.UNCORDON:
        return True
    if isinstance(action, Wait | TakeBack) and work.in_flight(observed, memory):
        return True
    if isinstance(action, PublishLogDirs) and work.in_flight(observed, memory):
        return True
    asks_for_wave = isinstance(action, AskListening) and action.channel is Channel.REASSIGNMENT
    return (asks_for_wave or isinstance(action, PublishWave)) and published(observed, memory)


def _in_its_way(
    action: Action, work: OperationSpec, request: StopRequest, *, stalled: bool
) -> KadminError | None:
    """Return the error that names the obstacle of an operation that cannot be reverted.

    None without one.
    """
    if request.stop is not Stop.CANCEL or isinstance(work, ReassignmentWork):
        return None
    if isinstance(action, Finish) and not action.state.finished:
        return action.error
    if isinstance(action, Wait) and stalled:
        return NotCompletedError(f"Nothing has changed for {STALLED_S:g} s: {action.reason}.")
    return None


def _given_up(request: StopRequest, in_way: KadminError) -> Finish:
    error = NotCompletedError(
        f"The operation was cancelled; its request is not reverted. {in_way.message}",
        cause=in_way.cause,
        next_step=command("doctor"),
    )
    return Finish(
        OperationState.CANCELLED, f"{in_way.message.removesuffix('.')}; {request.asked}", error
    )


def stopped(request: StopRequest, rollback: NextStep | None, what: str = _QUIET) -> Finish:
    """Finish because of a request.

    `rollback` is the next step after a cancellation that leaves something moved.
    """
    paused = request.stop is Stop.PAUSE
    state = OperationState.PAUSED if paused else OperationState.CANCELLED
    return Finish(
        state,
        f"{what}; {request.asked}",
        StoppedByRequestError(
            f"The operation was {state.value}: {what}.",
            cause=str(request),
            next_step=command("resume") + ", or " + command("cancel")
            if paused
            else rollback or command("history"),
        ),
    )
