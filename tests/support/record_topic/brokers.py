"""Models what brokers do with one partition and one transactional id: epochs, fences, markers, the
last stable offset.

tests/kraft/test_transaction_model.py holds the model against live brokers. A value of `Brokers`
never changes: each call returns the next one, so that every order of calls can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kadmin.worlds.kafka.wire.partition_log import LogEntry
from kadmin.worlds.kafka.wire.transactions import Producer


@dataclass(frozen=True, slots=True)
class Marker:
    """The end of the open transaction."""

    committed: bool


@dataclass(frozen=True, slots=True)
class Brokers:
    """`epoch` is the last one that a producer got; `ends` what the coordinator decided and has not
    written yet.
    """

    log: tuple[LogEntry | Marker, ...] = ()
    epoch: int = -1
    open_at: int | None = None
    ends: Marker | None = None

    @property
    def stable(self) -> int:
        """The last stable offset."""
        return len(self.log) if self.open_at is None else self.open_at

    @property
    def busy(self) -> bool:
        """Whether the coordinator lets every request on the transactional id wait
        (CONCURRENT_TRANSACTIONS).
        """
        return self.ends is not None

    def is_fenced(self, producer: Producer) -> bool:
        """Whether requests of a producer are refused."""
        return producer.epoch != self.epoch

    def begin(self) -> tuple[Brokers, Producer]:
        """Start a producer; an open transaction is aborted first."""
        assert not self.busy
        free = (
            self
            if self.open_at is None
            else replace(self, ends=Marker(committed=False)).write_marker()
        )
        return replace(free, epoch=self.epoch + 1), Producer(0, self.epoch + 1)

    def add(
        self, producer: Producer, values: tuple[tuple[str, bytes | None], ...]
    ) -> tuple[Brokers, int]:
        """Write values in the producer's transaction, which begins with the first."""
        assert not self.busy
        assert not self.is_fenced(producer)
        offset = len(self.log)
        entries = tuple(
            LogEntry(offset + number, key, value, producer, 0)
            for number, (key, value) in enumerate(values)
        )
        return replace(
            self, log=self.log + entries, open_at=offset if self.open_at is None else self.open_at
        ), offset

    def commit(self, producer: Producer) -> Brokers:
        """Decide that the transaction is committed; its marker is written later."""
        assert not self.busy
        assert not self.is_fenced(producer)
        return replace(self, ends=Marker(committed=True))

    def time_out(self) -> Brokers:
        """Decide that the open transaction is aborted, and fence its producer."""
        assert not self.busy
        assert self.open_at is not None
        return replace(self, epoch=self.epoch + 1, ends=Marker(committed=False))

    def write_marker(self) -> Brokers:
        """Write the marker that was decided."""
        assert self.ends is not None
        return replace(self, log=(*self.log, self.ends), open_at=None, ends=None)

    def plain(self, key: str, value: bytes) -> Brokers:
        """Write a record outside of transactions."""
        return replace(self, log=(*self.log, LogEntry(len(self.log), key, value, None, 0)))

    def visible(self) -> tuple[LogEntry, ...]:
        """Return the committed records before the last stable offset."""
        found: list[LogEntry] = []
        open_entries: list[LogEntry] = []
        for each in self.log[: self.stable]:
            if isinstance(each, Marker):
                found += open_entries if each.committed else []
                open_entries = []
            elif each.producer is None:
                found.append(each)
            else:
                open_entries.append(each)
        return tuple(sorted(found, key=lambda entry: entry.offset))
