"""Reads and writes operations in ZooKeeper."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError
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
from kadmin.operations.record.holder import lost_lock
from kadmin.operations.record.listings import Listings
from kadmin.operations.record.record import (
    OperationState,
    OperationStatus,
    StoredOperation,
    beyond_kept,
    require_transition,
)
from kadmin.worlds.zookeeper.model import Create, Delete, SetData
from kadmin.worlds.zookeeper.transaction import write
from kadmin.worlds.zookeeper.values.lock import lease_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kadmin.operations.events import EventSink
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import Listing, OperationRecord, Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.worlds.zookeeper.model import MultiResult, Op, Znode
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

CHUNK_BYTES = 60 * 1024
"""Bytes of a record in one znode: far below the packet limit of any ensemble."""
_CHUNKS_PER_WRITE = 8


class Journal:
    """Reads and writes the operations of one cluster. Every write carries the lease's checks.

    Raises UndecodableError with the path of a znode that cannot be decoded.
    """

    def __init__(self, store: Store, paths: Paths, tell: EventSink = lambda _: None) -> None:
        self._store = store
        self._paths = paths
        self._listings = Listings(lambda text: tell(Note(text)))

    def listings(self) -> tuple[Listing, ...]:
        """Return every operation, oldest first; one whose status cannot be decoded is left out, with a note."""
        return self._listings.all(self._statuses())

    def unfinished(self) -> tuple[Listing, ...]:
        """Return the operations that are not finished, at most one unless edited by hand.

        An undecodable one may be one of them, and raises.
        """
        return self._listings.unfinished(self._statuses())

    def _statuses(self) -> list[tuple[str, str, bytes]]:
        """Return the statuses by the transactions that created their operations, as ids count in seconds."""
        names = self._store.children(self._paths.operations) or ()
        nodes = self._store.get_many([self._paths.operation(name) for name in names])
        found = [(node.czxid, name, node.data) for name, node in zip(names, nodes, strict=True) if node is not None]
        return [(name, self._paths.operation(name), data) for _, name, data in sorted(found) if data]

    def record(self, operation_id: str) -> OperationRecord:
        """Return the immutable part; an operation whose runner ended while `preparing` has none.

        Raises InvalidInputError where there is no such operation.
        """
        parent = self._paths.record(operation_id)
        if self._store.exists(parent) is None:
            raise _missing(operation_id)
        with decoding(parent):
            return decode_record(b"".join(self._below(parent).values()), operation_id)

    def status(self, operation_id: str) -> OperationStatus:
        """Return the status of an operation; raises InvalidInputError where there is none with this id."""
        data, _ = self._operation(operation_id)
        with decoding(self._paths.operation(operation_id)):
            return decode_status(data)

    def steps(self, operation_id: str, known: tuple[Step, ...] = ()) -> tuple[Step, ...]:
        """Return the step records in order; those `known` are immutable and not read again."""
        parent = self._paths.steps(operation_id)
        names = self._store.children(parent) or ()
        nodes = self._store.get_many([f"{parent}/{name}" for name in names[len(known) :]])
        with decoding(parent):
            return (*known, *(decode_step(node.data) for node in nodes if node is not None and node.data))

    def request(self, operation_id: str) -> StopRequest | None:
        """Return the request to stop an operation, if any."""
        node = self._store.get(self._paths.request(operation_id))
        return None if node is None else _request(node)

    def ask(self, operation_id: str, request: StopRequest) -> StopRequest:
        """Leave a request to stop for the runner, without the lock, and return the one in force.

        It replaces one that cannot be decoded.
        """
        path = self._paths.request(operation_id)
        node = self._store.get(path)
        pending = None
        with suppress(UndecodableError):
            pending = None if node is None else _request(node)
        if pending is not None and pending.covers(request):
            return pending
        self._leave(path, node, encode_request(request))
        return request

    def throttle_request(self, operation_id: str) -> ThrottleRequest | None:
        """Return the last request to change the throttle of an operation."""
        node = self._store.get(self._paths.throttle_request(operation_id))
        if node is None:
            return None
        with decoding(node.path, REPLACE_THROTTLE_REQUEST):
            return decode_throttle_request(node.data or b"")

    def ask_throttle(self, operation_id: str, request: ThrottleRequest) -> None:
        """Leave a request to change the throttle, without the lock; it replaces an earlier one."""
        path = self._paths.throttle_request(operation_id)
        self._leave(path, self._store.get(path), encode_throttle_request(request))

    def write_step(self, step: Step, lease: Lease) -> None:
        """Write a step that publishes nothing."""
        path = self._paths.step(lease.operation_id, step.number)
        self._commit([Create(path, encode_step(step), self._store.acl("/admin"))], lease, self._exists(path))

    def _leave(self, path: str, node: Znode | None, data: bytes) -> None:
        op = Create(path, data, self._store.acl("/admin")) if node is None else SetData(path, data, node.version)
        result = write(self._store, [op], self._holds(path, data), _describe([op]))
        if result is not None and not result.committed:
            raise BusyError("Another request was written at the same time.", next_command="kadmin status")

    def create(self, record: OperationRecord, lease: Lease, now: str) -> None:
        """Write the whole record; the last write sets the state to running."""
        self._begin(record, encode_record(record), lease, now)
        self.set_status(record.operation_id, OperationStatus(OperationState.RUNNING, now), lease)

    def export(self, operation_id: str) -> StoredOperation:
        """Return an operation for another store."""
        status, _ = self._operation(operation_id)
        request = self._store.get(self._paths.throttle_request(operation_id))
        asked = None if request is None else request.data
        record = b"".join(self._below(self._paths.record(operation_id)).values())
        with decoding(self._paths.record(operation_id)):
            decode_record(record, operation_id)
        steps = self._below(self._paths.steps(operation_id))
        return StoredOperation(operation_id, status, record, steps, asked)

    def adopt(self, stored: StoredOperation, lease: Lease) -> None:
        """Write an operation of another store; it is `preparing` until its last write."""
        operation_id, acl = stored.operation_id, self._store.acl("/admin")
        path = self._paths.operation(operation_id)
        if self._store.exists(path) is not None:
            self._remove(operation_id, lease)
        record = decode_record(stored.record, operation_id)
        self._begin(record, stored.record, lease, record.created_at)
        steps = [Create(f"{self._paths.steps(operation_id)}/{name}", data, acl) for name, data in stored.steps.items()]
        if stored.throttle_request is not None:
            steps.append(Create(self._paths.throttle_request(operation_id), stored.throttle_request, acl))
        for each in steps:
            self._commit([each], lease, self._exists(each.path))
        self._commit([SetData(path, stored.status, 0)], lease, self._holds(path, stored.status))

    def _begin(self, record: OperationRecord, packed: bytes, lease: Lease, now: str) -> None:
        """Write everything of a record but its state, which is `preparing`."""
        acl = self._store.acl("/admin")
        operation_id = record.operation_id
        preparing = encode_status(OperationStatus(OperationState.PREPARING, now), record)
        parents = [
            Create(self._paths.operation(operation_id), preparing, acl),
            Create(self._paths.record(operation_id), b"", acl),
            Create(self._paths.steps(operation_id), b"", acl),
        ]
        self._commit(parents, lease, self._exists(self._paths.steps(operation_id)))
        chunks = [
            Create(f"{self._paths.record(operation_id)}/{start // CHUNK_BYTES:06d}", packed[start:][:CHUNK_BYTES], acl)
            for start in range(0, len(packed), CHUNK_BYTES)
        ]
        for start in range(0, len(chunks), _CHUNKS_PER_WRITE):
            group = chunks[start : start + _CHUNKS_PER_WRITE]
            self._commit(group, lease, self._exists(group[-1].path))

    def set_status(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Overwrite the state under the lease."""
        self._restate(operation_id, status, lease, ())

    def reopen(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Overwrite the state under the lease, and delete the request."""
        request = self._store.get(self._paths.request(operation_id))
        self._restate(operation_id, status, lease, () if request is None else (Delete(request.path, request.version),))

    def _restate(self, operation_id: str, status: OperationStatus, lease: Lease, beside: Sequence[Op]) -> None:
        path = self._paths.operation(operation_id)
        found, version = self._operation(operation_id)
        with decoding(path):
            before, data = decode_status(found).state, restate(found, status)
        require_transition(operation_id, before, status.state, lambda: self._confirm(lease))
        self._commit([SetData(path, data, version), *beside], lease, self._holds(path, data))

    def prune(self, lease: Lease) -> None:
        """Remove the oldest finished operations beyond those that are kept for `history`."""
        for listing in beyond_kept(self.listings()):
            self._remove(listing.operation_id, lease)

    def _remove(self, operation_id: str, lease: Lease) -> None:
        leaves = [
            f"{parent}/{name}"
            for parent in (self._paths.record(operation_id), self._paths.steps(operation_id))
            for name in self._store.children(parent) or ()
        ]
        requests = (self._paths.request(operation_id), self._paths.throttle_request(operation_id))
        leaves += [path for path in requests if self._store.exists(path) is not None]
        parents = [
            self._paths.record(operation_id),
            self._paths.steps(operation_id),
            self._paths.operation(operation_id),
        ]
        ops = [Delete(path, -1) for path in (*leaves, *parents)]
        self._commit(ops, lease, lambda: self._store.exists(self._paths.operation(operation_id)) is None)

    def _below(self, parent: str) -> dict[str, bytes]:
        """Return the data of the children of a znode by their names, in order."""
        names = self._store.children(parent) or ()
        nodes = self._store.get_many([f"{parent}/{name}" for name in names])
        return {name: node.data or b"" for name, node in zip(names, nodes, strict=True) if node is not None}

    def _operation(self, operation_id: str) -> tuple[bytes, int]:
        """Return the status of an operation as it is written, and its version."""
        node = self._store.get(self._paths.operation(operation_id))
        if node is None or not node.data:
            raise _missing(operation_id)
        return node.data, node.version

    def _holds(self, path: str, data: bytes) -> Callable[[], bool]:
        def happened() -> bool:
            found = self._store.get(path)
            return found is not None and found.data == data

        return happened

    def _exists(self, path: str) -> Callable[[], bool]:
        return lambda: self._store.exists(path) is not None

    def _confirm(self, lease: Lease) -> None:
        """Raise LostLockError unless the lock is ours now."""
        self._commit((), lease, lambda: False)

    def _commit(self, ops: Sequence[Op], lease: Lease, happened: Callable[[], bool]) -> None:
        what = _describe(ops) or "check the lock"
        result = write(self._store, [*lease_checks(lease, self._paths), *ops], happened, what)
        if result is not None and not result.committed:
            raise lost_lock_or(result, self._paths)


def _request(node: Znode) -> StopRequest:
    with decoding(node.path, REPLACE_REQUEST):
        return decode_request(node.data or b"")


def _missing(operation_id: str) -> InvalidInputError:
    return InvalidInputError(f"There is no operation {operation_id}.", next_command="kadmin history")


def lost_lock_or(result: MultiResult, paths: Paths) -> BusyError:
    """Build the error for a refused write; a failed check of lock or fence means that the lock is lost."""
    path = getattr(result.failed, "path", "")
    if path in {paths.lock, paths.fence}:
        return lost_lock()
    return BusyError(f"A write to {path} was refused: {result.reason}.", next_command="kadmin status")


def _describe(ops: Iterable[Op]) -> str:
    return ", ".join(f"{type(op).__name__.lower()} {op.path}" for op in ops)[:200]
