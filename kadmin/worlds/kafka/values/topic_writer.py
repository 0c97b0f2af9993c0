"""Holds the lock in the topic.

It has one producer for all writes of this process, and a thread that renews the lease.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from kadmin.errors import KadminError
from kadmin.operations.record.holder import LostLockError, lost_lock
from kadmin.worlds.kafka.values.topic_log import LOCK, encode_lock
from kadmin.worlds.kafka.values.topic_protocol import (
    Add,
    Begin,
    CatchUp,
    Commit,
    Pause,
    take,
    write,
)
from kadmin.worlds.kafka.values.topic_settings import BATCH_BYTES, BODIES, CONTROL
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.transactions import FencedError, TransactionalProducer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.servers import Servers
    from kadmin.operations.record.holder import Holder
    from kadmin.worlds.kafka.values.topic_log import TopicLock
    from kadmin.worlds.kafka.values.topic_protocol import Request, Steps
    from kadmin.worlds.kafka.values.topic_reader import TopicReader

BEATS = 4
"""Number of renewals of the lease within its duration."""
HUNG_S = 60.0
"""Seconds without a call after which the holder counts as hung: its lease then runs out."""
_RECORD_BYTES = 64
"""Bytes per record for the overhead of the format, at least."""
AGAIN_S = 1.0
"""Seconds that a fenced process waits for the other one before it claims again."""

T = TypeVar("T")


class TopicWriter:
    """Writes to the topic under the lock: `take` the lock and write, or `free` it; then close.

    After `until`, the command's end, a write is tried for a moment; where it cannot be made, the
    command ends as unreachable.
    """

    def __init__(self, servers: Servers, name: str, reader: TopicReader, until: float) -> None:
        # Connections of its own: a slow answer to another request would hold up the lease.
        self._connection = KafkaConnection(servers)
        self._name = name
        self._reader = reader
        self._until = until
        self._holder: Holder | None = None
        self._producer: TransactionalProducer | None = None
        self.token = -1
        self._lost = False
        self._written_end = 0
        self._called_at = time.monotonic()
        self._mutex = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, holder: Holder, judged: TopicLock | None) -> int | None:
        """Take the lock that was `judged` to be free, and keep renewing it; returns its token.

        None where that judgement is no longer true. Raises FencedError where another process claims
        meanwhile.
        """
        token = self._carry_out(take(holder, judged))
        if token is not None:
            self.token, self._holder = token, holder
            self._thread = threading.Thread(
                target=self._renew,
                args=(holder.session_timeout_s,),
                name="kadmin lease",
                daemon=True,
            )
            self._thread.start()
        return token

    def write(self, values: Mapping[str, bytes | None]) -> None:
        """Write values, all of them or none, and renew the lease.

        Raises LostLockError once another one holds the lock. A request that is sent soon after a
        write is within the lease, though renewals before it may have failed.
        """
        with self._mutex:
            self._write({**values, LOCK: encode_lock(self._holder, self.token)})

    def free(self, token: int) -> None:
        """Write a lock record without a holder.

        Raises LostLockError where the lock is not that of this token.
        """
        self._closed.set()
        with self._mutex:
            self.token = token
            self._write({LOCK: encode_lock(None, token)})

    def touch(self) -> None:
        """Restart the clock of HUNG_S: the process is at work."""
        self._called_at = time.monotonic()

    def close(self) -> None:
        """Stop renewing, and close the connections; the lease runs out unless it was freed."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._connection.close()

    def _renew(self, lease_s: float) -> None:
        while not self._closed.wait(lease_s / BEATS):
            if time.monotonic() - self._called_at > HUNG_S:
                continue
            with self._mutex:
                if self._closed.is_set():
                    return
                try:
                    self._write({LOCK: encode_lock(self._holder, self.token)})
                except LostLockError:
                    return
                except KadminError:
                    # The next renewal may succeed; a write meanwhile raises the same error.
                    continue

    def _write(self, values: Mapping[str, bytes | None]) -> None:
        if self._lost or not self._carry_out(
            write(values, self.token, begun=self._producer is not None)
        ):
            self._lost = True
            raise lost_lock(self._reader.log.successor(self.token))

    def _carry_out(self, steps: Steps[T]) -> T:
        """Carry out the requests of a protocol.

        After any error but a fence, the producer is not used again.
        """
        try:
            request = next(steps)
            while True:
                try:
                    answer = self._answer(request)
                except FencedError as fenced:
                    request = steps.throw(fenced)
                else:
                    request = steps.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result
        except BaseException:
            self._producer = None
            raise

    def _answer(self, request: Request) -> Any:  # noqa: ANN401 - each request has an answer of its own
        match request:
            case Begin():
                self._producer = TransactionalProducer(
                    self._connection, self._name, self._name, until=self._until
                )
                self._reader.own(self._producer.identity.producer_id)
                return self._producer.identity
            case Add() if self._producer is not None:
                values = [*request.values.items()]
                control = values if request.again else self._with_bodies(self._producer, values)
                return self._add(self._producer, control)
            case Commit() if self._producer is not None:
                self._producer.commit()
                return self._reader.reach(self._written_end)
            case CatchUp():
                return self._reader.catch_up()
            case Pause():
                return time.sleep(AGAIN_S)
        raise KadminError(f"{request} comes before a producer began.")

    def _add(
        self, producer: TransactionalProducer, control: Iterable[tuple[str, bytes | None]]
    ) -> int:
        """Write values, in as many batches as it takes, and return the first offset."""
        added = [(producer.add(CONTROL, batch), len(batch)) for batch in batches(control)]
        self._written_end = sum(added[-1])
        return added[0][0]

    def _with_bodies(
        self, producer: TransactionalProducer, values: Iterable[tuple[str, bytes | None]]
    ) -> Iterator[tuple[str, bytes | None]]:
        """Write bodies in parts to their partition.

        Yields the values, with the offsets of bodies instead of them.
        """
        for key, value in values:
            if is_body(key) and value is not None:
                parts = [
                    value[start : start + BATCH_BYTES]
                    for start in range(0, len(value), BATCH_BYTES)
                ]
                offsets = [
                    producer.add(BODIES, [(f"{key}/{number}", part)])
                    for number, part in enumerate(parts)
                ]
                yield key, json.dumps(offsets).encode()
                continue
            if is_body(key) and (gone := decode_offsets(self._reader.log.values.get(key, b"[]"))):
                producer.add(BODIES, [(f"{key}/{number}", None) for number in range(len(gone))])
            yield key, value


def batches(
    records: Iterable[tuple[str, bytes | None]],
) -> Iterator[list[tuple[str, bytes | None]]]:
    """Cut records into batches of at most BATCH_BYTES, the overhead of the format included."""
    batch, left = list[tuple[str, bytes | None]](), BATCH_BYTES
    for key, value in records:
        size = len(key.encode()) + len(value or b"") + _RECORD_BYTES
        if batch and size > left:
            yield batch
            batch, left = [], BATCH_BYTES
        batch.append((key, value))
        left -= size
    yield batch


def is_body(key: str) -> bool:
    """Whether a key holds a whole record, with its value in parts in the partition BODIES."""
    return key.endswith("/record")


def decode_offsets(value: bytes) -> tuple[int, ...]:
    """Return the offsets of a body's parts; none where the value cannot be decoded."""
    try:
        offsets = json.loads(value)
    except (ValueError, RecursionError):
        return ()
    whole = isinstance(offsets, list) and all(type(each) is int and each >= 0 for each in offsets)
    return tuple(offsets) if whole else ()
