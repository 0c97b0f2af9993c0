"""What is said when the lock is lost and who has it then, and what is known of a holder on its own
machine.
"""

from __future__ import annotations

import pytest

from kadmin.operations.record.holder import Holder, LostLockError, died_here, lost_lock
from kadmin.operations.record.record import Author

HERE = Author("ann", "host-a", 7)


def held_by(author: Author) -> Holder:
    return Holder(author, "op-2", "now", 20.0)


BEN = held_by(Author("ben", "host-b", 8))


@pytest.mark.parametrize(
    ("successor", "message", "next_command"),
    [
        (None, "The lock was lost; nothing more was written.", "kadmin status, then kadmin resume"),
        (
            BEN,
            (
                "The lock was lost: ben@host-b (pid 8) took over, for operation op-2; nothing "
                "more was written."
            ),
            "kadmin status",
        ),
    ],
)
def test_a_lost_lock_names_its_successor(
    successor: Holder | None, message: str, next_command: str
) -> None:
    error = lost_lock(successor)
    assert (error.successor, error.message, error.next_command) == (
        successor,
        message,
        next_command,
    )
    assert error.exit_status == 5


def test_an_error_of_a_lost_lock_has_no_successor_unless_one_is_given() -> None:
    assert LostLockError("The lock is no longer ours.").successor is None
    assert LostLockError("The lock is no longer ours.", successor=BEN).successor is BEN


def test_only_of_this_user_on_this_machine_a_missing_process_is_a_death() -> None:
    mine = held_by(Author("ann", "host-a", 9))
    assert died_here(mine, HERE, exists=False)
    assert not died_here(mine, HERE, exists=True)
    assert not died_here(held_by(Author("ann", "host-b", 9)), HERE, exists=False)
    assert not died_here(held_by(Author("ben", "host-a", 9)), HERE, exists=False)
    assert not died_here(None, HERE, exists=False)
    assert mine.expires_s == 25.0
