"""Rules of a wish to pause or cancel: nothing new is published, what runs is followed to its end.

========================================================  =============================================
next action without the wish                              with it
========================================================  =============================================
Finish, Advance, Wait for something of ours               the same
a publish that repairs a wave already published           the same
Wait while nothing of ours is in flight                   Finish: paused or cancelled
any other publish, or a question that precedes one        Finish: paused or cancelled
========================================================  =============================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS
from kadmin.operations.decide.actions import (
    Advance,
    AskListening,
    DeletionWork,
    Finish,
    PublishWave,
    RecreationWork,
    Wait,
)
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.operations.record.request import Stop, StoppedByRequestError

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action, Memory, Observed, Work
    from kadmin.operations.record.request import StopRequest


def heed(request: StopRequest, action: Action, work: Work, observed: Observed, memory: Memory) -> Action:
    """Return the action that a request leaves of the one decided without it."""
    if isinstance(action, Finish | Advance):
        return action
    if isinstance(action, Wait) and _in_flight(work, observed, memory):
        return action
    asks_for_wave = isinstance(action, AskListening) and action.path == REASSIGN_PARTITIONS
    if (asks_for_wave or isinstance(action, PublishWave)) and _published(observed, memory):
        return action
    return stopped(request)


def stopped(request: StopRequest, what: str = "nothing of it is in flight") -> Finish:
    """Leave the loop because of a request; whoever ran the operation hears of it as not completed."""
    paused = request.stop is Stop.PAUSE
    state = OperationState.PAUSED if paused else OperationState.CANCELLED
    return Finish(
        state,
        f"{what}; {request}",
        StoppedByRequestError(
            f"The operation was {state.value}: {what}.",
            cause=str(request),
            next_command="kadmin resume, or kadmin cancel" if paused else "kadmin rollback, to undo what was done",
        ),
    )


def _in_flight(work: Work, observed: Observed, memory: Memory) -> bool:
    admin = observed.state.admin
    if isinstance(work, DeletionWork | RecreationWork):
        return bool(observed.steps)  # what was asked for cannot be taken back
    return admin.reassignment is not None or admin.election is not None or _published(observed, memory)


def _published(observed: Observed, memory: Memory) -> bool:
    return any(step.kind is StepKind.WAVE and step.wave == memory.wave for step in observed.steps)
