from __future__ import annotations

import itertools
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.live.records import consume_all
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError, StalePlanError, UnreachableError
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.disks import Disks
from kadmin.worlds.kafka.wire import connection, records
from kadmin.worlds.kafka.wire.configs import describe_settings
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.groups import describe_groups
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.reader import read_cluster
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.configs import config_path, encode_config
from kadmin.worlds.zookeeper.znodes.topics import encode_topic, topic_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kadmin.cluster.model import Replicas

_numbers = itertools.count()


def make_topic(sandbox: Sandbox, replicas: Mapping[int, Replicas]) -> str:
    """Create a topic as old tools do and wait for its leaders."""
    name = f"requests-{next(_numbers)}"
    with Store.connect(sandbox.connect_string) as store:
        made = [
            Create(config_path(ConfigEntity.of_topic(name)), encode_config({})),
            Create(topic_path(name), encode_topic(replicas)),
        ]
        assert store.multi(made).committed
        wait_until(lambda: len(read_cluster(store, [name]).states) == len(replicas))
    return name


@pytest.mark.live
def test_what_is_produced_is_consumed_in_order(live: Sandbox) -> None:
    topic = make_topic(live, {0: (1, 2), 1: (2, 3), 2: (3,)})
    written = {
        TopicPartition(topic, 0): [f"value {number}".encode() for number in range(2_000)],
        TopicPartition(topic, 1): [b"x" * 100_000] * 30,
    }
    produce(Servers(live.bootstrap), written)
    empty = {TopicPartition(topic, 2): list[bytes]()}
    assert consume_all(live.bootstrap, [*written, *empty]) == {**written, **empty}


@pytest.mark.live
@pytest.mark.on("1.1.1", "2.3.1", "2.4.1", "2.8.2", "3.9.2")
def test_sizes_on_disk_by_broker(live: Sandbox) -> None:
    topic = make_topic(live, {0: (1, 2), 1: (3,)})
    produce(Servers(live.bootstrap), {TopicPartition(topic, 0): [b"x" * 10_000] * 10})
    told = describe_log_dirs(Servers(live.bootstrap), [1, 2, 3, 4, 99])
    sizes = told.sizes
    assert {broker: str(error) for broker, error in told.failed.items()} == {
        99: "Broker 99 did not describe its log directories."
    }, "who does not answer hides no other"
    assert list(sizes) == [1, 2, 3, 4]
    held = {
        broker: {each: size for each, size in found.items() if each.topic == topic}
        for broker, found in sizes.items()
    }
    assert held[1] == held[2]
    assert 100_000 < held[1][TopicPartition(topic, 0)] < 120_000
    assert held[3] == {TopicPartition(topic, 1): 0}
    assert held[4] == {}


@pytest.mark.live
@pytest.mark.eras
def test_a_broker_with_two_log_directories(tmp_path: Path) -> None:
    """The room of their file system counts once, and a new replica goes where the fewest are."""
    spec = SandboxSpec(tmp_path / "sandbox", version="3.9.2", brokers=1, disks=Disks(2))
    sandbox = Sandbox.up(spec)
    try:
        topics = [make_topic(sandbox, dict.fromkeys(range(count), (1,))) for count in (3, 4, 1)]
        (usable,) = describe_log_dirs(Servers(sandbox.bootstrap), [1]).usable.values()
        assert usable == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.02)
        folders = sandbox.log_dirs(1)

        def held() -> list[int]:
            return [
                sum(each.name.rpartition("-")[0] in topics for each in folder.iterdir())
                for folder in folders
            ]

        wait_until(lambda: sum(held()) == 8)
        assert held() == [4, 4]
    finally:
        sandbox.down()


@pytest.mark.live
def test_partitions_that_do_not_exist(live: Sandbox) -> None:
    topic = make_topic(live, {0: (1,)})
    absent = TopicPartition(topic, 7)
    with pytest.raises(StalePlanError, match=f"{topic}-7"):
        produce(Servers(live.bootstrap), {absent: [b"x"]})


@pytest.mark.live
def test_a_record_that_brokers_refuse(live: Sandbox) -> None:
    topic = make_topic(live, {0: (1,)})
    with pytest.raises(NotCompletedError, match="did not write records") as caught:
        produce(Servers(live.bootstrap), {TopicPartition(topic, 0): [b"x" * 2_000_000]})
    assert "large" in (caught.value.cause or "")


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker of the oldest version that kadmin knows."""
    sandbox = Sandbox.up(
        SandboxSpec(tmp_path_factory.mktemp("oldest") / "sandbox", version="0.10.2.2", brokers=1)
    )
    yield sandbox
    sandbox.down()


@pytest.mark.eras
@pytest.mark.live
def test_the_oldest_brokers_take_records_but_give_no_sizes(oldest: Sandbox) -> None:
    topic = make_topic(oldest, {0: (1,)})
    written = {TopicPartition(topic, 0): [b"a", b"b"]}
    produce(Servers(oldest.bootstrap), written)
    assert consume_all(oldest.bootstrap, written) == written
    with pytest.raises(NotCompletedError, match="too old to describe log directories") as caught:
        describe_log_dirs(Servers(oldest.bootstrap), [1])
    assert "--sizes" in (caught.value.next_command or "")
    assert describe_groups(Servers(oldest.bootstrap), [1]).unseen == ()
    failed = describe_settings(Servers(oldest.bootstrap), [1], ["delete.topic.enable"]).failed
    assert "too old to describe settings" in failed[1].message


def test_no_broker_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call ends at its deadline and names the addresses that it asked."""
    monkeypatch.setattr(connection, "BOOTSTRAP_S", 0.5)
    monkeypatch.setattr(records, "BOOTSTRAP_S", 0.5)
    servers = ["127.0.0.1:1", "127.0.0.1:2"]
    for call in (
        lambda: produce(Servers(servers), {TopicPartition("a", 0): [b"x"]}),
        lambda: KafkaConnection(Servers(servers)).close(),
        lambda: describe_log_dirs(Servers(servers), [1, 2]),
        lambda: describe_groups(Servers(servers), [1]),
        lambda: describe_settings(Servers(servers), [1], ["delete.topic.enable"]),
    ):
        started = time.monotonic()
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1,127\.0\.0\.1:2"):
            call()
        assert time.monotonic() - started < 30.0


@pytest.mark.live
def test_a_broker_given_as_zookeeper_is_recognised(live: Sandbox) -> None:
    """Within 5 s: a later answer would be that the command was not finished within its
    --timeout.
    """
    address = live.bootstrap[0]
    answer = command("status", "-z", f"{address}/kafka", "--timeout", "5")
    assert (answer.status, answer.err) == (
        6,
        (
            f"error: No ZooKeeper server listens at {address}.\n  cause: {address} is a Kafka "
            "broker\n"
            "  next:  give -z the brokers' zookeeper.connect\n"
        ),
    )
