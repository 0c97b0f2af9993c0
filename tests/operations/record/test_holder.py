"""What is said when the lock is lost, and who has it then."""

from __future__ import annotations

import pytest

from kadmin.operations.record.holder import Holder, LostLockError, lost_lock
from kadmin.operations.record.record import Author

BEN = Holder(Author("ben", "host-b", 8), "op-2", "now", 20.0)


@pytest.mark.parametrize(
    ("successor", "message", "next_command"),
    [
        (None, "The lock was lost; nothing more was written.", "kadmin status, then kadmin resume"),
        (
            BEN,
            "The lock was lost: ben@host-b (pid 8) took over, for operation op-2; nothing more was written.",
            "kadmin status",
        ),
    ],
)
def test_a_lost_lock_names_its_successor(successor: Holder | None, message: str, next_command: str) -> None:
    error = lost_lock(successor)
    assert (error.successor, error.message, error.next_command) == (successor, message, next_command)
    assert error.exit_status == 5


def test_an_error_of_a_lost_lock_has_no_successor_unless_one_is_given() -> None:
    assert LostLockError("The lock is no longer ours.").successor is None
    assert LostLockError("The lock is no longer ours.", successor=BEN).successor is BEN
