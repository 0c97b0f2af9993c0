"""Rules of requests that were never answered.

They may be applied late, so an operation that sent some ends late.

==================================================  ==================
next action                                         with such requests
==================================================  ==================
Finish, the operation ends, for less than SETTLE_S  Wait
anything else                                       the same
==================================================  ==================

What is applied meanwhile is read and decided on as at any other time: a cancelled operation takes
it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import Finish, Wait
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Sending, intents, log_dirs_of
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action, Memory, Observed

SETTLE_S = 90.0
"""Brokers forward a request to the controller for 60 s; the rest is for a broker that was
frozen."""


def settles(action: Action, observed: Observed) -> bool:
    """Whether the operation would end although requests of it were never answered."""
    return (
        isinstance(action, Finish) and action.state.finished and _unanswered(action, observed) > 0
    )


def settle(action: Action, observed: Observed, memory: Memory, now: float) -> Action:
    """Return the action, or a wait where it would end the operation too early."""
    since = now if memory.ends_since is None else memory.ends_since
    if not isinstance(action, Finish) or not settles(action, observed) or now - since >= SETTLE_S:
        return action
    requests = count(_unanswered(action, observed), "request")
    return Wait(f"settling for {SETTLE_S:g} s: {requests} got no answer and may be applied late")


def _unanswered(action: Finish, observed: Observed) -> int:
    # Elections and deletions by id change nothing more when they are applied late; nor do requests
    # for the log directories in which the replicas are.
    moves = () if action.state is OperationState.COMPLETED else log_dirs_of(observed.steps)
    steps = (*(step for step, _ in intents(observed.steps)), *moves)
    return sum(step.sending is Sending.UNANSWERED for step in steps)
