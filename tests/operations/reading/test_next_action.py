"""What an operation without a runner waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.errors import NotCompletedError
from kadmin.operations.decide.actions import Finish, NoteGone, Wait
from kadmin.operations.reading.next_action import obstacle_of
from kadmin.operations.record.record import OperationState

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action

REFUSED = NotCompletedError("Refused.", cause="broker 3 is dead")


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Wait("copies"), "copies"),
        (Wait("copies", "broker 3 is dead"), "broker 3 is dead"),
        (NoteGone(1, (3,)), "a runner that sees broker 3 stopped; resume before you start it"),
        (Finish(OperationState.FAILED, "", REFUSED), "Refused. (broker 3 is dead)"),
        (Finish(OperationState.COMPLETED, "done"), ""),
    ],
)
def test_what_an_operation_waits_for(action: Action, reason: str) -> None:
    assert obstacle_of(action) == reason
