"""Values in a compacted topic of the cluster itself: lock, fence and record without ZooKeeper.

One transactional id is the fence: taking the lock begins a producer, and fences every earlier one.
The lock is a lease that its holder renews. topic_log.py decides which of the topic's records count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.record.holder import (
    Lease,
    LostLockError,
    changed_lock,
    held_lock,
    lost_lock,
    require_held_for,
)
from kadmin.worlds.kafka.values.topic_log import CONFIRMED
from kadmin.worlds.kafka.values.topic_reader import (
    LostTopicError,
    OpenTransactionError,
    TopicReader,
)
from kadmin.worlds.kafka.values.topic_settings import BODIES, CONTROL, create_topic, topic_to_create
from kadmin.worlds.kafka.values.topic_writer import AGAIN_S, TopicWriter, decode_offsets, is_body
from kadmin.worlds.kafka.wire.transactions import FencedError, append_record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.operations.context import Clock
    from kadmin.operations.events import EventSink
    from kadmin.operations.record.holder import Holder
    from kadmin.worlds.kafka.values.record_copy import RecordCopy
    from kadmin.worlds.kafka.values.topic_log import TopicLock, TopicLog
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

LEASE_S = 20.0
"""Seconds after its last renewal at which the lock of a dead holder is free."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """A lock that is held.

    It has its record, the time since which it is watched, and whether it was renewed meanwhile.
    """

    lock: TopicLock
    holder: Holder
    since: float
    renewed: bool

    @property
    def is_recent(self) -> bool:
        """Whether the last renewal is within one lease of this machine's clock.

        Its time is the broker's timestamp.
        """
        return abs(time.time() - self.lock.timestamp_ms / 1000) <= self.holder.session_timeout_s

    @property
    def seems_dead(self) -> bool:
        """Whether its holder seems to have ended.

        Certain only after a whole lease without a renewal.
        """
        return not self.renewed and not self.is_recent

    def rest_s(self, now: float) -> float:
        """Return the seconds until the lease has been watched for its whole length.

        Negative afterwards.
        """
        return self.holder.session_timeout_s - (now - self.since)


class TopicValues:
    """The lock and the values of one cluster, in the topic `name`."""

    def __init__(
        self,
        connection: KafkaConnection,
        clock: Clock,
        tell: EventSink,
        lease_s: float = LEASE_S,
        name: str = RECORD_TOPIC,
        copy: RecordCopy | None = None,
    ) -> None:
        self.session_timeout_s = lease_s
        self._tell = tell
        self._connection = connection
        self._clock = clock
        self._name = name
        self._reader = TopicReader(connection, name, tell)
        self._copy = copy
        self._compared = False
        self._writer: TopicWriter | None = None
        self._watched: _Watched | None = None
        self._told_of: TopicLock | None = None

    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free.

        Whether a holder that did not renew in time has ended is certain only when its lease
        expires. Until then the broker's timestamp of the last renewal is compared with this
        machine's clock.
        """
        self._watch(self._log())
        watched = self._watched
        if watched is None or watched.rest_s(self._clock.now()) < 0:
            return None
        return None if watched.seems_dead else watched.holder

    def watched_holder(self) -> Holder | None:
        """Return the holder of the lock.

        One that seems dead is watched for the length of its lease. At the command's end it counts
        as alive still.
        """
        while True:
            self._watch(self._log())
            watched, now = self._watched, self._clock.now()
            if watched is None or watched.rest_s(now) < 0:
                return None
            if not watched.seems_dead or self._clock.over:
                return watched.holder
            self._tell_watching(watched, now)
            self._clock.wait(POLL_S)
            self._clock.stop_if_asked("nothing was changed")

    def to_create(self) -> str:
        """Name the topic where it does not exist, with its replication factor.

        Raises NotCompletedError where its settings would lose records.
        """
        return (
            "" if self._reader.check_settings() else topic_to_create(self._connection, self._name)
        )

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take the lock, waiting at most `wait_s` for another's.

        Raises BusyError naming the holder. A topic that does not exist is created; one whose
        settings would lose records raises NotCompletedError. A holder that seems dead is watched
        for the length of its lease first.
        """
        if not self._reader.check_settings():
            created = create_topic(self._connection, self._name, avoid)
            self._tell(events.Note(f"{created} was created; it keeps lock and record"))
        if self._copy is None:
            return self._take(holder, wait_s)
        self._copy.hold()
        try:
            lease = self._take(holder, wait_s)
        except BaseException:
            self._copy.let_go()
            raise
        self._copy.sign(holder)
        return lease

    def _take(self, holder: Holder, wait_s: float) -> Lease:
        clock = self._clock
        give_up = min(clock.now() + wait_s, clock.until)
        while True:
            began = clock.now()
            log = self._reader.catch_up()
            self._watch(log)
            watched = self._watched
            if watched is not None and watched.seems_dead:
                self._tell_watching(watched, began)
            if watched is None or watched.rest_s(began) < 0:
                lease = self._try_take(
                    replace(holder, session_timeout_s=self.session_timeout_s), log.lock
                )
                if lease is not None:
                    return lease
                clock.wait(AGAIN_S)
            elif clock.over or (clock.now() >= give_up and not watched.seems_dead):
                raise held_lock(watched.holder)
            else:
                clock.wait(POLL_S)
            clock.stop_if_asked("nothing was changed")

    def sync(self) -> None:
        """Do nothing: a read sees all that was written before it."""

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Raise LostLockError, unless this holder can go on.

        A fenced holder that can take its lock again does so in its next write (`write`).
        """
        del holder
        raise lost_lock(self._reader.log.successor(lease.token))

    def release(self, lease: Lease) -> None:
        """Give the lock back; a lock that is no longer ours is left alone."""
        writer, self._writer = self._writer, None
        try:
            if writer is not None:
                writer.free(lease.token)
        except LostLockError:
            pass
        finally:
            if writer is not None:
                writer.close()
            if self._copy is not None:
                self._copy.let_go()

    def release_by_hand(self, operation_id: str) -> Holder:
        """Take the lock away from its holder, whose next write then fails; returns the holder."""
        lock = self._reader.catch_up().lock
        holder = require_held_for(operation_id, None if lock is None else lock.holder)
        writer = self._new_writer()
        try:
            writer.free(0 if lock is None else lock.token)
        except LostLockError:
            raise changed_lock() from None
        finally:
            writer.close()
        return holder

    def _new_writer(self) -> TopicWriter:
        return TopicWriter(self._connection.servers, self._name, self._reader, self._clock.until)

    def _try_take(self, holder: Holder, judged: TopicLock | None) -> Lease | None:
        writer = self._new_writer()
        try:
            token = writer.take(holder, judged)
            if token is not None:
                self._writer = writer
                return Lease(token, 0, holder.operation_id)
        except FencedError:
            pass  # another one claims
        finally:
            if self._writer is not writer:
                writer.close()
        return None

    def _tell_watching(self, watched: _Watched, now: float) -> None:
        if watched.lock != self._told_of:
            self._told_of = watched.lock
            seems = f"its holder {watched.holder} seems to be dead"
            self._tell(
                events.Note(f"waiting {max(0.0, watched.rest_s(now)):.0f} s for the lock: {seems}")
            )

    def _watch(self, log: TopicLog) -> None:
        lock, watched = log.lock, self._watched
        if lock is None or lock.holder is None:
            self._watched = None
        elif watched is None or watched.lock.token != lock.token:
            self._watched = _Watched(lock, lock.holder, self._clock.now(), renewed=False)
        elif watched.lock != lock:
            self._watched = _Watched(lock, lock.holder, self._clock.now(), renewed=True)

    def _log(self) -> TopicLog:
        """Return the log up to its end.

        Records that an open transaction hides for too long are left out, with a note. Raises
        LostLockError in a process whose lock another one holds now, because it must not act on
        later records; LostRecordError where the topic lacks what is in the copy on this machine.
        """
        if self._writer is not None:
            self._writer.touch()
        try:
            log = self._reader.catch_up()
        except OpenTransactionError as error:
            self._tell(events.Note(f"{error.message} {error.cause}"))
            log = self._reader.log
        except LostTopicError as lost:
            raise (lost if self._copy is None else self._copy.lost(lost.message)) from lost
        if self._copy is not None and not self._compared:
            self._copy.check(log.values)
            self._compared = True
        if self._writer is not None and not log.is_held(self._writer.token):
            raise lost_lock(log.successor(self._writer.token))
        return log

    def get(self, key: str) -> bytes | None:
        """Return a value, None where there is none; a record is read in its parts."""
        value = self._log().values.get(key)
        if value is None or not is_body(key):
            return value
        return b"".join(self._reader.body(BODIES, offset) for offset in decode_offsets(value))

    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, sorted, as they are at one time."""
        begin = len(parent) + 1
        below = sorted(self._below(parent).items())
        return {
            key[begin : len(key) - len(leaf)]: value for key, value in below if key.endswith(leaf)
        }

    def _values_of(self, operation: str) -> Mapping[str, bytes]:
        found = {key: self.get(key) for key in self._below(operation)}
        return {key: value for key, value in found.items() if value is not None}

    def _below(self, parent: str) -> Mapping[str, bytes]:
        return {
            key: value for key, value in self._log().values.items() if key.startswith(f"{parent}/")
        }

    def put(self, values: Sequence[tuple[str, bytes | None]], lease: Lease) -> None:
        """Write the last value of each key, all of them or none.

        Without values, a record that changes nothing.
        """
        del lease
        if self._writer is None:
            raise lost_lock()
        written: dict[str, bytes | None] = {}
        for key, value in values:
            written.pop(key, None)  # a value is in the place of the last write of its key
            written[key] = value
        written = written or {CONFIRMED: None}
        self._writer.touch()
        self._writer.write(written)
        if self._copy is not None:
            self._copy.keep(written, self._values_of)

    def leave(self, key: str, value: bytes) -> None:
        """Write a value without the lock."""
        append_record(self._connection, TopicPartition(self._name, CONTROL), key, value)

    def locate(self, key: str) -> str:
        """Return the key and the topic."""
        return f"the record {key} of topic {self._name}"
