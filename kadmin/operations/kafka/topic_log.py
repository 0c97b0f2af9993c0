"""What the records of the topic say: which writes count, who holds the lock, whether a taker has won. Pure.

Partition 0 holds values by key. A taker gets a producer of its own, which fences every earlier one, and writes CLAIM.
From there on only its writes count, until the next claim; what others ask for (`request`, `throttle`) counts always.
A claim alone is not the lock. The taker reads up to its claim, and with it everything before, judges once more, and
writes LOCK, or stands back. The holder renews LOCK; a holder that was fenced by a taker that stood back claims again
and finds its own LOCK still the last one.

A claim counts from kadmin's transactional id alone: its producer id is the `owner` of the log. Where that is not known
every claim counts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.operations.kafka.record_keys import CLAIM, LOCK, is_asked, is_of_topic
from kadmin.operations.record.codec import RECORD_VERSION, decode_holder

if TYPE_CHECKING:
    from kadmin.cluster.kafka.partition_log import LogEntry
    from kadmin.cluster.kafka.transactions import Producer
    from kadmin.operations.record.holder import Holder


class Ignored(StrEnum):
    """Why a record does not count."""

    NO_KEY = "is none of kadmin's"
    NOT_HELD = "does not come from the holder of the lock"


@dataclass(frozen=True, slots=True)
class TopicLock:
    """The last lock record: its offset and the broker's time of it, the token of the lock, and who holds it.

    `holder` took the lock and did not give it back, dead or alive. The token is the offset of the claim by which it was
    taken: it grows with every taker, and stays when the lock is renewed.
    """

    offset: int
    timestamp_ms: int
    token: int
    holder: Holder | None


class TopicLog:
    """The records of partition 0 in order, judged one by one."""

    def __init__(self, owner: int | None = None) -> None:
        self.owner = owner
        self.claimants: set[int] = set()
        """Producer ids of the first claim that is left, and of what was written in transactions since."""
        self.values: dict[str, bytes] = {}
        self.writer: Producer | None = None
        self.lock: TopicLock | None = None

    def add(self, entry: LogEntry) -> Ignored | None:
        """Take the next record; returns why one does not count.

        Compaction removes claims, and never a record that is the last of its key: what comes before the first claim
        that is left, and was written in a transaction, counted when it was written.
        """
        if not is_of_topic(entry.key):
            return Ignored.NO_KEY
        if entry.producer is not None and (entry.key == CLAIM or self.claimants):
            self.claimants.add(entry.producer.producer_id)
        if not is_asked(entry.key) and not self._is_written_by_right(entry):
            return Ignored.NOT_HELD
        if entry.key == CLAIM:
            self.writer = entry.producer
        elif entry.key == LOCK:
            self.lock = _decode_lock(entry)
        elif entry.value is None:
            self.values.pop(entry.key, None)
        else:
            self.values[entry.key] = entry.value
        return None

    def may_take(self, claimant: Producer, judged: TopicLock | None) -> bool:
        """Whether a claimant that has read its claim takes the lock, which it had `judged` to be free before.

        Another lock record since then means that the holder lives, or that somebody else took the lock.
        """
        return self.writer == claimant and self.lock == judged

    def is_held(self, token: int) -> bool:
        """Whether the lock with this token was not given back, and not taken by another one."""
        return self.lock is not None and self.lock.holder is not None and self.lock.token == token

    def successor(self, token: int) -> Holder | None:
        """Return who took the lock over from the holder with this token, and has not given it back."""
        return None if self.lock is None or self.lock.token == token else self.lock.holder

    def _is_written_by_right(self, entry: LogEntry) -> bool:
        if entry.producer is None:
            return False
        if entry.key == CLAIM:
            return self.owner in {None, entry.producer.producer_id}
        return self.writer in {None, entry.producer}


def encode_lock(holder: Holder | None, token: int) -> bytes:
    """Encode a lock record; without a holder the lock is free."""
    value = {"min_reader": RECORD_VERSION, "token": token, "holder": None if holder is None else asdict(holder)}
    return json.dumps(value, sort_keys=True).encode()


def _decode_lock(entry: LogEntry) -> TopicLock | None:
    if entry.value is None:
        return None
    try:
        value = json.loads(entry.value)
        token, holder = value["token"], value["holder"]
        readable = value["min_reader"] <= RECORD_VERSION
    except (ValueError, KeyError, TypeError):
        readable = False
    if not readable:
        raise NotCompletedError(
            f"The lock record at offset {entry.offset} cannot be read; another version of kadmin wrote it.",
            next_command="use that version of kadmin",
        )
    held_by = None if holder is None else decode_holder(json.dumps(holder))
    return TopicLock(entry.offset, entry.timestamp_ms, token, held_by)
