"""What clients meet whose partitions lose records to an unclean election."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from kafka.protocol.producer import WriteTxnMarkersRequest
from support.eras.offline import ENDS, LOST
from support.eras.producers import CodedProducer
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.errors import UnreachableError
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.offsets import ask_epoch_ends
from kadmin.worlds.kafka.wire.partition_log import NoSuchOffsetError, fetch_committed
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.partition_log import Fetched

_IDEMPOTENT = ("known", "unknown")
_TRANSACTIONAL = ("cut", "gone", "gone_newest", "committed", "hung", "aborted")
NAMES = ("consumed", *_IDEMPOTENT, *_TRANSACTIONAL)
"""One partition for each client, in the order of their numbers."""


class Clients:
    """A consumer and producers, whose names their partitions have too.

    `begin` is called while broker 2 follows, `go_on` while it does not; then broker 2 is elected,
    and each of the others proves the claim of its name and returns what is seen.
    """

    def __init__(self, connection: KafkaConnection, topic: str, *, newest: bool) -> None:
        self._connection = connection
        self.partitions = {name: TopicPartition(topic, number) for number, name in enumerate(NAMES)}
        self._newest = newest
        self._producers = {
            name: CodedProducer(
                connection,
                None if name in _IDEMPOTENT else name,
                newest=newest and name == "gone_newest",
            )
            for name in NAMES[1:]
        }

    def begin(self) -> None:
        for name in ("known", "cut", "committed", "hung", "aborted"):
            assert self._send(name) == 0

    def go_on(self) -> None:
        """End transactions, whose last record is the marker of that, or leave them open."""
        for name in ("known", "unknown", "cut", "gone", "gone_newest"):
            assert self._send(name) == 0
        for name in ("committed", "hung", "aborted"):
            assert self._end(name, committed=name != "aborted") == 0

    def consumer_beyond_the_end(self) -> str:
        partition, position = self.partitions["consumed"], ENDS[1] - 1
        with pytest.raises(NoSuchOffsetError):
            self._fetched("consumed", position)
        self._write("consumed", ENDS[1] - ENDS[2])
        assert self._read("consumed", position) == [b"new"]
        told = ask_epoch_ends(self._connection, {2: {partition: 0}}, PATIENCE_S)().given[2]
        assert told.offsets == {partition: ENDS[2]}
        return "refused (1); then it reads other records; the end of its epoch is told"

    def idempotent_producer_after_a_loss(self) -> str:
        return f"{_said(self._send('known'))}; {_said(self._send('unknown'))}"

    def transaction_without_its_end(self) -> str:
        return self._gone_on("cut")

    def transaction_without_its_beginning(self) -> str:
        found = self._gone_on("gone")
        return (
            f"{found}; by Produce 12: {_said(self._send('gone_newest'))}" if self._newest else found
        )

    def commit_that_is_lost(self) -> str:
        """The coordinator has it as committed, and the log that is left has it open."""
        self._write("committed")
        self._producers["committed"].restart()
        assert stays(lambda: self._read("committed") == [], 1)
        codes = self._send("committed"), self._end("committed", committed=True)
        assert codes == (0, 0)
        assert self._read("committed") == [b"committed", b"new", b"committed"]
        return "stay there, also when its producer starts anew, until it commits another one"

    def marker_by_hand(self) -> str:
        """As kafka-transactions does with --abort."""
        partition, hung = self.partitions["hung"], self._producers["hung"]
        self._write("hung")
        assert self._read("hung") == []
        marker = WriteTxnMarkersRequest.WritableTxnMarker
        topic = marker.WritableTxnMarkerTopic(
            name=partition.topic, partition_indexes=[partition.partition]
        )
        request = WriteTxnMarkersRequest(
            markers=[
                marker(
                    producer_id=hung.producer_id,
                    producer_epoch=hung.epoch,
                    transaction_result=False,
                    topics=[topic],
                    coordinator_epoch=0,
                )
            ]
        )
        self._connection.change("write a marker", request, broker_id=2, timeout_s=PATIENCE_S)
        wait_until(lambda: self._read("hung") == [b"new"])
        return "go on without its records"

    def abort_that_is_lost(self) -> str:
        codes = self._send("aborted"), self._end("aborted", committed=True)
        assert codes == (0, 0)
        assert self._read("aborted") == [b"aborted"] * 2
        return "are read as committed"

    def _gone_on(self, name: str) -> str:
        """Go on with an open transaction, and commit it."""
        sent, committed = self._send(name), self._end(name, committed=True)
        found = f"{_said(sent)}; its commit: {committed}"
        left = self._read(name)
        assert left == [name.encode()] * len(left)
        return f"{found}, and consumers read what is left" if left else found

    def _send(self, name: str) -> int:
        """Let a producer write its name; return the code."""
        return self._producers[name].send(self.partitions[name], name.encode())

    def _end(self, name: str, *, committed: bool) -> int:
        """End a transaction, and wait for its marker; return the code."""
        code = self._producers[name].end(committed=committed)

        def is_closed() -> bool:
            found = self._fetched(name)
            return found.stable == found.end

        wait_until(is_closed)
        return code

    def _write(self, name: str, records: int = 1) -> None:
        produce(self._connection.servers, {self.partitions[name]: [b"new"] * records})

    def _read(self, name: str, offset: int = 0) -> list[bytes]:
        """Return what consumers of committed records read from an offset on, but for LOST."""
        values = [each.value or b"" for each in self._fetched(name, offset).entries]
        return [each for each in values if each != LOST]

    def _fetched(self, name: str, offset: int = 0) -> Fetched:
        partition = self.partitions[name]
        found: list[Fetched] = []

        def is_served() -> bool:
            led = read_metadata(self._connection, [partition.topic]).partitions[partition]
            with suppress(UnreachableError):  # a broker that has only just begun to lead
                found.append(fetch_committed(self._connection, partition, led, offset))
            return bool(found)

        wait_until(is_served)
        return found[0]


def _said(code: int) -> str:
    return f"refused ({code})" if code else "accepted (0)"
