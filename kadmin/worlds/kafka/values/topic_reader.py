"""Reads the topic of lock and record: partition 0 from its beginning, and then its new records."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped
from kadmin.errors import (
    KadminError,
    NotAuthorizedError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.waiting import poll
from kadmin.wording import count, name_some
from kadmin.worlds.kafka.reader import read_quorum
from kadmin.worlds.kafka.values.topic_log import TopicLog
from kadmin.worlds.kafka.values.topic_settings import CONTROL, check_topic
from kadmin.worlds.kafka.wire.catch_up import caught_up_broker
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.partition_log import (
    MOST_BYTES,
    NoSuchOffsetError,
    fetch_committed,
    open_transactions,
)
from kadmin.worlds.kafka.wire.transactions import producer_id_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.events import EventSink
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata, TopicMetadata
    from kadmin.worlds.kafka.wire.partition_log import Fetched

PATIENCE_S = 30.0
"""Longer than an abandoned transaction blocks readers: its timeout, 10 s, and the brokers' next
check, 10 s."""

_PAUSE_S = 0.03
_MOST_TOLD = 10
"""Number of records that do not count which are noted one by one, of those that one look found."""
_GONE_S = 5.0
"""Seconds that a broker may take to show a topic that was just created."""


class OpenTransactionError(NotCompletedError):
    """A transaction that does not end hides the records that were committed after it."""


class LostTopicError(UnknownOutcomeError):
    """The topic lacks records that were read from it, or written to it, before."""


def ignored_notes(ignored: Sequence[str], partition: TopicPartition) -> list[str]:
    """Return notes on records that do not count; those beyond _MOST_TOLD are only counted."""
    more = len(ignored) - _MOST_TOLD
    notes = [f"ignored in {partition}: {each}" for each in ignored[:_MOST_TOLD]]
    return notes if more <= 0 else [*notes, f"ignored in {partition}: {count(more, 'more record')}"]


class TopicReader:
    """The records of the topic as `log`; a topic that does not exist has none. For any thread."""

    def __init__(self, connection: KafkaConnection, name: str, tell: EventSink) -> None:
        self.log = TopicLog()
        self._connection = connection
        self._control = TopicPartition(name, CONTROL)
        self._tell = tell
        self._exists = False
        self._next = 0
        self._leaders: dict[int, PartitionMetadata] = {}
        self._least_end = 0
        self._strangers: set[int] = set()
        self._ignored: dict[int, str] = {}
        self._told: set[int] = set()
        self._held_up_at: int | None = None
        self._mutex = threading.Lock()

    def find(self) -> bool:
        """Whether the topic exists; raises UnreachableError where its absence cannot be proved."""
        self._exists = self._exists or self._look() is not None
        return self._exists

    def check_settings(self) -> bool:
        """Whether the topic exists.

        Raises NotCompletedError where its settings would lose records.
        """
        found = self._look()
        if found is not None:
            check_topic(self._connection, self._control.topic, found)
        return found is not None

    def own(self, producer_id: int) -> None:
        """Set the producer id of kadmin's transactional id.

        Where others wrote, all records are judged again.
        """
        with self._mutex:
            self._own(producer_id)

    def _own(self, producer_id: int) -> None:
        self._strangers |= self.log.writers - {producer_id}
        if self.log.owner == producer_id:
            return
        if self.log.writers <= {producer_id}:
            self.log.owner = producer_id
        else:
            self.log, self._next, self._ignored = TopicLog(producer_id), 0, {}

    def _settle_owner(self) -> None:
        """Look up kadmin's producer id, where an unknown one wrote."""
        unknown = self.log.writers - self._strangers - {self.log.owner}
        if len(unknown) > (1 if self.log.owner is None else 0):
            with suppress(KadminError):  # records are judged by what is known
                producer_id = producer_id_of(self._connection, self._control.topic)
                if producer_id is not None:
                    self._own(producer_id)
            self._read_to_end()

    def _tell_ignored(self) -> None:
        new = sorted(self._ignored.keys() - self._told)
        for note in ignored_notes([self._ignored[offset] for offset in new], self._control):
            self._tell(events.Note(note))
        self._told |= self._ignored.keys()

    def reach(self, end: int) -> None:
        """Read to this end at least from now on.

        The rightful leader's log has the records that this process wrote.
        """
        self._least_end = max(self._least_end, end)

    def catch_up(self) -> TopicLog:
        """Read all records that were committed before this call.

        Raises OpenTransactionError naming the producer where an open transaction hides it for
        PATIENCE_S, once for each transaction: earlier records are in `log`, and later calls do not
        wait for the same one again. Raises LostTopicError where the topic is gone, or its offsets
        do not match the records that were read.
        """
        with self._mutex:
            if self.find():
                try:
                    self._read_to_end()
                    self._settle_owner()
                finally:
                    self._tell_ignored()
            return self.log

    def body(self, partition: int, offset: int) -> bytes:
        """Return the value of the record at an offset.

        Raises NotCompletedError where there is none.
        """
        where, deadline = (
            TopicPartition(self._control.topic, partition),
            time.monotonic() + PATIENCE_S,
        )
        for _ in poll(PATIENCE_S, _PAUSE_S):
            # What was committed in both partitions may be seen in one of them a moment earlier.
            fetched = self._fetch(where, offset, deadline, most_bytes=1)
            if fetched.entries or fetched.next_offset > offset:
                break
        if (
            not fetched.entries
            or fetched.entries[0].offset != offset
            or fetched.entries[0].value is None
        ):
            raise NotCompletedError(
                f"{where} has no record at offset {offset}.", next_step=command("history")
            )
        return fetched.entries[0].value

    def _read_to_end(self) -> None:
        deadline, end = time.monotonic() + PATIENCE_S, None
        while True:
            fetched = self._fetch(self._control, self._next, deadline)
            if fetched.end < self._least_end:
                self._leave_leader(fetched.end, deadline)
                continue
            end = fetched.end if end is None else end
            for entry in fetched.entries:
                if ignored := self.log.add(entry):
                    which = f"the record of key {escaped(entry.key)} at offset {entry.offset}"
                    self._ignored[entry.offset] = f"{which}, which {ignored}"
            self._next = fetched.next_offset
            if self._next >= end:
                return
            if not fetched.entries and (
                fetched.stable == self._held_up_at or time.monotonic() >= deadline
            ):
                self._held_up_at = fetched.stable
                raise self._held_up(fetched)
            if not fetched.entries:
                time.sleep(_PAUSE_S)

    def _leave_leader(self, end: int, deadline: float) -> None:
        """Look up the leader again.

        A deposed leader that has not seen its successor still answers without an error.
        """
        self._leaders = {}
        if time.monotonic() >= deadline:
            raise UnreachableError(
                f"{self._control} ends at offset {end}, before what this process wrote up to "
                f"{self._least_end}.",
                cause=(
                    "the broker that answers does not lead it any more, and its leader does not "
                    "answer"
                ),
                next_step=command("status") + ", then " + command("resume"),
            )
        time.sleep(_PAUSE_S)

    def _fetch(
        self, partition: TopicPartition, offset: int, deadline: float, most_bytes: int = MOST_BYTES
    ) -> Fetched:
        began = time.monotonic()
        while True:
            try:
                return fetch_committed(
                    self._connection, partition, self._leader(partition), offset, most_bytes
                )
            except NoSuchOffsetError:
                raise LostTopicError(
                    f"{partition} has no offset {offset}", next_step=command("history")
                ) from None
            except NotAuthorizedError:
                raise
            except UnreachableError:
                self._leaders = {}
                now = time.monotonic()
                if now - began > _GONE_S and self._look() is None:
                    raise LostTopicError(
                        f"topic {partition.topic} was deleted", next_step=command("history")
                    ) from None
                if now >= deadline:
                    raise
                time.sleep(_PAUSE_S)

    def _leader(self, partition: TopicPartition) -> PartitionMetadata:
        led = self._leaders.get(partition.partition)
        if led is None:
            self._look()
            led = self._leaders.get(partition.partition)
        if led is None:
            raise UnreachableError(
                f"{partition} has no leader.", next_step=command("inspect partitions")
            )
        return led

    def _look(self) -> TopicMetadata | None:
        """Return the topic, None if there is none, from a broker level with the controller.

        Any broker is asked where no controller answers, because pausing an operation needs none.
        Raises UnreachableError where that broker shows no topic.
        """
        at, lost = None, None
        try:
            quorum = read_quorum(self._connection)
            at = (
                None
                if quorum is None
                else caught_up_broker(self._connection, quorum.high_watermark)
            )
        except UnreachableError as error:
            lost = error
        topic = self._control.topic
        found = read_metadata(self._connection, (topic,), broker_id=at).topics.get(topic)
        if found is None and lost is not None:
            raise lost
        partitions = {} if found is None else found.partitions
        self._leaders = {number: each for number, each in partitions.items() if each.leader >= 0}
        return found

    def _held_up(self, fetched: Fetched) -> OpenTransactionError:
        found = open_transactions(
            self._connection, self._control, self._leader(self._control).leader
        )
        names = [f"{each.producer_id} (epoch {each.epoch})" for each in found]
        return OpenTransactionError(
            f"Records of {self._control} from offset {fetched.stable} on are hidden by an open "
            "transaction.",
            cause=f"it was begun by producer {name_some(names)}"
            if names
            else "the brokers name no producer",
            next_step="kafka-transactions.sh find-hanging and abort, then repeat the command",
        )
