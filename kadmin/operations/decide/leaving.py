"""Rules of a run with --leave: outside the hours of its operation, or where a person is awaited.

=============================================  ================================
next action                                    outside the hours
=============================================  ================================
Finish, Advance, TakeBack                      the same
any other, after the last wave                 the same
any other                                      Finish: paused, until hours begin
=============================================  ================================

Copies in flight have the rate outside by then, which is on record. A maintenance, a decommission or
a recovery is left at any Wait for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.next_step import command
from kadmin.operations.decide.actions import Advance, Finish, TakeBack, Wait
from kadmin.operations.decide.decommission import DecommissionWork
from kadmin.operations.decide.maintenance import MaintenanceWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recovery import RecoveryWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.stop_request import StoppedByRequestError
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec


class LeftError(StoppedByRequestError):
    """The operation was left, as asked: it is not completed, and this is no error."""


def leave(
    action: Action, work: OperationSpec, observed: Observed, memory: Memory, until: str | None
) -> Action:
    """Return the action of a run that leaves, from the action without that.

    `until` is the time at which hours begin, as the end of a sentence; None inside them.
    """
    if isinstance(action, Wait) and isinstance(
        work, MaintenanceWork | DecommissionWork | RecoveryWork
    ):
        action = _leave_to_person(action, work, memory)
    if (
        until is None
        or not isinstance(work, ReassignmentWork)
        or memory.wave >= len(work.waves)
        or isinstance(action, Finish | Advance | TakeBack)
    ):
        return action
    tally = work.tally(observed, memory)
    moved = f"{tally.done} of {count(tally.total, 'partition')} moved"
    return Finish(
        OperationState.PAUSED,
        f"left outside its hours, {moved}",
        LeftError(
            f"The operation was left outside its hours{until}: {moved}.",
            next_step=command("resume", "--due") + ", inside its hours",
        ),
    )


def _leave_to_person(
    action: Wait, work: MaintenanceWork | DecommissionWork | RecoveryWork, memory: Memory
) -> Action:
    if not action.for_person:
        return action
    where = work.stage_in_words(memory)
    return Finish(
        OperationState.PAUSED,
        f"left at {where}; {action.reason}",
        LeftError(
            f"The operation was left at {where}: {action.reason}.",
            next_step=command("resume", "--due"),
        ),
    )
