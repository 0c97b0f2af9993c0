"""`OperationStore` in a folder of one machine, for clusters where nothing else can keep records.

Layout below `<folder>/<cluster id>`::

    lock                       held with flock while an operation runs; names its holder
    fence                      the fencing token: it grows with every taker
    operations/<id>/status     the only file that changes
    operations/<id>/record     the compressed record
    operations/<id>/request    pause or cancel
    operations/<id>/throttle   a change of the throttle
    operations/<id>/steps/<n>  one for each publish and each change of the throttle

Each file is written whole: to a temporary file beside it, then renamed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict
from typing import IO, TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.operations.context import POLL_S
from kadmin.operations.record.codec import (
    decode_listing,
    decode_record,
    decode_request,
    decode_status,
    decode_step,
    decode_throttle_request,
    encode_record,
    encode_request,
    encode_status,
    encode_step,
    encode_throttle_request,
    restate,
)
from kadmin.operations.record.holder import Holder, Lease, lost_lock
from kadmin.operations.record.record import (
    Author,
    OperationState,
    OperationStatus,
    beyond_kept,
    require_transition,
)

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.context import Clock
    from kadmin.operations.record.record import Listing, OperationRecord, Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest


class FolderOperations:
    """The lock and the operations of one cluster, in `folder`."""

    session_timeout_s = 0.0
    """The lock of a dead holder is free at once."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock: IO[str] | None = None

    def holder(self) -> Holder | None:
        """Return who holds the lock."""
        with suppress(FileNotFoundError), (self._folder / "lock").open(encoding="utf-8") as lock:
            if self._lock is None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return _holder(lock.read())
            else:
                return _holder(lock.read())
        return None

    def take(self, holder: Holder, wait_s: float) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's; raises BusyError naming the holder."""
        (self._folder / "operations").mkdir(parents=True, exist_ok=True)
        give_up = min(self._clock.now() + wait_s, self._clock.until)
        lock = (self._folder / "lock").open("a+", encoding="utf-8")
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if self._clock.now() >= give_up:
                    lock.seek(0)
                    other = _holder(lock.read())
                    lock.close()
                    raise BusyError(
                        f"The lock is held by {other} for operation {other.operation_id}.",
                        next_command="kadmin status; or wait with --lock-timeout SECONDS",
                    ) from None
                self._clock.wait(POLL_S)
        self._clock.careful = True
        self._lock = lock
        lock.truncate(0)
        lock.write(json.dumps(asdict(holder)))
        lock.flush()
        token = self._token() + 1
        self._write("fence", str(token).encode())
        return Lease(token, os.getpid(), holder.operation_id)

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Raise LostLockError: a lock of this machine is lost by hand only."""
        del lease, holder
        raise lost_lock()

    def release(self, lease: Lease) -> None:
        """Give the lock back; a lock that is no longer ours is left alone."""
        if self._lock is not None and self._token() == lease.token:
            self._lock.truncate(0)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def release_by_hand(self, operation_id: str) -> Holder:
        """Make every later write of the holder fail; its lock is free when its process ends."""
        holder = self.holder()
        if holder is None:
            raise InvalidInputError("The lock is free.", next_command="kadmin lock show")
        if holder.operation_id != operation_id:
            raise BusyError(f"The lock is held for operation {holder.operation_id}, not {operation_id}.")
        self._write("fence", str(self._token() + 1).encode())
        return holder

    def listings(self) -> tuple[Listing, ...]:
        """Return every operation, oldest first."""
        parent = self._folder / "operations"
        names = sorted(each.name for each in parent.iterdir()) if parent.is_dir() else []
        return tuple(decode_listing(name, data) for name in names if (data := self._read(name, "status")) is not None)

    def unfinished(self) -> tuple[Listing, ...]:
        """Return the operations that are not finished."""
        return tuple(each for each in self.listings() if not each.status.state.finished)

    def record(self, operation_id: str) -> OperationRecord:
        """Return the immutable part; raises NotCompletedError where it is not there."""
        data = self._read(operation_id, "record")
        if data is None:
            raise NotCompletedError(f"Operation {operation_id} has no record.", next_command="kadmin history")
        return decode_record(data, operation_id)

    def status(self, operation_id: str) -> OperationStatus:
        """Return the changing part."""
        return decode_status(self._status(operation_id))

    def steps(self, operation_id: str, known: tuple[Step, ...] = ()) -> tuple[Step, ...]:
        """Return the steps in order; they are few and local, so all are read: an outcome may have been added."""
        del known
        parent = self._folder / "operations" / operation_id / "steps"
        names = sorted(each.name for each in parent.iterdir()) if parent.is_dir() else []
        return tuple(decode_step((parent / name).read_bytes()) for name in names if name.isdigit())

    def request(self, operation_id: str) -> StopRequest | None:
        """Return what was asked of an operation."""
        data = self._read(operation_id, "request")
        return None if data is None else decode_request(data, self._place(operation_id, "request"))

    def ask(self, operation_id: str, request: StopRequest) -> StopRequest:
        """Leave a request for the runner and return the one that holds now: this one, or a stronger one."""
        before = self.request(operation_id)
        if before is not None and before.covers(request):
            return before
        self._write(f"operations/{operation_id}/request", encode_request(request))
        return request

    def throttle_request(self, operation_id: str) -> ThrottleRequest | None:
        """Return the last request to change the throttle of an operation."""
        data = self._read(operation_id, "throttle")
        return None if data is None else decode_throttle_request(data, self._place(operation_id, "throttle"))

    def ask_throttle(self, operation_id: str, request: ThrottleRequest) -> None:
        """Leave a request to change the throttle; it replaces an earlier one."""
        self._write(f"operations/{operation_id}/throttle", encode_throttle_request(request))

    def create(self, record: OperationRecord, lease: Lease, now: str) -> None:
        """Write the whole record; the operation is running once the last file is there."""
        self._require(lease)
        (self._folder / "operations" / record.operation_id / "steps").mkdir(parents=True)
        preparing = OperationStatus(OperationState.PREPARING, now)
        self._write(f"operations/{record.operation_id}/status", encode_status(preparing, record))
        self._write(f"operations/{record.operation_id}/record", encode_record(record))
        self.set_status(record.operation_id, OperationStatus(OperationState.RUNNING, now), lease)

    def set_status(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status."""
        self._require(lease)
        data = self._status(operation_id)
        require_transition(operation_id, decode_status(data).state, status.state)
        self._write(f"operations/{operation_id}/status", restate(data, status))

    def reopen(self, operation_id: str, status: OperationStatus, lease: Lease) -> None:
        """Change the status and remove the request."""
        self.set_status(operation_id, status, lease)
        (self._folder / "operations" / operation_id / "request").unlink(missing_ok=True)

    def prune(self, lease: Lease) -> None:
        """Remove the oldest finished operations beyond those that are kept for `history`."""
        self._require(lease)
        for each in beyond_kept(self.listings()):
            shutil.rmtree(self._folder / "operations" / each.operation_id)

    def write_step(self, step: Step, lease: Lease) -> None:
        """Write a step, or its outcome over it."""
        self._require(lease)
        self._write(f"operations/{lease.operation_id}/steps/{step.number:06d}", encode_step(step))

    def _require(self, lease: Lease) -> None:
        if self._lock is None or self._token() != lease.token:
            raise lost_lock()

    def _token(self) -> int:
        path = self._folder / "fence"
        return int(path.read_text(encoding="utf-8")) if path.exists() else 0

    def _status(self, operation_id: str) -> bytes:
        data = self._read(operation_id, "status")
        if data is None:
            raise InvalidInputError(f"There is no operation {operation_id}.", next_command="kadmin history")
        return data

    def _place(self, operation_id: str, name: str) -> str:
        return str(self._folder / "operations" / operation_id / name)

    def _read(self, operation_id: str, name: str) -> bytes | None:
        path = self._folder / "operations" / operation_id / name
        return path.read_bytes() if path.exists() else None

    def _write(self, name: str, data: bytes) -> None:
        path = self._folder / name
        temporary = path.with_name(f"{path.name}.tmp")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _holder(text: str) -> Holder:
    try:
        value = json.loads(text)
        return Holder(**{**value, "author": Author(**value["author"])})
    except (ValueError, KeyError, TypeError):
        return Holder(Author("unknown", "unknown", 0), "unknown", "unknown", 0.0)
