"""Claims of KRAFT_CLAIMS where a broker is away, and after it came back, on brokers of every
version under test.

Broker 4 is stopped once for all of them, and started with a second log directory: their order is
that of its life.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import kafka
import pytest
from kafka.errors import NotEnoughReplicasError
from kafka.protocol.admin import DescribeLogDirsRequest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.kraft import (
    DELETE,
    SET,
    UNCLEAN,
    change_config,
    creation,
    delete,
    elect,
    filled_topic,
    held,
    in_flight,
    move,
    reassign,
    slow_copies,
    take_back,
    wait_shown,
)
from support.live.kraft import THROTTLED_RATES, KraftCluster, make_topic, wait_assigned
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.configs import ConfigEdit, read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.eligible_leaders import EligibleLeaders, read_eligible_leaders
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.registrations import unregister_broker
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

BROKER_4 = ConfigEntity.of_broker(4)
pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]

CORDONED = "cordoned.log.dirs"
RATE = THROTTLED_RATES[0]


@dataclass(frozen=True, slots=True)
class Without4:
    """Broker 4 is fenced; the topics were made before.

    They are `[4, 1]` with a minimum ISR of 2, `[1, 4]`, `[1, 4, 2]`, and `[4]` twice.
    """

    strict: TopicPartition
    doomed: TopicPartition
    wide: TopicPartition
    leaderless: TopicPartition
    lost: TopicPartition


@pytest.fixture(scope="module")
def without_4(kraft: Sandbox) -> Iterator[Without4]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        strict = make_topic(connection, {0: (4, 1)}, {"min.insync.replicas": "2"})
        others = [make_topic(connection, {0: each}) for each in ((1, 4), (1, 4, 2), (4,), (4,))]
    kraft.stop_broker(4)
    yield Without4(*(TopicPartition(each, 0) for each in (strict, *others)))
    kraft.start_broker(4)
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        for each in read_metadata(connection, [strict, *others]).topics:
            delete(connection, each)


@pytest.mark.usefixtures("without_4")
def test_fetch_of_a_dead_broker(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    """The first one: a controller forgets brokers that are dead for minutes."""

    def fetched() -> str:
        controller = describe_quorum(connection).controller
        assert controller is not None
        observers = {each.server_id: each.fetched_s_ago for each in controller.observers}
        return "not listed" if observers.get(4) is None else "seconds ago"

    told, active = fetched(), describe_quorum(connection).leader_id
    kraft.stop_controller(active)
    cluster = KraftCluster(kraft, connection)
    wait_until(lambda: cluster.active_controller() not in {None, active})
    assert seen("fetch_of_a_dead_broker") == f"{told}; {fetched()}"
    kraft.start_controller(active)


@pytest.mark.usefixtures("without_4")
def test_fenced_target(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    move(connection, partition, (1, 4))
    assert stays(lambda: in_flight(connection, partition) is not None, 1)
    assert seen("fenced_target") == "accepted, in flight"
    take_back(connection, partition, (1, 2))
    wait_assigned(connection, {partition: (1, 2)})


@pytest.mark.usefixtures("without_4")
def test_fenced_broker(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    listed = read_metadata(connection, ()).brokers
    assert 4 not in listed or not listed[4].alive
    assert ("listed as fenced" if 4 in listed else "not listed") == seen("fenced_broker")


def topic_without_4(connection: KafkaConnection, replicas: Replicas) -> TopicPartition:
    """A partition that has broker 4 among its replicas, and not in its ISR."""
    partition = TopicPartition(f"without-4-{'-'.join(map(str, replicas))}", 0)
    create_topic(connection, partition.topic, {0: replicas})
    wait_until(lambda: partition in read_metadata(connection, [partition.topic]).partitions)
    return partition


@pytest.mark.usefixtures("without_4")
def test_kept_broker_is_dead(connection: KafkaConnection, seen: Callable[[str], str]) -> None:
    partition = topic_without_4(connection, (1, 4))
    ends = seen("kept_broker_is_dead") == "ends with ISR [C]"
    move(connection, partition, (3, 4))
    assert (
        stays(lambda: in_flight(connection, partition) is not None, 5, foreseen=not ends)
        is not ends
    )
    if ends:
        wait_shown(connection, partition, replicas=(3, 4), isr=(3,))
    else:
        take_back(connection, partition, (1, 4))


@pytest.mark.usefixtures("without_4")
def test_election_without_the_preferred(
    connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    partition = topic_without_4(connection, (4, 3))
    assert f"refused ({elect(connection, partition)}), leader kept" == seen(
        "election_without_the_preferred"
    )
    wait_shown(connection, partition, leader=3)


def test_eligible_leaders(
    connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    def told() -> EligibleLeaders | None:
        return read_eligible_leaders(connection, [without_4.strict.topic]).get(without_4.strict)

    known = seen("eligible_leaders") != "not known"
    if known:
        wait_until(lambda: told() == EligibleLeaders((4,), ()))
    assert (told() is not None) == known


def test_removal_without_a_kept_broker(
    connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    move(connection, without_4.wide, (1, 4))
    assert stays(lambda: in_flight(connection, without_4.wide) is not None, 2)
    assert seen("removal_without_a_kept_broker") == "in flight until it is back"
    take_back(connection, without_4.wide, (1, 4, 2))


def test_no_replica_alive(
    connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    wait_shown(connection, without_4.lost, leader=NO_LEADER)
    codes = elect(connection, without_4.lost), elect(connection, without_4.lost, UNCLEAN)
    assert seen("no_replica_alive") == "preferred: refused ({}); unclean: refused ({})".format(
        *codes
    )


def test_leaderless(
    connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    """A replica that was never in the ISR is added without a leader to copy from."""
    partition, known = without_4.leaderless, seen("eligible_leaders") != "not known"

    def told() -> EligibleLeaders | None:
        return read_eligible_leaders(connection, [partition.topic]).get(partition)

    wait_shown(connection, partition, leader=NO_LEADER, isr=() if known else (4,))
    if known:
        wait_until(lambda: told() == EligibleLeaders((4,), (4,)))
    move(connection, partition, (4, 3))
    codes = elect(connection, partition), elect(connection, partition, UNCLEAN)
    wait_shown(connection, partition, leader=3, isr=(3,))
    assert told() is None
    kept = "ISR empty, ELR [A], emptied by the election" if known else "ISR [A]"
    assert seen("leaderless") == "preferred: refused ({}); unclean: {}, [B] leads; {}".format(
        *codes, kept
    )
    delete(connection, partition.topic)


@pytest.mark.usefixtures("without_4")
def test_rate_of_a_dead_broker(
    kraft: Sandbox, connection: KafkaConnection, seen: Callable[[str], str]
) -> None:
    """It is read back when the broker is there again."""
    active = describe_quorum(connection).leader_id
    connection.add_node(active, "127.0.0.1", kraft.controller_ports[active])
    refused = change_config(connection, BROKER_4, RATE, ConfigEdit(SET, "4000"), 1)
    assert refused is not None
    assert change_config(connection, BROKER_4, RATE, ConfigEdit(SET, "4000"), active) is None
    assert f"active controller: 0; a broker: {refused.code}" == seen("rate_of_a_dead_broker")


def test_below_min_isr(
    connection: KafkaConnection, without_4: Without4, seen: Callable[[str], str]
) -> None:
    wait_shown(connection, without_4.strict, isr=(1,))
    producer = kafka.KafkaProducer(
        bootstrap_servers=list(connection.servers.addresses), acks="all", retries=0
    )
    with closing(producer) as strict, pytest.raises(NotEnoughReplicasError) as refused:
        strict.send(without_4.strict.topic, b"x", partition=0).get(PATIENCE_S)
    assert f"refused ({refused.value.errno})" == seen("below_min_isr")


@dataclass(frozen=True, slots=True)
class Back:
    """Broker 4 is there again, with two log directories."""

    directories: tuple[Path, Path]

    def cordon(self, connection: KafkaConnection, value: str) -> None:
        assert change_config(connection, BROKER_4, CORDONED, ConfigEdit(SET, value), 4) is None


@pytest.fixture(scope="module")
def back(kraft: Sandbox, without_4: Without4) -> Iterator[Back]:
    with KafkaConnection(Servers(kraft.bootstrap)) as connection:
        delete(connection, without_4.doomed.topic)
    folder = kraft.spec.directory / "broker-4"
    both = folder / "data", folder / "data-2"
    both[1].mkdir()
    meta = (both[0] / "meta.properties").read_text().splitlines()
    (both[1] / "meta.properties").write_text(
        "\n".join(each for each in meta if not each.startswith("directory.id"))
    )
    config = {**kraft.spec.broker_config, "log.dirs": ",".join(map(str, both))}
    replace(kraft, spec=replace(kraft.spec, broker_config=config)).start_broker(4)
    yield Back(both)
    if both[1].name in (folder / "server.properties").read_text():
        kraft.stop_broker(4)


@pytest.fixture
def cordons(connection: KafkaConnection, back: Back) -> Iterator[Back]:
    """Log directories may be cordoned; none is afterwards."""
    yield back
    assert change_config(connection, BROKER_4, CORDONED, ConfigEdit(DELETE), 4) is None


def test_deletion_without_a_broker(
    back: Back, without_4: Without4, seen: Callable[[str], str]
) -> None:
    topic, data = without_4.doomed.topic, back.directories[0]
    wait_until(lambda: any(each.name.startswith(f"{topic}-0.") for each in data.glob("*-stray")))
    assert seen("deletion_without_a_broker") == "deleted at once; its folder there ends in `-stray`"


@pytest.mark.usefixtures("back")
def test_rate_of_a_broker_that_is_back(connection: KafkaConnection) -> None:
    """The other half of `rate_of_a_dead_broker`."""
    wait_until(
        lambda: read_own_configs(connection, [BROKER_4], broker_id=4)[BROKER_4] == {RATE: "4000"},
        PATIENCE_S,
    )
    assert change_config(connection, BROKER_4, RATE, ConfigEdit(DELETE), 4) is None


def cordoned(connection: KafkaConnection) -> list[bool]:
    """What DescribeLogDirs says of broker 4: nothing before version 5."""
    answer = connection.ask(
        "describe log directories", DescribeLogDirsRequest(topics=None), broker_id=4
    )
    return [each.is_cordoned for each in answer.results]


def test_one_cordoned_log_directory(
    connection: KafkaConnection, cordons: Back, seen: Callable[[str], str]
) -> None:
    """Versions that do not know the setting take it as any other."""
    first, second = cordons.directories
    cordons.cordon(connection, str(first))
    partitions = dict.fromkeys(range(4), (4,))
    if seen("one_cordoned_log_directory") == "not known":
        assert cordoned(connection) == [False, False]
        return
    wait_until(lambda: sorted(cordoned(connection)) == [False, True])
    topic = make_topic(connection, partitions)
    assert {each.parent for each in first.parent.glob(f"*/{topic}-*")} == {second}
    assert (
        seen("one_cordoned_log_directory")
        == "accepted, copied to the other one; told by DescribeLogDirs"
    )
    delete(connection, topic)


def test_cordoned_log_directories(
    connection: KafkaConnection, cordons: Back, seen: Callable[[str], str]
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    cordons.cordon(connection, "*")
    told = seen("cordoned_log_directories") != "not known"
    refused = "refused" in seen("cordoned_log_directories")
    if told:
        wait_until(lambda: cordoned(connection) == [True, True])
        assert describe_log_dirs(connection.servers, [4]).usable == {4: 0}
    # The broker tells the controllers with a heartbeat: until then the controllers accept what
    # names it.
    if refused:
        wait_until(lambda: reassign(connection, partition, (1, 4))[1] == [39])
    else:
        assert stays(lambda: reassign(connection, partition, (1, 4))[1] == [0])
    (code,), (message,) = reassign(connection, partition, (1, 4))[1:]
    created = creation(connection, f"{partition.topic}-cordoned", {0: (4,)})
    said = f"told; {'refused' if code else 'accepted'} ({code}), a creation too ({created})"
    assert seen("cordoned_log_directories") == (said if told else "not known")
    if refused:
        assert "cordoned" in (message or "")
    else:
        assert (code, created) == (0, 0)
        wait_until(lambda: read_metadata(connection, [f"{partition.topic}-cordoned"]).topics != {})
        delete(connection, f"{partition.topic}-cordoned")


def test_lists_with_a_cordoned_broker(
    connection: KafkaConnection, cordons: Back, seen: Callable[[str], str]
) -> None:
    """The move away is held back, so that it is in flight for what follows."""
    partition, probe = filled_topic(connection, (4, 1)), filled_topic(connection, (1, 2))
    cordons.cordon(connection, "*")
    if seen("lists_with_a_cordoned_broker") == "not known":
        return
    wait_until(lambda: cordoned(connection) == [True, True])
    if "order 39" in seen("lists_with_a_cordoned_broker"):
        wait_until(lambda: reassign(connection, probe, (1, 4))[1] == [39])
    with slow_copies(connection), held(connection, partition.topic):
        codes = [
            reassign(connection, partition, target)[1][0]
            for target in ((1, 4), (2, 3), (4, 1), None)
        ]
    wait_until(lambda: in_flight(connection, partition) is None)
    assert seen("lists_with_a_cordoned_broker") == (
        "another order {}; a list without it {}; then its original list {}, null {}".format(*codes)
    )
    delete(connection, partition.topic)
    delete(connection, probe.topic)


def test_placement_beside_a_cordoned_broker(
    connection: KafkaConnection, cordons: Back, seen: Callable[[str], str]
) -> None:
    """A broker reports its cordon with a heartbeat: earlier topics may be placed on it."""
    numbers = count()

    def brokers_of_a_new_topic() -> set[int]:
        name = f"placed-{next(numbers)}"
        assert creation(connection, name, {}, partitions=8) == 0
        wait_until(lambda: len(read_metadata(connection, [name]).partitions) == 8)
        found = read_metadata(connection, [name]).partitions.values()
        delete(connection, name)
        return {broker for each in found for broker in each.replicas}

    cordons.cordon(connection, "*")
    if seen("placement_beside_a_cordoned_broker") == "on every broker":
        wait_until(lambda: 4 in brokers_of_a_new_topic())
    else:
        wait_until(lambda: 4 not in brokers_of_a_new_topic())
        assert seen("placement_beside_a_cordoned_broker") == "on the others"


def test_unregistered_while_alive(
    kraft: Sandbox, connection: KafkaConnection, back: Back, seen: Callable[[str], str]
) -> None:
    """The last but one: the broker is restarted, as it was."""
    assert back.directories
    assert unregister_broker(connection, 4) is None
    wait_until(lambda: 4 not in read_metadata(connection, ()).brokers)
    assert stays(lambda: 4 not in read_metadata(connection, ()).brokers)
    kraft.stop_broker(4, kill=True)
    kraft.start_broker(4)
    wait_until(lambda: 4 in read_metadata(connection, ()).brokers)
    assert (
        seen("unregistered_while_alive") == "accepted; it leaves the cluster until it is restarted"
    )


def test_unregistered_while_dead(
    kraft: Sandbox, connection: KafkaConnection, back: Back, seen: Callable[[str], str]
) -> None:
    """The last one: a broker in a list, which keeps its id; it registers when it starts."""
    assert back.directories
    partition = TopicPartition(make_topic(connection, {0: (1, 4)}), 0)
    kraft.stop_broker(4)
    first, again = (unregister_broker(connection, 4) for _ in range(2))
    assert first is None
    assert again is not None
    wait_until(lambda: 4 not in read_metadata(connection, ()).brokers)
    kept = read_metadata(connection, [partition.topic]).partitions[partition].replicas
    named = reassign(connection, partition, (4, 1))[1][0]
    kraft.start_broker(4)
    wait_shown(connection, partition, isr=(1, 4))
    assert seen("unregistered_while_dead") == (
        f"accepted; again: {again.code}; lists keep it ({list(kept)}), and one with it is "
        f"refused ({named}); back when it starts"
    )
    delete(connection, partition.topic)
