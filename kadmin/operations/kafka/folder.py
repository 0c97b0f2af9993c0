"""`OperationStore` in a folder of one machine, for clusters where nothing else can keep records.

While the cluster's own record can be read, its lock and its unfinished operations count here, too.

Layout below `<folder>/<cluster id>`::

    lock                       held with flock while an operation runs; names its holder
    fence                      the fencing token: it grows with every taker
    operations/                the operations, a file for each key (record_keys.py)
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.errors import BusyError, KadminError
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.kafka.keyed import KeyedOperations
from kadmin.operations.kafka.record_keys import OPERATIONS
from kadmin.operations.kafka.value_files import ValueFiles
from kadmin.operations.record.codec import decode_holder, encode_holder
from kadmin.operations.record.holder import Lease, held_lock, lost_lock, require_held_for

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from kadmin.operations.backend import OperationStore
    from kadmin.operations.context import Clock
    from kadmin.operations.events import Tell
    from kadmin.operations.record.holder import Holder


class FolderOperations(KeyedOperations):
    """The lock and the operations of one cluster, in `folder`; `topic` is where they are usually."""

    session_timeout_s = 0.0
    """The lock of a dead holder is free at once."""

    def __init__(self, folder: Path, clock: Clock, topic: OperationStore, tell: Tell) -> None:
        super().__init__(tell)
        self._folder = folder
        self._files = ValueFiles(folder)
        self._clock = clock
        self._topic = topic
        self._lock: IO[str] | None = None

    def holder(self) -> Holder | None:
        """Return who holds the lock."""
        with suppress(FileNotFoundError), (self._folder / "lock").open(encoding="utf-8") as lock:
            if self._lock is None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return decode_holder(lock.read())
            else:
                return decode_holder(lock.read())
        return None

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's; raises BusyError naming the holder.

        Raises BusyError, too, where the cluster's own record is in use.
        """
        del avoid
        self._require_no_other()
        (self._folder / OPERATIONS).mkdir(parents=True, exist_ok=True)
        give_up = min(self._clock.now() + wait_s, self._clock.until)
        lock = (self._folder / "lock").open("a+", encoding="utf-8")
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if self._clock.now() >= give_up:
                    lock.seek(0)
                    other = decode_holder(lock.read())
                    lock.close()
                    raise held_lock(other) from None
                self._clock.wait(POLL_S)
        self._clock.careful = True
        self._lock = lock
        lock.truncate(0)
        lock.write(encode_holder(holder))
        lock.flush()
        token = self._token() + 1
        self._files.put({"fence": str(token).encode()})
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
        holder = require_held_for(operation_id, self.holder())
        self._files.put({"fence": str(self._token() + 1).encode()})
        return holder

    def _require_no_other(self) -> None:
        """Raise BusyError where the topic has a live lock, or an unfinished operation of which here is no copy."""
        try:
            holder, unfinished = self._topic.holder(), self._topic.unfinished()
        except KadminError as error:
            # Then the folder is all there is, as in an operation that is to repair the topic.
            self._tell(events.Noted(f"topic {RECORD_TOPIC} was not looked at: {error.message}"))
            return
        copied = set(self._names(OPERATIONS))
        other = [each.operation_id for each in unfinished if each.operation_id not in copied]
        if holder is None and not other:
            return
        raise BusyError(
            f"The record of this cluster is in use, in its topic {RECORD_TOPIC}.",
            cause=f"{holder} holds the lock there" if holder else f"operation {other[0]} is not finished there",
            next_command="leave --records out of the command",
        )

    def _require(self, lease: Lease) -> None:
        if self._lock is None or self._token() != lease.token:
            raise lost_lock()

    def _token(self) -> int:
        return int(self._files.get("fence") or 0)

    def _get(self, key: str) -> bytes | None:
        return self._files.get(key)

    def _names(self, parent: str) -> Sequence[str]:
        return self._files.names(parent)

    def _values(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        return self._files.values(parent, leaf)

    def _put(self, values: Mapping[str, bytes | None], lease: Lease) -> None:
        self._require(lease)
        self._files.put(values)

    def _leave(self, key: str, value: bytes) -> None:
        self._files.put({key: value})

    def _place(self, key: str) -> str:
        return str(self._folder / key)
