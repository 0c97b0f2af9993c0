"""Rules of a request to pause or cancel: no new wave is published, the running one is completed.

========================================================  =============================================
next action without the request                           with it
========================================================  =============================================
Finish, Advance, Wait for this operation's own wave       the same
a publish that repairs a published wave                   the same
any other Wait                                            Finish: paused or cancelled
any other publish, or a question that precedes one        Finish: paused or cancelled
========================================================  =============================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import count
from kadmin.operations.decide.actions import Advance, AskListening, Finish, PublishWave, TakeBack, Wait
from kadmin.operations.decide.reassignment import ReassignmentWork, published
from kadmin.operations.record.record import Channel, OperationState
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action, Memory, Observed, Work
    from kadmin.operations.record.stop_request import StopRequest

_QUIET = "nothing is in flight"


def apply_stop_request(request: StopRequest, action: Action, work: Work, observed: Observed, memory: Memory) -> Action:
    """Return the action under a request, given the one decided without it."""
    if isinstance(action, Finish | Advance):
        return action
    if isinstance(action, Wait | TakeBack) and work.in_flight(observed, memory):
        return action
    asks_for_wave = isinstance(action, AskListening) and action.channel is Channel.REASSIGNMENT
    if (asks_for_wave or isinstance(action, PublishWave)) and published(observed, memory):
        return action
    if not isinstance(work, ReassignmentWork):
        return stopped(request, None)
    tally = work.tally(observed, memory)
    moved = f"{tally.done} of {count(tally.total, 'partition')} moved"
    return stopped(request, work.undone_by(observed, memory), f"{_QUIET}, {moved}")


def stopped(request: StopRequest, undo: str | None, what: str = _QUIET) -> Finish:
    """Finish because of a request; `undo` is the next step after a cancellation that leaves something moved."""
    paused = request.stop is Stop.PAUSE
    state = OperationState.PAUSED if paused else OperationState.CANCELLED
    return Finish(
        state,
        f"{what}; {request.asked}",
        StoppedByRequestError(
            f"The operation was {state.value}: {what}.",
            cause=str(request),
            next_command="kadmin resume, or kadmin cancel" if paused else undo or "kadmin history",
        ),
    )
