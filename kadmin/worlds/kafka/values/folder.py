"""Values in a folder of one machine, for clusters without a topic for records.

While the cluster's own record can be read, its lock and its unfinished operations count here, too.
A runner whose record is in the topic shares the file `lock` below the copies of its machine: none
starts here beside it.

Layout below `<folder>/<cluster id>`::

    lock                       held with flock while an operation runs; names its holder
    fence                      the fencing token: it grows with every taker
    operations/                the operations, a file a key (kadmin/operations/record/keys.py)
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.errors import BusyError, KadminError, NotCompletedError
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.port import Values
from kadmin.operations.record.codec import decoding
from kadmin.operations.record.holder import Holder, Lease, held_lock, lost_lock, require_held_for
from kadmin.operations.record.keys import OPERATIONS
from kadmin.operations.store import OperationStore
from kadmin.worlds.kafka.values.lock_file import ALONE, holder_of, lock_file, read_holder, sign
from kadmin.worlds.kafka.values.value_files import ValueFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from kadmin.operations.context import Clock
    from kadmin.operations.events import EventSink


@contextmanager
def _of_files() -> Iterator[None]:
    """Raise NotCompletedError naming the file that cannot be used."""
    try:
        yield
    except OSError as error:
        raise NotCompletedError(
            f"{error.filename or 'A file'} keeps lock and record, and cannot be used.",
            cause=error.strerror,
            next_step="repeat the command when the folder of --records is in order",
        ) from error


class WatchedValues(Values, Protocol):
    """The storage that other runners may use; it shows with certainty whether its lock is held."""

    def watched_holder(self) -> Holder | None:
        """Return the holder of the lock for certain, however long that takes."""
        ...


class FolderValues:
    """The lock and the values of one cluster, in `folder`.

    `topic` is the storage that other runners may use.
    """

    session_timeout_s = 0.0
    """The lock of a dead holder is free at once."""

    def __init__(
        self, folder: Path, clock: Clock, topic: WatchedValues | None, tell: EventSink
    ) -> None:
        self._folder = folder
        self._files = ValueFiles(folder)
        self._clock = clock
        self._topic = topic
        self._tell = tell
        self._lock: IO[str] | None = None

    @_of_files()
    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free."""
        return holder_of(self._folder) if self._lock is None else read_holder(self._lock)

    @_of_files()
    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's.

        Raises BusyError naming the holder. Raises BusyError, too, where the cluster's own record is
        in use.
        """
        del avoid
        if self._topic is not None:
            self._require_no_other(self._topic)
        (self._folder / OPERATIONS).mkdir(parents=True, exist_ok=True)
        give_up = min(self._clock.now() + wait_s, self._clock.until)
        while isinstance(lock := lock_file(self._folder, ALONE), Holder):
            if self._clock.now() >= give_up:
                raise held_lock(lock)
            self._clock.wait(POLL_S)
            self._clock.stop_if_asked("nothing was changed")
        self._lock = lock
        sign(lock, holder)
        token = self._token() + 1
        self._files.put([("fence", str(token).encode())])
        return Lease(token, os.getpid(), holder.operation_id)

    def to_create(self) -> str:
        """Return nothing: no topic is created."""
        return ""

    def sync(self) -> None:
        """Do nothing: a read sees all that was written before it."""

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Raise LostLockError: a lock of this machine is lost by hand only."""
        del lease, holder
        raise lost_lock()

    @_of_files()
    def release(self, lease: Lease) -> None:
        """Give the lock back; a lock that is no longer ours is left alone."""
        if self._lock is not None and self._token() == lease.token:
            self._lock.truncate(0)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @_of_files()
    def release_by_hand(self, operation_id: str) -> Holder:
        """Make every later write of the holder fail; its lock is free when its process ends."""
        holder = require_held_for(operation_id, self.holder())
        self._files.put([("fence", str(self._token() + 1).encode())])
        return holder

    def _require_no_other(self, topic: WatchedValues) -> None:
        """Raise BusyError for a topic with a live lock.

        Do so, too, for an unfinished operation without a copy here.
        """
        try:
            if holder := topic.watched_holder():
                raise _in_use(f"{holder} holds the lock there")
            copied = self.below(OPERATIONS, "/status")
            for each in OperationStore(topic, self._tell).unfinished():
                if each.operation_id not in copied:
                    raise _in_use(f"operation {each.operation_id} is not finished there")
        except BusyError:
            raise
        except KadminError as error:
            # Then the folder is all there is, as in an operation that is to repair the topic.
            self._tell(events.Note(f"topic {RECORD_TOPIC} was not looked at: {error.message}"))

    def _require(self, lease: Lease) -> None:
        if self._lock is None or self._token() != lease.token:
            raise lost_lock()

    @_of_files()
    def _token(self) -> int:
        with decoding(self.locate("fence")):
            return int(self._files.get("fence") or 0)

    @_of_files()
    def get(self, key: str) -> bytes | None:
        """Return a value, None where there is none."""
        return self._files.get(key)

    @_of_files()
    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, sorted."""
        return self._files.below(parent, leaf)

    @_of_files()
    def put(self, values: Sequence[tuple[str, bytes | None]], lease: Lease) -> None:
        """Write values one by one, or remove those that are None."""
        self._require(lease)
        self._files.put(values)

    @_of_files()
    def leave(self, key: str, value: bytes) -> None:
        """Write a value without the lock."""
        self._files.put([(key, value)])

    def locate(self, key: str) -> str:
        """Return the path of the file."""
        return str(self._folder / key)


def _in_use(cause: str) -> BusyError:
    return BusyError(
        f"The record of this cluster is in use, in its topic {RECORD_TOPIC}.",
        cause=cause,
        next_step="leave --records out of the command",
    )
