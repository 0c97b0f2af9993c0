"""An `OperationStore` on any key-value storage: operations on record, as values by key.

record_keys.py has the keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.operations.events import Note
from kadmin.operations.record.codec import (
    REPLACE_REQUEST,
    REPLACE_THROTTLE_REQUEST,
    UndecodableError,
    decode_record,
    decode_request,
    decode_status,
    decode_step,
    decode_throttle_request,
    decoding,
    encode_record,
    encode_request,
    encode_status,
    encode_step,
    encode_throttle_request,
    restate,
)
from kadmin.operations.record.listings import Listings
from kadmin.operations.record.record import (
    OperationState,
    OperationStatus,
    StoredOperation,
    beyond_kept,
    require_transition,
)
from kadmin.worlds.kafka.values.record_keys import CONFIRMED, OPERATIONS, key_of, no_operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.operations.events import EventSink
    from kadmin.operations.record.holder import Holder, Lease
    from kadmin.operations.record.record import Listing, OperationRecord, Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest


class KeyedOperations(ABC):
    """The operations of one cluster; a subclass keeps the values, and the lock.

    Raises UndecodableError with the place of a value that cannot be decoded.
    """

    def __init__(self, tell: EventSink) -> None:
        self._tell = tell
        self._listings = Listings(lambda text: tell(Note(text)))

    @abstractmethod
    def _get(self, key: str) -> bytes | None:
        """Return a value, None where there is none."""

    @abstractmethod
    def _names(self, parent: str) -> Sequence[str]:
        """Return the names directly below a key, sorted."""

    @abstractmethod
    def _values(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, sorted, as they are at one time."""

    @abstractmethod
    def _put(self, values: Mapping[str, bytes | None], lease: Lease) -> None:
        """Write values in this order, or remove those that are None; raises LostLockError."""

    @abstractmethod
    def _leave(self, key: str, value: bytes) -> None:
        """Write a value without the lock."""

    @abstractmethod
    def _place(self, key: str) -> str:
        """Return the location of a key for messages."""

    @abstractmethod
    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free."""

    def watched_holder(self) -> Holder | None:
        """Return the holder of the lock for certain, however long that takes."""
        return self.holder()

    def to_create(self) -> str:
        """Return nothing: no topic is created."""
        return ""

    def sync(self) -> None:  # noqa: B027 - no subclass has anything to do
        """Do nothing: a read sees all that was written before it."""

    def listings(self) -> tuple[Listing, ...]:
        """Return every operation, oldest first; one whose status cannot be decoded is left out, with a note."""
        return self._listings.all(self._statuses())

    def unfinished(self) -> tuple[Listing, ...]:
        """Return the operations that are not finished; an undecodable one may be one of them, and raises."""
        return self._listings.unfinished(self._statuses())

    def _statuses(self) -> list[tuple[str, str, bytes]]:
        found = self._values(OPERATIONS, "/status")
        return [(name, self._place(key_of(name, "status")), data) for name, data in found.items()]

    def record(self, operation_id: str) -> OperationRecord:
        """Return the immutable part; raises InvalidInputError for an unknown operation."""
        key = key_of(operation_id, "record")
        data = self._get(key)
        if data is None:
            self._status(operation_id)
            raise _without_record(operation_id)
        with decoding(self._place(key)):
            return decode_record(data, operation_id)

    def status(self, operation_id: str) -> OperationStatus:
        """Return the status of an operation."""
        with decoding(self._place(key_of(operation_id, "status"))):
            return decode_status(self._status(operation_id))

    def steps(self, operation_id: str, known: tuple[Step, ...] = ()) -> tuple[Step, ...]:
        """Return the steps in order; they are few and at hand, so all are read: an outcome may have been added."""
        del known
        steps = []
        for name, data in self._values(key_of(operation_id, "steps")).items():
            with decoding(self._place(key_of(operation_id, f"steps/{name}"))):
                steps.append(decode_step(data))
        return tuple(steps)

    def request(self, operation_id: str) -> StopRequest | None:
        """Return the request to stop an operation, if any."""
        key = key_of(operation_id, "request")
        data = self._get(key)
        if data is None:
            return None
        with decoding(self._place(key), REPLACE_REQUEST):
            return decode_request(data)

    def ask(self, operation_id: str, request: StopRequest) -> StopRequest:
        """Leave a request to stop for the runner and return the one in force: this one, or a stronger one.

        It replaces one that cannot be decoded.
        """
        before = None
        with suppress(UndecodableError):
            before = self.request(operation_id)
        if before is not None and before.covers(request):
            return before
        self._leave(key_of(operation_id, "request"), encode_request(request))
        return request

    def throttle_request(self, operation_id: str) -> ThrottleRequest | None:
        """Return the last request to change the throttle of an operation."""
        key = key_of(operation_id, "throttle")
        data = self._get(key)
        if data is None:
            return None
        with decoding(self._place(key), REPLACE_THROTTLE_REQUEST):
            return decode_throttle_request(data)

    def ask_throttle(self, operation_id: str, request: ThrottleRequest) -> None:
        """Leave a request to change the throttle; it replaces an earlier one."""
        self._leave(key_of(operation_id, "throttle"), encode_throttle_request(request))

    def create(self, record: OperationRecord, lease: Lease, now: str) -> None:
        """Write the whole record; the operation is there, and running, with the last value."""
        preparing = encode_status(OperationStatus(OperationState.PREPARING, now), record)
        values = {
            "record": encode_record(record),
            "status": restate(preparing, OperationStatus(OperationState.RUNNING, now)),
        }
        self._put({key_of(record.operation_id, name): value for name, value in values.items()}, lease)

    def export(self, operation_id: str) -> StoredOperation:
        """Return an operation for another store."""
        record = self._get(key_of(operation_id, "record"))
        if record is None:
            raise _without_record(operation_id)
        steps, throttle = self._values(key_of(operation_id, "steps")), self._get(key_of(operation_id, "throttle"))
        return StoredOperation(operation_id, self._status(operation_id), record, steps, throttle)

    def adopt(self, stored: StoredOperation, lease: Lease) -> None:
        """Write an operation of another store; where the values are written one by one, the status comes last."""
        values = {"record": stored.record, **{f"steps/{name}": data for name, data in stored.steps.items()}}
        if stored.throttle_request is not None:
            values["throttle"] = stored.throttle_request
        values["status"] = stored.status
        self._put({key_of(stored.operation_id, name): value for name, value in values.items()}, lease)

    def set_status(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status."""
        self._put({key_of(operation_id, "status"): self._restated(operation_id, status, lease)}, lease)

    def reopen(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status and remove the request."""
        restated = self._restated(operation_id, status, lease)
        self._put({key_of(operation_id, "status"): restated, key_of(operation_id, "request"): None}, lease)

    def prune(self, lease: Lease) -> None:
        """Remove the oldest finished operations beyond those that are kept for `history`."""
        for each in beyond_kept(self.listings()):
            self._put(dict.fromkeys(self._keys(each.operation_id)), lease)

    def confirm(self, lease: Lease) -> None:
        """Raise LostLockError unless the lock is ours now, which a write that changes nothing shows."""
        self._put({CONFIRMED: None}, lease)

    def write_step(self, step: Step, lease: Lease) -> None:
        """Write a step, or its outcome over it."""
        self._put({key_of(lease.operation_id, f"steps/{step.number:06d}"): encode_step(step)}, lease)

    def _keys(self, operation_id: str) -> list[str]:
        """Return the keys of an operation, its status last, so that a removal that was cut short is repeated."""
        steps = [f"steps/{name}" for name in self._names(key_of(operation_id, "steps"))]
        names = [name for name in self._names(f"{OPERATIONS}/{operation_id}") if name not in {"steps", "status"}]
        return [key_of(operation_id, name) for name in (*steps, *names, "status")]

    def _restated(self, operation_id: str, status: OperationStatus, lease: Lease) -> bytes:
        data = self._status(operation_id)
        with decoding(self._place(key_of(operation_id, "status"))):
            before, restated = decode_status(data).state, restate(data, status)
        require_transition(operation_id, before, status.state, lambda: self.confirm(lease))
        return restated

    def _status(self, operation_id: str) -> bytes:
        data = self._get(key_of(operation_id, "status"))
        if data is None:
            raise no_operation(operation_id)
        return data


def _without_record(operation_id: str) -> NotCompletedError:
    return NotCompletedError(f"Operation {operation_id} has no record.", next_command="kadmin history")
