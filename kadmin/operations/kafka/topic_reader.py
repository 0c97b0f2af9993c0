"""Reads the topic of lock and record: partition 0 from its beginning, and then what has come since."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.metadata import leader_of, read_metadata
from kadmin.cluster.kafka.partition_log import MOST_BYTES, NoSuchOffsetError, fetch_committed, open_transactions
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped
from kadmin.errors import NotAuthorizedError, NotCompletedError, UnknownOutcomeError, UnreachableError, name_some
from kadmin.operations import events
from kadmin.operations.kafka.topic_log import TopicLog
from kadmin.operations.kafka.topic_settings import CONTROL, check_topic

if TYPE_CHECKING:
    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.metadata import TopicMetadata
    from kadmin.cluster.kafka.partition_log import Fetched
    from kadmin.operations.events import Tell

PATIENCE_S = 30.0
"""Longer than a dead transaction holds readers up: its timeout, 10 s, and the brokers' next look for such, 10 s."""

_PAUSE_S = 0.03
_GONE_S = 5.0
"""How long a broker may not know a topic that was just created."""


class OpenTransactionError(NotCompletedError):
    """A transaction that does not end hides what was committed after it."""


class LostTopicError(UnknownOutcomeError):
    """The topic does not have what was read from it, or what was written to it before."""


class TopicReader:
    """The records of the topic as `log`; a topic that does not exist has none. For any thread."""

    def __init__(self, connection: KafkaConnection, name: str, tell: Tell) -> None:
        self.log = TopicLog()
        self._connection = connection
        self._control = TopicPartition(name, CONTROL)
        self._tell = tell
        self._exists = False
        self._next = 0
        self._leaders: dict[TopicPartition, int] = {}
        self._held_up_at: int | None = None
        self._mutex = threading.Lock()

    def find(self) -> bool:
        """Whether the topic exists."""
        self._exists = self._exists or self._metadata() is not None
        return self._exists

    def check_settings(self) -> bool:
        """Whether the topic exists; raises NotCompletedError where its settings would lose what is written."""
        found = self._metadata()
        if found is not None:
            check_topic(self._connection, self._control.topic, found)
        return found is not None

    def _metadata(self) -> TopicMetadata | None:
        return read_metadata(self._connection, (self._control.topic,)).topics.get(self._control.topic)

    def catch_up(self) -> TopicLog:
        """Read all that was committed before this call.

        Raises OpenTransactionError naming the producer where an open transaction hides it for PATIENCE_S, once for each
        transaction: what comes before is in `log`, and later calls do not wait for the same one again. Raises
        LostTopicError where the topic is gone, or begins or ends at another offset than what was read.
        """
        with self._mutex:
            if self.find():
                self._read_to_end()
            return self.log

    def body(self, partition: int, offset: int) -> bytes:
        """Return the value of the record at an offset; raises NotCompletedError where there is none."""
        where, deadline = TopicPartition(self._control.topic, partition), time.monotonic() + PATIENCE_S
        while True:
            # What was committed in both partitions may be seen in one of them a moment earlier.
            fetched = self._fetch(where, offset, deadline, most_bytes=1)
            if fetched.entries or fetched.next_offset > offset or time.monotonic() >= deadline:
                break
            time.sleep(_PAUSE_S)
        if not fetched.entries or fetched.entries[0].offset != offset or fetched.entries[0].value is None:
            raise NotCompletedError(f"{where} has no record at offset {offset}.", next_command="kadmin history")
        return fetched.entries[0].value

    def _read_to_end(self) -> None:
        deadline, end = time.monotonic() + PATIENCE_S, None
        while True:
            fetched = self._fetch(self._control, self._next, deadline)
            end = fetched.end if end is None else end
            for entry in fetched.entries:
                if ignored := self.log.add(entry):
                    which = f"the record of key {escaped(entry.key)} at offset {entry.offset}"
                    self._tell(events.Noted(f"ignored in {self._control}: {which}, which {ignored}"))
            self._next = fetched.next_offset
            if self._next >= end:
                return
            if not fetched.entries and (fetched.stable == self._held_up_at or time.monotonic() >= deadline):
                self._held_up_at = fetched.stable
                raise self._held_up(fetched)
            if not fetched.entries:
                time.sleep(_PAUSE_S)

    def _fetch(self, partition: TopicPartition, offset: int, deadline: float, most_bytes: int = MOST_BYTES) -> Fetched:
        began = time.monotonic()
        while True:
            try:
                if partition not in self._leaders:
                    self._leaders[partition] = leader_of(self._connection, partition)
                return fetch_committed(self._connection, partition, self._leaders[partition], offset, most_bytes)
            except NoSuchOffsetError:
                raise LostTopicError(f"{partition} has no offset {offset}", next_command="kadmin history") from None
            except NotAuthorizedError:
                raise
            except UnreachableError:
                self._leaders.pop(partition, None)
                now = time.monotonic()
                if now - began > _GONE_S:
                    self._require_topic()
                if now >= deadline:
                    raise
                time.sleep(_PAUSE_S)

    def _require_topic(self) -> None:
        topic = self._control.topic
        if topic not in read_metadata(self._connection, (topic,)).topics:
            raise LostTopicError(f"topic {topic} was deleted", next_command="kadmin history")

    def _held_up(self, fetched: Fetched) -> OpenTransactionError:
        found = open_transactions(self._connection, self._control, self._leaders.get(self._control, 0))
        names = [f"{each.producer_id} (epoch {each.epoch})" for each in found]
        return OpenTransactionError(
            f"Records of {self._control} from offset {fetched.stable} on are hidden by an open transaction.",
            cause=f"it was begun by producer {name_some(names)}" if names else "the brokers name no producer",
            next_command="kafka-transactions.sh find-hanging and abort, then repeat the command",
        )
