"""Errors, by exit code.

::

    KadminError                     1  a bug in kadmin, when nothing below fits
    ├── InvalidInputError           3  a document, table or argument that can never be right
    ├── StalePlanError              4  the plan does not fit the live cluster (moved on, or another)
    ├── BusyError                   5  another process is at work: lock, operation, reassignment
    ├── UnreachableError            6  ZooKeeper not reachable, or no answer in time
    │   ├── NotAuthorizedError      6  reached, but not allowed
    │   └── NotZooKeeperModeError   6  reached, but no ZooKeeper-mode Kafka cluster lives there
    ├── UnknownOutcomeError         7  a write whose fate could not be learned
    ├── NotCompletedError           8  deadline, refusal of the controller, or a file not writable
    ├── InfeasibleError             9  a request that no plan can satisfy
    ├── UsageError                 64  wrong flags, or a confirmation without a terminal
    └── StoppedError         128 + n  ended by signal n; the state is kept

An error says three things: the message (what and where), the cause, and the next command to type.
The command line renders them once, at its edge; nothing below prints.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, ClassVar

from kadmin.next_step import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.next_step import NextStep


class KadminError(Exception):
    """An error with its place and its next step.

    `message` names the failure and its place, `cause` the reason if known, `next_step` the reader's
    next action. `problems` are the causes where there are several. `exit_status` is the exit code
    of the process, `heading` the first word of the message for people.
    """

    exit_code: ClassVar[int] = 1
    heading: ClassVar[str] = "error: "

    def __init__(
        self,
        message: str,
        *,
        cause: str | None = None,
        problems: Sequence[str] = (),
        next_step: NextStep | str | None = None,
    ) -> None:
        super().__init__(message)
        self.exit_status = self.exit_code
        self.message = message
        self.cause = "; ".join(problems) if problems else cause
        self.next_step = next_step
        self._causes = problems or filter(None, [cause])

    @property
    def next_command(self) -> str | None:
        """The next step as text."""
        return text_of(self.next_step)

    def lines(self) -> list[str]:
        """Return the lines for people: message, causes and next command.

        Names in a line may hold line breaks.
        """
        first, *others = [*self._causes] or [""]
        parts = {self.heading: self.message, "  cause: ": first, "  next:  ": self.next_command}
        lines = [f"{name}{text}" for name, text in parts.items() if text]
        return [*lines[:2], *(f"    {each}" for each in others), *lines[2:]]


class InvalidInputError(KadminError):
    """Input that is wrong in itself, whatever the state of the cluster."""

    exit_code = 3


class StalePlanError(KadminError):
    """The plan was made for another state or another cluster.

    It may also have names that the live cluster does not have.
    """

    exit_code = 4


class BusyError(KadminError):
    """Another process has the lock, an admin node, or a reassignment in flight."""

    exit_code = 5


class UnreachableError(KadminError):
    """ZooKeeper did not answer within its deadline."""

    exit_code = 6


class NotAuthorizedError(UnreachableError):
    """ZooKeeper answered NoAuth or refused the credentials."""


class NotZooKeeperModeError(UnreachableError):
    """No ZooKeeper-mode cluster at this address and chroot.

    It is mistyped, empty, KRaft or migrating.
    """


class UnknownOutcomeError(KadminError):
    """A write was sent and its outcome is unknown: it may have been applied or not."""

    exit_code = 7


class NotCompletedError(KadminError):
    """The work is not done: deadline, the controller's refusal, or an unwritable local file."""

    exit_code = 8


class InfeasibleError(KadminError):
    """A rebalance request that no plan can satisfy; the message names the topics and the reason."""

    exit_code = 9


class UsageError(KadminError):
    """Wrong flags, or a confirmation needed without a terminal to ask on."""

    exit_code = 64


class StoppedError(KadminError):
    """Ended by a signal at a safe point; `kept` says what is left.

    `exit_status` is 128 + the signal's number.
    """

    def __init__(
        self, kept: str = "", *, signal_number: int, next_step: NextStep | str | None = None
    ) -> None:
        name = "^C" if signal_number == signal.SIGINT else signal.Signals(signal_number).name
        super().__init__(
            "; ".join(filter(None, [f"Interrupted ({name})", kept])) + ".", next_step=next_step
        )
        self.exit_status = 128 + signal_number
