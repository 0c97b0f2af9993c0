"""Context of a use case.

It has the cluster, the store of its operations, the command's clock, and the sink of events.
"""

from __future__ import annotations

import getpass
import math
import os
import secrets
import socket
import threading
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from kadmin.errors import StoppedError
from kadmin.operations import events
from kadmin.operations.record.codec import UndecodableError
from kadmin.operations.record.holder import Holder, died_here
from kadmin.operations.record.record import Author
from kadmin.plan.signals import KnownSignals
from kadmin.waiting import poll

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kadmin.contexts.model import NamedContext
    from kadmin.insight.diagnosis.disks import EarlierDisks
    from kadmin.insight.diagnosis.doctor_report import DoctorReport
    from kadmin.insight.diagnosis.rights import RightsFound
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.next_step import NextStep
    from kadmin.operations.port import Backend
    from kadmin.operations.record.record import Listing
    from kadmin.operations.store import OperationStore

Value = TypeVar("Value")

POLL_S = 0.2
"""Seconds between two reads while waiting for a cluster."""


class Clock:
    """A monotonic clock, a wall clock for messages, and waits.

    A signal or the command's end interrupts a wait. Changes of the wall clock move no deadline.
    `until` is the end of the command; `stop_signal` the signal that interrupted it, None before.
    """

    def __init__(self, until: float = math.inf) -> None:
        self._interrupted = threading.Event()
        self.until = until
        self.stop_signal: int | None = None
        self._deferring = 0

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def utc(self) -> datetime:
        """Return the wall clock's UTC time."""
        return datetime.now(UTC)

    def timestamp(self) -> str:
        """Return the wall clock's UTC time, ISO 8601 to the second."""
        return self.utc().strftime("%Y-%m-%dT%H:%M:%SZ")

    def wait(self, seconds: float) -> None:
        """Wait, or return at once when interrupted or at the command's end."""
        self._interrupted.wait(max(0.0, min(seconds, self.until - self.now())))

    def poll(self, for_s: float, every_s: float = POLL_S) -> Iterator[None]:
        """Yield at once, and then every `every_s` seconds.

        Ends when `for_s` have passed or the command's end has come.
        """
        return poll(min(for_s, self.until - self.now()), every_s, self.now, self.wait)

    def interrupt(self, signal_number: int) -> None:
        """End the present wait and every later one.

        Raises StoppedError unless signals are deferred.
        """
        self.stop_signal = signal_number
        self._interrupted.set()
        if not self._deferring:
            raise StoppedError("nothing was changed", signal_number=signal_number)

    @contextmanager
    def deferring_signals(self) -> Iterator[None]:
        """Let no signal end what runs: lock and record are left whole.

        `stop_if_asked` ends it at a safe point.
        """
        self._deferring += 1
        try:
            yield
        finally:
            self._deferring -= 1

    @property
    def over(self) -> bool:
        """Whether the command's end has come."""
        return self.now() >= self.until

    def stop_if_asked(self, kept: str, next_step: NextStep | str | None = None) -> None:
        """Raise StoppedError once a signal has come.

        `kept` describes the state that is left on the cluster.
        """
        if self.stop_signal is not None:
            raise StoppedError(kept, signal_number=self.stop_signal, next_step=next_step)


@dataclass(frozen=True, slots=True)
class Context(ABC):
    """A cluster, its operations on record, the command's clock, and the receiver of events.

    `named` is the context of the contexts file that names the cluster, None without one.
    """

    backend: Backend
    operations: OperationStore
    clock: Clock
    tell: events.EventSink
    named: NamedContext | None = field(default=None, kw_only=True)

    @abstractmethod
    def diagnose(self, earlier_disks: EarlierDisks | None = None) -> DoctorReport:
        """Diagnose the cluster, and compare its disks with earlier ones; nothing is written."""

    @abstractmethod
    def inspect(self, table: str) -> Inspection:
        """Read a table of `inspect`.

        Raises UsageError for one that this way to the cluster does not have.
        """

    @abstractmethod
    def rights(self) -> RightsFound:
        """Compare the rights that operations need with those of this client; nothing is tried."""

    @property
    def signals(self) -> KnownSignals:
        """The signals that throttles may have limits of."""
        if self.named is None:
            return KnownSignals()
        units = {name: signal.unit for name, signal in self.named.signals.items()}
        return KnownSignals(self.named.name, units)

    @property
    def author(self) -> Author:
        """This process as the author of records."""
        return Author(_user(), socket.gethostname(), os.getpid())

    def died_here(self, holder: Holder | None) -> bool:
        """Whether the lock's holder was a process of this user on this machine, and has ended."""
        return died_here(
            holder, self.author, exists=holder is not None and _exists(holder.author.pid)
        )

    def new_holder(self, operation_id: str | None = None) -> Holder:
        """Return this process as the holder of the lock for an operation from now on.

        None: for a new one.
        """
        now = self.clock.timestamp()
        return Holder(
            self.author,
            operation_id or new_operation_id(now),
            now,
            self.operations.lock.session_timeout_s,
        )

    def read_each(
        self, listings: Iterable[Listing], read: Callable[[Listing], Value]
    ) -> dict[str, Value]:
        """Return the result of `read` by operation id.

        An operation that cannot be decoded is left out, with a note.
        """
        found: dict[str, Value] = {}
        for listing in listings:
            try:
                found[listing.operation_id] = read(listing)
            except UndecodableError as error:
                self.tell(
                    events.Note(f"operation {listing.operation_id} is left out: {error.message}")
                )
        return found


def new_operation_id(now: str) -> str:
    """Return the id of an operation that begins at the timestamp; ids sort by time."""
    return f"{now.translate({ord(c): None for c in '-:'})}-{secrets.token_hex(3)}"


def _exists(pid: int) -> bool:
    try:
        # Of another user; a number that no process can have is not judged.
        with suppress(PermissionError, OverflowError):
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this uid, as in many containers
        return str(os.getuid())
