"""Live clusters whose brokers have several disks, as the claims on disks look at them."""

from __future__ import annotations

import itertools
import shutil
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import kafka
from support.cli.in_process import command
from support.eras.claims import DISK_CLAIMS, claim
from support.eras.kraft import held
from support.live.kraft import THROTTLED_RATES, set_configs, slow_brokers, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.disks import DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.disks import Disks, why_not
from kadmin.sandbox.jars import runs_kraft
from kadmin.sandbox.seed import create_topics
from kadmin.sandbox.spec import KRAFT, ZOOKEEPER
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.log_dirs import alter_log_dirs, ask_log_dirs
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments, list_reassignments
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.admin import DELETE_TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest
    from support.cli.in_process import Answer

    from kadmin.cluster.disks import DiskReplica
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata
    from kadmin.worlds.kafka.wire.refusals import Refusal

BROKERS = (1, 2, 3)
DISKS = 3
SIZE_BYTES = 96_000_000
REPLICA_FOLDERS = "*-[0-9]*"
RATE_INSIDE = "replica.alter.log.dirs.io.max.bytes.per.second"
OLD_COPY_MS = 10_000
"""How long a broker keeps the files of a copy that it needs no more."""
RECORDS = [b"x" * 900_000] * 6
"""More than a broker copies to another directory before it is held back."""
SLOW = 50_000
"""Bytes per second at which a first record is copied to another broker, and the last one is not
within 90 s."""
UNKNOWN_TOPIC = 3
"""The code of a directory that is asked for before its topic is there."""
BYTES = sum(map(len, RECORDS))
_numbers = itertools.count()


class DiskCluster:
    """Brokers 1 to 3 with three disks each; the topics of a test are deleted after it.

    A replica that moves to another disk is copied at one byte per second, but for a first part.
    """

    def __init__(self, sandbox: Sandbox, connection: KafkaConnection) -> None:
        self.sandbox = sandbox
        self.connection = connection
        self.topics: list[str] = []

    def seen(self, name: str) -> str:
        """What the table says for the version under test."""
        return claim(name, DISK_CLAIMS).seen[self.sandbox.spec.version]

    def kadmin(self, *arguments: str | Path) -> Answer:
        """Run kadmin against this cluster, in ZooKeeper mode through ZooKeeper."""
        where = (
            {"KADMIN_BOOTSTRAP_SERVER": ",".join(self.sandbox.bootstrap)}
            if self.sandbox.spec.kraft
            else {"KADMIN_ZOOKEEPER": self.sandbox.connect_string}
        )
        return command(*arguments, environment=where)

    def disks(self, broker: int) -> list[str]:
        return [str(each) for each in self.sandbox.log_dirs(broker)]

    def partition(
        self, *replicas: int, at: Mapping[int, str] | None = None, filled: bool = False
    ) -> TopicPartition:
        """Make a topic of one partition, on a disk of a broker where one is named."""
        partition = TopicPartition(f"disks-{next(_numbers)}", 0)
        for broker, disk in (at or {}).items():
            assert self.ask(broker, disk, partition) == UNKNOWN_TOPIC
        self.make(partition, replicas)
        if filled:
            produce(self.connection.servers, {partition: RECORDS})
        return partition

    def make(self, partition: TopicPartition, replicas: Replicas) -> None:
        self.topics.append(partition.topic)
        create_topics(self.sandbox, {partition.topic: {0: replicas}})
        wait_assigned(self.connection, {partition: replicas})

    def ask(self, broker: int, disk: str, partition: TopicPartition) -> int:
        """Ask for the directory of a replica; return the code of the answer, 0 for none."""
        return code_of(alter_log_dirs(self.connection, broker, {disk: [partition]})[partition])

    def log_dirs(self, broker: int) -> LogDirs:
        return ask_log_dirs(self.connection, [broker])()

    def failed(self, broker: int) -> list[str]:
        """The directories that a broker describes as failed."""
        found = self.log_dirs(broker).disks[broker]
        return [each.path for each in found if each.state is DiskState.FAILED]

    def copies(self, broker: int, partition: TopicPartition) -> dict[str, DiskReplica]:
        """The copies of a replica by their directories, as its broker describes them."""
        found = self.log_dirs(broker).replicas.get(broker, ())
        return {each.path: each for each in found if each.partition == partition}

    def disk_of(self, broker: int, partition: TopicPartition) -> str:
        """The directory of a replica, which may be on its way to another one."""
        found: list[str] = []

        def listed() -> bool:
            copies = self.copies(broker, partition)
            found[:] = [disk for disk, each in copies.items() if not each.is_future]
            return bool(found)

        wait_until(listed)
        (disk,) = found
        return disk

    def others(self, broker: int, partition: TopicPartition) -> list[str]:
        """The directories of a broker in which a replica is not."""
        present = self.disk_of(broker, partition)
        return [each for each in self.disks(broker) if each != present]

    def counts(self, broker: int) -> dict[str, int]:
        """The number of replicas in each directory that has not failed."""
        found = self.log_dirs(broker)
        failed = set(self.failed(broker))
        counts = {each.path: 0 for each in found.disks[broker] if each.path not in failed}
        for each in found.replicas[broker]:
            counts[each.path] += 1
        return counts

    def wait_moved(self, broker: int, partition: TopicPartition, disk: str) -> None:
        """Wait until a replica is in a directory alone."""

        def moved() -> bool:
            copies = self.copies(broker, partition)
            return copies.keys() == {disk} and not copies[disk].is_future

        wait_until(moved)

    def begin_inside(self, broker: int, partition: TopicPartition, disk: str) -> None:
        """Begin a move to another disk, and wait until a first part of it is copied."""
        assert self.ask(broker, disk, partition) == 0
        wait_until(lambda: self.is_copying(broker, partition, disk))

    def is_copying(self, broker: int, partition: TopicPartition, disk: str) -> bool:
        """Whether a part of a replica is copied to another disk, and not all of it."""
        copy = self.copies(broker, partition).get(disk)
        return copy is not None and copy.is_future and bool(copy.size_bytes) and copy.offset_lag > 0

    @contextmanager
    def slow_reassignment(self, partition: TopicPartition, broker: int) -> Iterator[None]:
        """Run when a part of a partition is copied to another broker, and not all of it.

        Brokers apply changes in their order, and show rates alone as they have applied them.
        """
        with held(self.connection, partition.topic), slow_brokers(self.connection, SLOW):
            for each in BROKERS:
                self._wait_applied(each, *THROTTLED_RATES)
            self.move(partition, (broker,))
            wait_until(lambda: self.size(broker, partition) > 0)
            yield

    def size(self, broker: int, partition: TopicPartition) -> int:
        """The bytes of a replica, 0 where its broker has none."""
        return self.log_dirs(broker).sizes[broker].get(partition, 0)

    def reassign(self, partition: TopicPartition, *target: int) -> None:
        """Move a partition, and wait until it is there."""
        self.move(partition, target)
        wait_assigned(self.connection, {partition: target})

    def restart(self, broker: int, *, kill: bool = False) -> None:
        self.sandbox.stop_broker(broker, kill=kill)
        self.sandbox.start_broker(broker)

    @contextmanager
    def without_last_disk(self, broker: int) -> Iterator[Path]:
        """Run while the last disk of a broker, with its replicas, is not in `log.dirs`.

        In the end it is there again, without a replica: the broker would not start with one.
        """
        spec = self.sandbox.spec
        fewer = replace(self.sandbox, spec=replace(spec, disks=Disks(DISKS - 1)))
        *_, disk = self.sandbox.log_dirs(broker)
        self.sandbox.stop_broker(broker)
        try:
            fewer.start_broker(broker)
            yield disk
        finally:
            self.sandbox.stop_broker(broker)
            for replica in disk.glob(REPLICA_FOLDERS):
                shutil.rmtree(replica)
            self.sandbox.start_broker(broker)

    @contextmanager
    def fast(self, broker: int) -> Iterator[None]:
        """Do not hold moves inside a broker back."""
        own = ConfigEntity.of_broker(broker)
        set_configs(self.connection, own, [RATE_INSIDE], None, broker)
        try:
            yield
        finally:
            self.slow(broker)

    def slow(self, broker: int) -> None:
        own = ConfigEntity.of_broker(broker)
        set_configs(self.connection, own, [RATE_INSIDE], "1", broker)
        self._wait_applied(broker, RATE_INSIDE)

    def _wait_applied(self, broker: int, *rates: str) -> None:
        own = ConfigEntity.of_broker(broker)
        wait_until(
            lambda: (
                read_own_configs(self.connection, [own], broker_id=broker)[own].keys() >= {*rates}
            )
        )

    def move(self, partition: TopicPartition, target: Replicas | None) -> None:
        """Send a target, or null, for a partition; the controller takes it in ZooKeeper mode."""
        controller = (
            None if self.sandbox.spec.kraft else read_metadata(self.connection, ()).controller_id
        )
        assert alter_reassignments(self.connection, {partition: target}, controller) == {
            partition: None
        }

    def in_flight(self, partition: TopicPartition) -> bool:
        return partition in list_reassignments(self.connection)

    def shown(self, partition: TopicPartition) -> PartitionMetadata:
        return read_metadata(self.connection, [partition.topic]).partitions[partition]

    def is_there(self, partition: TopicPartition) -> bool:
        return partition in read_metadata(self.connection, [partition.topic]).partitions

    def ask_for_deletion(self) -> list[str]:
        """Ask for the deletion of the topics of the test, and return their names."""
        asked = self.topics[:]
        if asked:
            with closing(kafka.KafkaAdminClient(bootstrap_servers=self.sandbox.bootstrap)) as admin:
                admin.delete_topics(asked)
        self.topics.clear()
        return asked

    def delete_topics(self) -> None:
        """Delete the topics of the test, and wait until no broker shows one."""
        asked = self.ask_for_deletion()
        wait_until(lambda: not read_metadata(self.connection, asked).topics)
        if not self.sandbox.spec.kraft:
            with Store.connect(self.sandbox.connect_string) as store:
                wait_until(lambda: not store.children(DELETE_TOPICS))


def code_of(refusal: Refusal | None) -> int:
    return 0 if refusal is None else refusal.code


@contextmanager
def running_disks(version: str, folders: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Run such a cluster of a version; disks have a size where this machine can give them one."""
    spec = SandboxSpec(
        folders.mktemp("disks") / "sandbox",
        version=version,
        mode=KRAFT if runs_kraft(version) else ZOOKEEPER,
        brokers=len(BROKERS),
        broker_config={"log.segment.delete.delay.ms": str(OLD_COPY_MS)},
        disks=Disks(DISKS, SIZE_BYTES if why_not() is None else None),
    )
    sandbox = Sandbox.up(spec)
    try:
        with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
            for broker in BROKERS:
                DiskCluster(sandbox, connection).slow(broker)
        yield sandbox
    finally:
        sandbox.down()
