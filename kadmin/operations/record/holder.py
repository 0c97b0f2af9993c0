"""The holder of the lock, and its lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError
from kadmin.next_step import command

if TYPE_CHECKING:
    from kadmin.next_step import NextStep
    from kadmin.operations.record.record import Author


class LostLockError(BusyError):
    """The lock was lost: another process released it, or our session or lease expired.

    `successor` took it over.
    """

    def __init__(
        self,
        message: str,
        *,
        cause: str | None = None,
        next_step: NextStep | str | None = None,
        successor: Holder | None = None,
    ) -> None:
        super().__init__(message, cause=cause, next_step=next_step)
        self.successor = successor


EXPIRY_GRACE_S = 5.0
"""Seconds beyond the session timeout after which the lock of a dead holder is free."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of the lock.

    It has its process, its operation, its start time, and the timeout of its session in seconds.
    """

    author: Author
    operation_id: str
    started_at: str
    session_timeout_s: float
    session_id: int = 0

    def __str__(self) -> str:
        return f"{self.author} (pid {self.author.pid}) since {self.started_at}"

    @property
    def expires_s(self) -> float:
        """Seconds until its lock is free, at most, after its process ended."""
        return self.session_timeout_s + EXPIRY_GRACE_S


def died_here(holder: Holder | None, author: Author, *, exists: bool) -> bool:
    """Whether a holder ran as this user on this machine, `author`, and its process ended.

    `exists`: its pid is in use. False for a holder on another machine, or of another user.
    """
    return holder is not None and str(holder.author) == str(author) and not exists


def held_lock(holder: Holder) -> BusyError:
    """Build the error for a lock that another process holds."""
    return BusyError(
        f"The lock is held by {holder} for operation {holder.operation_id}.",
        next_step=command("status") + "; or wait with --lock-timeout SECONDS",
    )


def require_held_for(operation_id: str, holder: Holder | None) -> Holder:
    """Return the holder of a lock that is released by hand.

    Raises where it is free, or held for another operation.
    """
    if holder is None:
        raise InvalidInputError("The lock is free.", next_step=command("lock show"))
    if holder.operation_id != operation_id:
        raise BusyError(
            f"The lock is held for operation {holder.operation_id}, not {operation_id}.",
            cause=f"holder: {holder}",
        )
    return holder


def changed_lock() -> BusyError:
    """Build the error for a lock that could not be released by hand."""
    return BusyError(
        "Another process changed the lock at the same time.", next_step=command("lock show")
    )


def is_run_by(operation_id: str | None, holder: Holder | None) -> bool:
    """Whether the holder of the lock runs an operation now."""
    return holder is not None and holder.operation_id == operation_id


@dataclass(frozen=True, slots=True)
class Lease:
    """A held lock: its fencing token, its session, and its operation."""

    token: int
    session_id: int
    operation_id: str = ""


def lost_lock(successor: Holder | None = None) -> LostLockError:
    """Build the error for a lost lock; a successor holds it now."""
    cause = "it was not renewed in time, or it was released by hand"
    if successor is None:
        return LostLockError(
            "The lock was lost; nothing more was written.",
            cause=cause,
            next_step=command("status") + ", then " + command("resume"),
        )
    who = f"{successor.author} (pid {successor.author.pid})"
    return LostLockError(
        f"The lock was lost: {who} took over, for operation {successor.operation_id}; nothing "
        "more was written.",
        cause=cause,
        next_step=command("status"),
        successor=successor,
    )
