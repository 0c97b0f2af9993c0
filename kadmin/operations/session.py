"""The lock, held for an operation or a short write: its lease, and writes while it is held."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from kadmin.operations import events
from kadmin.operations.record.holder import LostLockError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Holder, Lease
    from kadmin.operations.record.record import OperationRecord, OperationStatus
    from kadmin.operations.record.steps import Step
    from kadmin.operations.record.stop_request import StopRequest

Written = TypeVar("Written")


class Session:
    """The holder's view of its operation.

    `lease` is the present lease, a new one after the lock was taken again.
    """

    def __init__(self, context: Context, holder: Holder, lease: Lease) -> None:
        self.context = context
        self.holder = holder
        self.lease = lease

    @property
    def operation_id(self) -> str:
        """The operation that the lock is held for."""
        return self.holder.operation_id

    def begin(self, record: OperationRecord, *, leaves: bool = False) -> None:
        """Write the record of a new operation, and remove the oldest finished ones."""
        self.context.operations.create(record, self.lease, record.created_at, leaves=leaves)
        self.context.operations.prune(self.lease)

    def request(self) -> StopRequest | None:
        """Return the request to stop the operation, if any."""
        return self.context.operations.request(self.operation_id)

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the operation in order."""
        return self.context.operations.steps(self.operation_id)

    def set_status(self, status: OperationStatus) -> None:
        """Change the status of the operation."""
        self.write(
            lambda lease: self.context.operations.set_status(self.operation_id, status, lease)
        )

    def reopen(self, status: OperationStatus) -> None:
        """Change the status of the operation, and remove the request to stop it."""
        self.write(lambda lease: self.context.operations.reopen(self.operation_id, status, lease))

    def write(self, write: Callable[[Lease], Written]) -> Written:
        """Write under the lock; where the lock expired, take it again and write once more.

        Raises LostLockError.
        """
        try:
            return write(self.lease)
        except LostLockError:
            self.regain()
            return write(self.lease)

    def regain(self) -> None:
        """Take the lock again after it expired with our session.

        Raises LostLockError where it was taken from us.
        """
        self.lease = self.context.operations.lock.retake(self.lease, self.holder)
        self.context.tell(events.Note("the session expired; the lock was taken again"))


@contextmanager
def held(
    context: Context, holder: Holder, wait_s: float, avoid: Collection[int] = ()
) -> Iterator[Session]:
    """Hold the lock, waiting at most `wait_s` for another's.

    Raises BusyError where it is held for longer. Brokers to `avoid` get no replica of a topic that
    has to be created for it, where others are enough. A signal ends the wait; one that comes later
    is left to what runs under the lock.
    """
    other = context.operations.lock.holder()
    if other is not None and wait_s > 0:
        text = (
            f"waiting at most {wait_s:g} s for the lock: {other} holds it for operation "
            f"{other.operation_id}"
        )
        context.tell(events.Note(text))
    with context.clock.deferring_signals():
        session = Session(context, holder, context.operations.lock.take(holder, wait_s, avoid))
        try:
            yield session
        finally:
            _release(context, session.lease)


def _release(context: Context, lease: Lease) -> None:
    """Release the lock.

    A failure is only noted, because the lock expires after the session timeout.
    """
    try:
        context.operations.lock.release(lease)
    except Exception as error:  # noqa: BLE001 - whatever it is, the result of the run counts, or its own error
        context.tell(
            events.Note(
                f"the lock could not be released; it expires soon after this command ends: {error}"
            )
        )
