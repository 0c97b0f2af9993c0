"""State of the topic by its records.

It has the writes that count, the holder of the lock, the success of a taker. Pure. Partition 0
holds values by key. A taker gets a producer of its own, which fences every earlier one, and writes
CLAIM. From there on only its writes count, until the next claim; requests of others (`request`,
`throttle`) always count. A claim alone is not the lock. The taker reads up to its claim, judges
once more, and writes LOCK, or withdraws. The holder renews LOCK; a holder that was fenced by a
taker that withdrew claims again and finds its own LOCK still the last one.

A claim counts from kadmin's transactional id alone: its producer id is the `owner` of the log.
Where the owner is unknown every claim counts.

Compaction keeps the last record of each key, also one that never counted, and removes the claims
that would show that. So a taker writes overwritten values again, and where the owner has records,
those of other ids do not count.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.operations.record.codec import RECORD_VERSION, decode_holder
from kadmin.operations.record.keys import is_asked, is_key

if TYPE_CHECKING:
    from kadmin.operations.record.holder import Holder
    from kadmin.worlds.kafka.wire.partition_log import LogEntry
    from kadmin.worlds.kafka.wire.transactions import Producer


CLAIM = "claim"
LOCK = "lock"
CONFIRMED = "confirmed"
"""A key that never has a value."""


class Ignored(StrEnum):
    """The reason that a record does not count."""

    NO_KEY = "is none of kadmin's"
    NOT_HELD = "does not come from the holder of the lock"


@dataclass(frozen=True, slots=True)
class TopicLock:
    """The last lock record.

    It has its offset, its timestamp by the broker, the token of the lock, and the holder. `holder`
    took the lock and did not give it back, dead or alive. The token is the offset of the claim by
    which it was taken: it grows with every taker, and stays when the lock is renewed.
    """

    offset: int
    timestamp_ms: int
    token: int
    holder: Holder | None


class TopicLog:
    """The records of partition 0 of the topic, applied in order.

    The lock and the values that they leave.
    """

    def __init__(self, owner: int | None = None) -> None:
        self.owner = owner
        self.writers: set[int] = set()
        """Producer ids of all records that were written in transactions."""
        self.values: dict[str, bytes] = {}
        self.writer: Producer | None = None
        self._lock: TopicLock | None = None
        self._unreadable: int | None = None
        self._owner_wrote = False
        self._overwritten: set[str] = set()

    def add(self, entry: LogEntry) -> Ignored | None:
        """Add the next record; returns the reason where it does not count.

        Compaction removes claims. So records in transactions before the first claim that is left
        count where they are of the owner, or precede all of the owner's, as those of an expired id
        of kadmin's do.
        """
        if entry.key not in {CLAIM, LOCK, CONFIRMED} and not is_key(entry.key):
            return Ignored.NO_KEY
        if entry.producer is not None:
            self.writers.add(entry.producer.producer_id)
        if not is_asked(entry.key) and not self._is_written_by_right(entry):
            self._overwritten.add(entry.key)
            return Ignored.NOT_HELD
        self._overwritten.discard(entry.key)
        if entry.key == CLAIM:
            self.writer = entry.producer
        elif entry.key == LOCK:
            self._keep_lock(entry)
        elif entry.value is None:
            self.values.pop(entry.key, None)
        else:
            self.values[entry.key] = entry.value
        return None

    @property
    def lock(self) -> TopicLock | None:
        """The last lock record that counts.

        Raises NotCompletedError where it is of a newer kadmin's layout.
        """
        if self._unreadable is not None:
            raise NotCompletedError(
                f"The lock record at offset {self._unreadable} cannot be read; another version of "
                "kadmin wrote it.",
                next_step="use that version of kadmin",
            )
        return self._lock

    def may_take(self, claimant: Producer, judged: TopicLock | None) -> bool:
        """Whether a claimant that has read its claim gets the lock, which `judged` showed free.

        Another lock record since then means that the holder renewed it, or that another process
        took the lock.
        """
        return self.writer == claimant and self.lock == judged

    def overwritten(self) -> dict[str, bytes | None]:
        """Return the value that counts under each key whose last record does not.

        The keys are those of an operation, and None is no value. Compaction would keep that record
        alone.
        """
        return {key: self.values.get(key) for key in sorted(self._overwritten) if is_key(key)}

    def is_held(self, token: int) -> bool:
        """Whether the lock with this token was not given back, and not taken by another one."""
        return self.lock is not None and self.lock.holder is not None and self.lock.token == token

    def successor(self, token: int) -> Holder | None:
        """Return the holder that took the lock over from this token, and has not given it back."""
        return None if self.lock is None or self.lock.token == token else self.lock.holder

    def _keep_lock(self, entry: LogEntry) -> None:
        # Whether a record counts may be judged anew, so that one that cannot be read is no error
        # yet.
        self._lock, self._unreadable = None, None
        if entry.value is None:
            return
        try:
            value = json.loads(entry.value)
            token, holder = value["token"], value["holder"]
            readable = type(token) is int and value["min_reader"] <= RECORD_VERSION
        except (ValueError, LookupError, TypeError, RecursionError):
            readable = False
        if not readable:
            self._unreadable = entry.offset
            return
        held_by = None if holder is None else decode_holder(json.dumps(holder))
        self._lock = TopicLock(entry.offset, entry.timestamp_ms, token, held_by)

    def _is_written_by_right(self, entry: LogEntry) -> bool:
        if entry.producer is None:
            return False
        is_owner = entry.producer.producer_id == self.owner
        self._owner_wrote = self._owner_wrote or is_owner
        if entry.key == CLAIM:
            return self.owner is None or is_owner
        if self.writer is None:
            return is_owner or not self._owner_wrote
        return self.writer == entry.producer


def encode_lock(holder: Holder | None, token: int) -> bytes:
    """Encode a lock record; without a holder the lock is free."""
    value = {
        "min_reader": RECORD_VERSION,
        "token": token,
        "holder": None if holder is None else asdict(holder),
    }
    return json.dumps(value, sort_keys=True).encode()
