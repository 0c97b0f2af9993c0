"""Claims of KRAFT_CLAIMS on partitions without a leader, and on what an unclean election does to
clients, on brokers of every version under test.

Broker 1, which alone had all records, is stopped once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from kafka.protocol.admin import DescribeProducersRequest
from kafka.protocol.producer import WriteTxnMarkersRequest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.kraft import (
    UNCLEAN,
    delete,
    elect,
    elect_all,
    in_flight,
    move,
    reassign,
    shown,
    wait_shown,
)
from support.eras.offline import ENDS, LOST, log_ends, lose_leaders, wait_all
from support.eras.producers import CodedProducer, fetched
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.offsets import ask_epoch_ends
from kadmin.worlds.kafka.wire.partition_log import (
    NoSuchOffsetError,
    fetch_committed,
    open_transactions,
)
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]

PRODUCERS = ("known", "unknown", "cut", "gone", "gone_newest", "committed", "aborted")
NAMES: dict[Replicas, tuple[str, ...]] = {
    (1, 2, 3): ("asked", "first", "reordered"),
    (1, 2): ("anywhere", "consumed", "returned", *PRODUCERS),
    (1,): ("lost", "lost_to_one", "taken_back"),
}
"""The partitions of the tests, by their replicas; each producer writes to its own."""
MANY = 300


@dataclass(frozen=True, slots=True)
class Offline:
    """Partitions whose leader is stopped, by name, and many of another topic."""

    connection: KafkaConnection
    partitions: dict[str, TopicPartition]
    many: list[TopicPartition]
    producers: dict[str, CodedProducer]

    def begin(self) -> None:
        """Write what broker 2 gets, too."""
        for name in ("known", "cut", "committed", "aborted"):
            assert self.send(name) == 0

    def go_on(self) -> None:
        """Write what broker 2 does not get, ends of transactions among it."""
        for name in ("known", "unknown", "cut", "gone", "gone_newest"):
            assert self.send(name) == 0
        for name in ("committed", "aborted"):
            assert self.producers[name].end(committed=name == "committed") == 0
            wait_until(lambda each=name: not self.open(each, 1))  # type: ignore[misc] # bound now

    def send(self, name: str) -> int:
        """Let a producer write its name; return the code."""
        return self.producers[name].send(self.partitions[name], name.encode())

    def open(self, name: str, leader: int) -> bool:
        """Whether a transaction is open in a partition."""
        return bool(open_transactions(self.connection, self.partitions[name], leader))

    def elect(self, name: str) -> TopicPartition:
        """Let broker 2 lead a partition, and return it."""
        partition = self.partitions[name]
        assert elect(self.connection, partition, UNCLEAN) == 0
        wait_shown(self.connection, partition, leader=2)
        return partition

    def read(self, name: str, offset: int = 0) -> list[bytes]:
        """Return what consumers of committed records read from an offset on, but for LOST."""
        partition = self.partitions[name]
        found = fetch_committed(
            self.connection, partition, shown(self.connection, partition), offset
        )
        return [each.value for each in found.entries if each.value not in {None, LOST}]

    def write(self, name: str, records: int = 1) -> None:
        produce(self.connection.servers, {self.partitions[name]: [b"new"] * records})


@pytest.fixture(scope="module")
def offline(kraft: Sandbox) -> Iterator[Offline]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        partitions: dict[str, TopicPartition] = {}
        written: dict[TopicPartition, Replicas] = {}
        for replicas, names in NAMES.items():
            topic = make_topic(connection, dict.fromkeys(range(len(names)), replicas))
            partitions |= {each: TopicPartition(topic, n) for n, each in enumerate(names)}
            written |= {partitions[each]: replicas for each in names}
        many = make_topic(connection, dict.fromkeys(range(MANY), (1, 2)))
        found = Offline(
            connection,
            partitions,
            [TopicPartition(many, number) for number in range(MANY)],
            {each: producer(connection, each, kraft.spec.version) for each in PRODUCERS},
        )
        keep_coordinators(connection)
        found.begin()
        lose_leaders(kraft, connection, written, found.go_on)
        yield found
        kraft.start_broker(1)
        for each in {many, *(partition.topic for partition in written)}:
            delete(connection, each)


def producer(connection: KafkaConnection, name: str, version: str) -> CodedProducer:
    """Make the producer of a partition; Produce 12 came with 4.0."""
    transactional_id = None if name in {"known", "unknown"} else name
    newest = name == "gone_newest" and not version.startswith("3.")
    return CodedProducer(connection, transactional_id, newest=newest)


def keep_coordinators(connection: KafkaConnection) -> None:
    """Let a coordinator of every transaction live: broker 4 is not stopped."""
    found = read_metadata(connection, ["__transaction_state"]).partitions
    targets = dict.fromkeys(found, (4, 3, 2))
    assert alter_reassignments(connection, targets) == dict.fromkeys(found)
    wait_assigned(connection, targets)


def test_offline_log_ends(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["asked"]
    asked = {broker: [partition] for broker in (2, 3, 4)}
    written, last = (log_ends(connection, asked, at) for at in (LogEnd.WRITTEN, LogEnd.LAST))
    assert [written[each].offsets for each in asked] == [
        {partition: ENDS[2]},
        {partition: ENDS[3]},
        {},
    ]
    refused = [written[4], *last.values()]
    assert all(each.refused == {error_name(6): 1} for each in refused)
    assert seen("offline_log_ends") == "-2: exact, 6 elsewhere; -1: refused (6)"


def test_offline_fetch(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["asked"]
    for broker in (2, 3):
        code, watermark, offsets = fetched(connection, partition, broker, 11)
        assert (code, offsets) == (0, list(range(watermark)))
        assert watermark <= ENDS[broker]
        assert fetched(connection, partition, broker, 10) == (6, -1, [])
    assert seen("offline_fetch") == "version 10: refused (6); 11: up to its own high watermark"


def test_first_living_replica(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.elect("first")
    kept = {partition: ENDS[2]}
    wait_until(lambda: log_ends(connection, {3: [partition]}, LogEnd.WRITTEN)[3].offsets == kept)
    assert seen("first_living_replica") == "B leads; C loses what B lacks"


def test_reorder_without_a_leader(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["reordered"]
    move(connection, partition, (3, 1, 2))
    assert in_flight(connection, partition) is None
    wait_shown(connection, partition, replicas=(3, 1, 2), leader=NO_LEADER)
    assert elect(connection, partition, UNCLEAN) == 0
    wait_shown(connection, partition, leader=3)
    found = log_ends(connection, {3: [partition]}, LogEnd.WRITTEN)[3].offsets
    assert found == {partition: ENDS[3]}
    assert seen("reorder_without_a_leader") == "ends at once; C leads"


def test_unclean_election_at_any_broker(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["anywhere"]
    codes = [elect(connection, partition, UNCLEAN, broker_id=each) for each in (4, 3, 2)]
    assert seen("unclean_election_at_any_broker") == "{}; then refused ({}, {})".format(*codes)


def test_many_unclean_elections(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    assert elect_all(connection, offline.many, UNCLEAN) == [0] * MANY
    wait_all(connection, offline.many, lambda each: each.leader == 2)
    assert seen("many_unclean_elections") == "all are done, in one answer"


def test_consumer_beyond_the_end(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition, position = offline.elect("consumed"), ENDS[1] - 1
    with pytest.raises(NoSuchOffsetError):
        offline.read("consumed", position)
    offline.write("consumed", ENDS[1] - ENDS[2])
    assert offline.read("consumed", position) == [b"new"]
    found = ask_epoch_ends(connection, {2: {partition: 0}}, PATIENCE_S)().given[2]
    assert found.offsets == {partition: ENDS[2]}
    assert seen("consumer_beyond_the_end") == (
        "refused (1); then it reads other records; the end of its epoch is told"
    )


def test_idempotent_producer_after_a_loss(offline: Offline, seen: Callable[[str], str]) -> None:
    offline.elect("known")
    offline.elect("unknown")
    assert seen("idempotent_producer_after_a_loss") == (
        f"refused ({offline.send('known')}); accepted ({offline.send('unknown')})"
    )


def test_transaction_without_its_end(offline: Offline, seen: Callable[[str], str]) -> None:
    offline.elect("cut")
    codes = offline.send("cut"), offline.producers["cut"].end(committed=True)
    wait_until(lambda: not offline.open("cut", 2))
    assert offline.read("cut") == [b"cut"]
    assert seen("transaction_without_its_end") == (
        "refused ({}); its commit: {}, and consumers read what is left".format(*codes)
    )


def test_transaction_without_its_beginning(offline: Offline, seen: Callable[[str], str]) -> None:
    offline.elect("gone")
    offline.elect("gone_newest")
    codes = offline.send("gone"), offline.producers["gone"].end(committed=True)
    wait_until(lambda: not offline.open("gone", 2))
    assert offline.read("gone") == [b"gone"]
    said = "accepted ({}); its commit: {}, and consumers read what is left".format(*codes)
    newest = offline.send("gone_newest")
    assert seen("transaction_without_its_beginning") == (
        f"{said}; by Produce 12: refused ({newest})" if newest else said
    )


def test_commit_that_is_lost(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """Its coordinator has it as committed, and the log that is left has it open."""
    partition = offline.elect("committed")
    offline.write("committed")
    offline.producers["committed"].restart()
    assert stays(lambda: offline.read("committed") == [], 1)
    asked = DescribeProducersRequest.TopicRequest(
        name=partition.topic, partition_indexes=[partition.partition]
    )
    (topic,) = connection.ask(
        "describe producers", DescribeProducersRequest(topics=[asked]), broker_id=2
    ).topics
    (left,) = (
        each for each in topic.partitions[0].active_producers if each.current_txn_start_offset >= 0
    )
    marker = WriteTxnMarkersRequest.WritableTxnMarker
    request = WriteTxnMarkersRequest(
        markers=[
            marker(
                producer_id=left.producer_id,
                producer_epoch=left.producer_epoch,
                transaction_result=False,
                topics=[
                    marker.WritableTxnMarkerTopic(
                        name=partition.topic, partition_indexes=[partition.partition]
                    )
                ],
                coordinator_epoch=left.coordinator_epoch,
            )
        ]
    )
    connection.change("abort a transaction", request, broker_id=2, timeout_s=PATIENCE_S)
    wait_until(lambda: offline.read("committed") == [b"new"])
    assert seen("commit_that_is_lost") == (
        "stay there, also when its producer starts anew; an abort by WriteTxnMarkers ends it"
    )


def test_abort_that_is_lost(offline: Offline, seen: Callable[[str], str]) -> None:
    offline.elect("aborted")
    assert (offline.send("aborted"), offline.producers["aborted"].end(committed=True)) == (0, 0)
    wait_until(lambda: not offline.open("aborted", 2))
    assert offline.read("aborted") == [b"aborted"] * 2
    assert seen("abort_that_is_lost") == "are read as committed"


def test_every_replica_lost(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["lost"]
    move(connection, partition, (4, 2))
    elected = elect(connection, partition, UNCLEAN)
    wait_assigned(connection, {partition: (4, 2)})
    offline.write("lost")
    assert log_ends(connection, {4: [partition]}, LogEnd.WRITTEN)[4].offsets == {partition: 1}
    assert seen("every_replica_lost") == f"{elected}: B leads, empty; ends by itself"


def test_every_replica_lost_and_one_sent(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["lost_to_one"]
    move(connection, partition, (4,))
    elected = elect(connection, partition, UNCLEAN)
    wait_shown(connection, partition, leader=4)
    offline.write("lost_to_one")
    assert stays(lambda: in_flight(connection, partition) is not None, 2)
    move(connection, partition, (4,))
    wait_assigned(connection, {partition: (4,)})
    assert seen("every_replica_lost_and_one_sent") == (
        f"{elected}: B leads, empty; in flight until [B] is sent again"
    )


def test_null_without_a_leader(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """An ISR that is kept without a leader allows to go back to it."""
    partition = offline.partitions["taken_back"]

    def null_ends() -> str:
        (code,) = reassign(connection, partition, None)[1]
        ended = in_flight(connection, partition) is None
        assert ended == (code == 0)
        return "ends: [A]" if ended else f"refused ({code})"

    move(connection, partition, (4,))
    before = null_ends()
    move(connection, partition, (4,))
    assert elect(connection, partition, UNCLEAN) == 0
    assert seen("null_without_a_leader") == f"{before}; {null_ends()}"


def test_old_leader_returns(
    kraft: Sandbox, connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """The last one: broker 1 is started."""
    partition = offline.elect("returned")
    offline.write("returned")
    kraft.start_broker(1)
    wait_assigned(connection, {partition: (1, 2)})
    wait_until(
        lambda: (
            log_ends(connection, {1: [partition]}, LogEnd.WRITTEN)[1].offsets
            == {partition: ENDS[2] + 1}
        )
    )
    assert elect(connection, partition) == 0
    wait_shown(connection, partition, leader=1)
    assert offline.read("returned") == [b"new"]
    assert seen("old_leader_returns") == "truncated, in sync again; what it alone had is gone"
