"""Claims of KRAFT_CLAIMS on partitions without a leader, and on what an unclean election does to
clients, on brokers of every version under test.

Broker 1, which alone had all records, is stopped once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.clients import NAMES as CLIENTS
from support.eras.clients import Clients
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
from support.eras.offline import ENDS, log_ends, lose_leaders, wait_all
from support.eras.producers import fetched
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import stays, wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.eligible_leaders import EligibleLeaders, read_eligible_leaders
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.partition_log import fetch_committed
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

NAMES: dict[Replicas, tuple[str, ...]] = {
    (1, 2, 3): ("asked", "first", "reordered"),
    (1, 2): ("anywhere", "returned"),
    (1,): ("lost", "lost_to_one", "taken_back"),
}
"""The partitions of the tests, by their replicas."""
MANY = 300


@dataclass(frozen=True, slots=True)
class Offline:
    """Partitions whose leader is stopped: by name, those of clients, and many of another topic."""

    partitions: dict[str, TopicPartition]
    clients: Clients
    many: list[TopicPartition]
    stopped: TopicPartition
    """[1, 2] with a minimum ISR of 2."""
    crashed: TopicPartition
    """[1, 3] with a minimum ISR of 2: broker 3 crashes, the others do not."""


@pytest.fixture(scope="module")
def offline(kraft: Sandbox) -> Iterator[Offline]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        partitions: dict[str, TopicPartition] = {}
        written: dict[TopicPartition, Replicas] = {}
        for replicas, names in NAMES.items():
            topic = make_topic(connection, dict.fromkeys(range(len(names)), replicas))
            partitions |= {each: TopicPartition(topic, n) for n, each in enumerate(names)}
            written |= {partitions[each]: replicas for each in names}
        topic = make_topic(connection, dict.fromkeys(range(len(CLIENTS)), (1, 2)))
        clients = Clients(connection, topic, newest=not kraft.spec.version.startswith("3."))
        written |= dict.fromkeys(clients.partitions.values(), (1, 2))
        many = make_topic(connection, dict.fromkeys(range(MANY), (1, 2)))
        strict = make_topic(connection, {0: (1, 2), 1: (1, 3)}, {"min.insync.replicas": "2"})
        keep_coordinators(connection)
        clients.begin()
        lose_leaders(kraft, connection, written, clients.go_on, crashing=3)
        yield Offline(
            partitions,
            clients,
            [TopicPartition(many, number) for number in range(MANY)],
            TopicPartition(strict, 0),
            TopicPartition(strict, 1),
        )
        kraft.start_broker(1)
        for each in {many, strict, *(partition.topic for partition in written)}:
            delete(connection, each)


@pytest.fixture(scope="module")
def clients(kraft: Sandbox, offline: Offline) -> Clients:
    """Clients whose partitions broker 2 leads."""
    partitions = list(offline.clients.partitions.values())
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        assert elect_all(connection, partitions, UNCLEAN) == [0] * len(partitions)
        wait_all(connection, partitions, lambda each: each.leader == 2)
    return offline.clients


def keep_coordinators(connection: KafkaConnection) -> None:
    """Let a coordinator of every transaction live: broker 4 is not stopped."""
    found = read_metadata(connection, ["__transaction_state"]).partitions
    targets = dict.fromkeys(found, (4, 3, 2))
    assert alter_reassignments(connection, targets) == dict.fromkeys(found)
    wait_assigned(connection, targets)


def elect_uncleanly(connection: KafkaConnection, partition: TopicPartition, leader: int) -> None:
    """Ask for an unclean election, and see which replica it chose."""
    assert elect(connection, partition, UNCLEAN) == 0
    wait_shown(connection, partition, leader=leader)


@pytest.mark.matrix
def test_eligible_leader_starts(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    leads = seen("eligible_leader_starts") == "B leads"
    wait_shown(connection, offline.stopped, leader=2 if leads else NO_LEADER)
    assert leads or seen("eligible_leader_starts") == "no leader"


@pytest.mark.matrix
def test_eligible_leader_crashes(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """Broker 3 has every record that was acknowledged."""
    crashed = offline.crashed
    wait_shown(connection, crashed, leader=NO_LEADER)
    told = read_eligible_leaders(connection, [crashed.topic]).get(crashed)
    assert told in {None, EligibleLeaders((1,), (1,))}
    assert seen("eligible_leader_crashes") == (
        "no leader" if told is None else "no leader; B is not in the ELR"
    )


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
    partition = offline.partitions["first"]
    elect_uncleanly(connection, partition, 2)
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
    elect_uncleanly(connection, partition, 3)
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


def test_consumer_beyond_the_end(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("consumer_beyond_the_end") == clients.consumer_beyond_the_end()


def test_idempotent_producer_after_a_loss(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("idempotent_producer_after_a_loss") == clients.idempotent_producer_after_a_loss()


def test_transaction_without_its_end(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("transaction_without_its_end") == clients.transaction_without_its_end()


@pytest.mark.matrix
def test_transaction_without_its_beginning(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("transaction_without_its_beginning") == clients.transaction_without_its_beginning()


def test_commit_that_is_lost(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("commit_that_is_lost") == clients.commit_that_is_lost()


def test_marker_by_hand(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("marker_by_hand") == clients.marker_by_hand()


def test_abort_that_is_lost(clients: Clients, seen: Callable[[str], str]) -> None:
    assert seen("abort_that_is_lost") == clients.abort_that_is_lost()


def test_every_replica_lost(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["lost"]
    move(connection, partition, (4, 2))
    elect_uncleanly(connection, partition, 4)
    wait_assigned(connection, {partition: (4, 2)})
    produce(connection.servers, {partition: [b"new"]})
    assert log_ends(connection, {4: [partition]}, LogEnd.WRITTEN)[4].offsets == {partition: 1}
    assert seen("every_replica_lost") == "B leads, empty; ends by itself"


def test_every_replica_lost_and_one_sent(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    partition = offline.partitions["lost_to_one"]
    move(connection, partition, (4,))
    elect_uncleanly(connection, partition, 4)
    produce(connection.servers, {partition: [b"new"]})
    assert stays(lambda: in_flight(connection, partition) is not None, 2)
    move(connection, partition, (4,))
    wait_assigned(connection, {partition: (4,)})
    assert log_ends(connection, {4: [partition]}, LogEnd.WRITTEN)[4].offsets == {partition: 1}
    assert seen("every_replica_lost_and_one_sent") == (
        "B leads, empty; in flight until [B] is sent again"
    )


@pytest.mark.matrix
def test_null_without_a_leader(
    connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """An ISR that is kept without a leader allows to go back to it."""
    partition = offline.partitions["taken_back"]

    def null_ends() -> str:
        (code,) = reassign(connection, partition, None)[1]
        ended = in_flight(connection, partition) is None
        assert ended == (code == 0)
        return "ends: [A], without a leader" if ended else f"refused ({code})"

    move(connection, partition, (4,))
    before = null_ends()
    move(connection, partition, (4,))
    elect_uncleanly(connection, partition, 4)
    assert seen("null_without_a_leader") == f"{before}; {null_ends()}"


def test_old_leader_returns(
    kraft: Sandbox, connection: KafkaConnection, offline: Offline, seen: Callable[[str], str]
) -> None:
    """The last one: broker 1 is started."""
    partition = offline.partitions["returned"]
    elect_uncleanly(connection, partition, 2)
    produce(connection.servers, {partition: [b"new"]})
    kraft.start_broker(1)
    wait_assigned(connection, {partition: (1, 2)})
    assert elect(connection, partition) == 0
    wait_shown(connection, partition, leader=1)
    found = fetch_committed(connection, partition, shown(connection, partition), ENDS[2])
    assert [each.value for each in found.entries] == [b"new"]
    assert seen("old_leader_returns") == "truncated, in sync again; what it alone had is gone"
