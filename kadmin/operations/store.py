"""Operations on record: lock, records, statuses, steps and requests, on the values of any storage.

A storage keeps values by key (`Values`; the keys are in kadmin/operations/record/keys.py).
Encoding, versions of the layout, transitions and their errors belong to this module alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.events import Note
from kadmin.operations.record.codec import (
    REPLACE_REQUEST,
    REPLACE_THROTTLE_REQUEST,
    UndecodableError,
    decode_cordon,
    decode_record,
    decode_request,
    decode_status,
    decode_throttle_request,
    decoding,
    encode_cordon,
    encode_record,
    encode_request,
    encode_status,
    encode_throttle_request,
    restate,
)
from kadmin.operations.record.keys import (
    CORDONS,
    OPERATIONS,
    cordon_key,
    key_of,
    no_operation,
    step_key,
)
from kadmin.operations.record.listings import Listings
from kadmin.operations.record.record import (
    OperationState,
    OperationStatus,
    StoredOperation,
    beyond_kept,
    require_transition,
)
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.throttle_steps import current_throttle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.next_step import NextStep
    from kadmin.operations.events import EventSink
    from kadmin.operations.port import Lock, Values
    from kadmin.operations.record.cordon import CordonRecord
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import Listing, OperationRecord, ThrottleRecord
    from kadmin.operations.record.steps import Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest

Request = TypeVar("Request")


class OperationStore:
    """The operations of one cluster.

    Writes need the lease of `lock`; `ask` and `ask_throttle` need none. Raises UndecodableError
    with the place of a value that cannot be decoded, InvalidInputError for an operation that is not
    on record, and LostLockError for a write without the lock.
    """

    def __init__(self, values: Values, tell: EventSink) -> None:
        self.lock: Lock = values
        self._values = values
        self._listings = Listings(lambda text: tell(Note(text)))
        self._decoded: dict[str, tuple[bytes, Step]] = {}
        """Steps by key, with their values: a runner reads all of them at every look, and decodes
        each once."""

    def listings(self) -> tuple[Listing, ...]:
        """Return every operation, oldest first.

        One whose status cannot be decoded is left out, with a note.
        """
        return self._listings.all(self._statuses())

    def unfinished(self) -> tuple[Listing, ...]:
        """Return the operations that are not finished.

        Raises for an undecodable status: it may be of one of them.
        """
        return self._listings.unfinished(self._statuses())

    def _statuses(self) -> list[tuple[str, str, bytes]]:
        found = self._values.below(OPERATIONS, "/status")
        return [
            (name, self._values.locate(key_of(name, "status")), data)
            for name, data in found.items()
        ]

    def record(self, operation_id: str) -> OperationRecord:
        """Return the record of an operation.

        Raises NotCompletedError where its record was not completed.
        """
        return self._decode_record(operation_id, self._record(operation_id))

    def status(self, operation_id: str) -> OperationStatus:
        """Return the status of an operation."""
        with decoding(self._values.locate(key_of(operation_id, "status"))):
            return decode_status(self._status(operation_id))

    def steps(self, operation_id: str) -> tuple[Step, ...]:
        """Return the steps in order."""
        steps = []
        for name, data in self._values.below(key_of(operation_id, "steps")).items():
            key = key_of(operation_id, f"steps/{name}")
            decoded = self._decoded.get(key)
            if decoded is None or decoded[0] != data:
                with decoding(self._values.locate(key)):
                    decoded = self._decoded[key] = data, decode_step(data)
            steps.append(decoded[1])
        return tuple(steps)

    def throttle(self, operation_id: str) -> ThrottleRecord | None:
        """Return the throttle of an operation with every change, None without one."""
        return current_throttle(self.record(operation_id), self.steps(operation_id))

    def request(self, operation_id: str) -> StopRequest | None:
        """Return the request to stop an operation, if any."""
        return self._asked(key_of(operation_id, "request"), decode_request, REPLACE_REQUEST)

    def ask(self, operation_id: str, request: StopRequest) -> StopRequest:
        """Write a request to stop for the runner, and return the request in force.

        It is this one, or a stronger one. It replaces a request that cannot be decoded.
        """
        before = None
        with suppress(UndecodableError):
            before = self.request(operation_id)
        if before is not None and before.covers(request):
            return before
        self._values.leave(key_of(operation_id, "request"), encode_request(request))
        return request

    def throttle_request(self, operation_id: str) -> ThrottleRequest | None:
        """Return the last request to change the throttle of an operation."""
        return self._asked(
            key_of(operation_id, "throttle"), decode_throttle_request, REPLACE_THROTTLE_REQUEST
        )

    def ask_throttle(self, operation_id: str, request: ThrottleRequest) -> None:
        """Write a request to change the throttle for the runner; it replaces an earlier request."""
        self._values.leave(key_of(operation_id, "throttle"), encode_throttle_request(request))

    def create(
        self, record: OperationRecord, lease: Lease, now: str, *, leaves: bool = False
    ) -> None:
        """Write the whole record; its last write makes the operation running.

        `leaves` is as in the status.
        """
        preparing = encode_status(OperationStatus(OperationState.PREPARING, now), record)
        running = restate(preparing, OperationStatus(OperationState.RUNNING, now, leaves=leaves))
        status, body = (key_of(record.operation_id, name) for name in ("status", "record"))
        self._values.put(
            [(status, preparing), (body, encode_record(record)), (status, running)], lease
        )

    def export(self, operation_id: str) -> StoredOperation:
        """Return the values of an operation for another store; raises as `record` does."""
        record = self._record(operation_id)
        self._decode_record(operation_id, record)
        steps = self._values.below(key_of(operation_id, "steps"))
        throttle = self._values.get(key_of(operation_id, "throttle"))
        return StoredOperation(operation_id, self._status(operation_id), record, steps, throttle)

    def adopt(self, stored: StoredOperation, lease: Lease) -> None:
        """Write an operation of another store over its older state; the last write completes it."""
        preparing = replace(decode_status(stored.status), state=OperationState.PREPARING)
        values = [
            ("status", restate(stored.status, preparing)),
            ("record", stored.record),
            *((f"steps/{name}", data) for name, data in stored.steps.items()),
            *([] if stored.throttle_request is None else [("throttle", stored.throttle_request)]),
            ("status", stored.status),
        ]
        self._values.put(
            [(key_of(stored.operation_id, name), value) for name, value in values], lease
        )

    def set_status(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status; raises KadminError for a transition that TRANSITIONS does not list."""
        self._values.put([self._restated(operation_id, status, lease)], lease)

    def reopen(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status and remove the request."""
        restated = self._restated(operation_id, status, lease)
        self._values.put([restated, (key_of(operation_id, "request"), None)], lease)

    def prune(self, lease: Lease) -> None:
        """Remove the oldest finished operations beyond those that are kept for `history`."""
        for each in beyond_kept(self.listings()):
            steps = self._values.below(key_of(each.operation_id, "steps"))
            # The status comes last, so that a removal that was cut short is repeated.
            names = (
                *(f"steps/{name}" for name in steps),
                "request",
                "throttle",
                "record",
                "status",
            )
            self._values.put([(key_of(each.operation_id, name), None) for name in names], lease)

    def confirm(self, lease: Lease) -> None:
        """Raise LostLockError unless this lease holds the lock now."""
        self._values.put([], lease)

    def write_step(self, step: Step, lease: Lease) -> None:
        """Write a step; a step with this number is overwritten, as with its outcome."""
        self._values.put([(step_key(lease.operation_id, step.number), encode_step(step))], lease)

    def cordons(self) -> Mapping[int, CordonRecord]:
        """Return the cordons on record by broker id."""
        found = {}
        for name, data in self._values.below(CORDONS).items():
            with decoding(self._values.locate(cordon_key(int(name)))):
                found[int(name)] = decode_cordon(data)
        return dict(sorted(found.items()))

    def set_cordon(self, broker_id: int, cordon: CordonRecord | None, lease: Lease) -> None:
        """Write the cordon of a broker, or remove it."""
        data = None if cordon is None else encode_cordon(cordon)
        self._values.put([(cordon_key(broker_id), data)], lease)

    def _asked(
        self, key: str, decode: Callable[[bytes], Request], replaced_by: NextStep
    ) -> Request | None:
        data = self._values.get(key)
        if data is None:
            return None
        with decoding(self._values.locate(key), replaced_by):
            return decode(data)

    def _decode_record(self, operation_id: str, data: bytes) -> OperationRecord:
        with decoding(self._values.locate(key_of(operation_id, "record"))):
            return decode_record(data, operation_id)

    def _restated(
        self, operation_id: str, status: OperationStatus, lease: Lease
    ) -> tuple[str, bytes]:
        key, data = key_of(operation_id, "status"), self._status(operation_id)
        with decoding(self._values.locate(key)):
            before, restated = decode_status(data).state, restate(data, status)
        require_transition(operation_id, before, status.state, lambda: self.confirm(lease))
        return key, restated

    def _status(self, operation_id: str) -> bytes:
        data = self._values.get(key_of(operation_id, "status"))
        if data is None:
            raise no_operation(operation_id)
        return data

    def _record(self, operation_id: str) -> bytes:
        data = self._values.get(key_of(operation_id, "record"))
        if data is None:
            self._status(operation_id)
            raise NotCompletedError(
                f"Operation {operation_id} has no record.", next_step=command("history")
            )
        return data
