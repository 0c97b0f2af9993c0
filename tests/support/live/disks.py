"""Live brokers with two disks each: where their replicas are, and plans that move them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.live.errands import MODES, Brokers, left_clean
from support.live.waiting import wait_until

from kadmin.cluster.disks import DiskState
from kadmin.cluster.servers import Servers
from kadmin.documents import parse_document
from kadmin.errors import NotCompletedError
from kadmin.operations.context import Clock
from kadmin.operations.events import StepPublished
from kadmin.operations.execute.apply import apply
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ReassignmentPlan
from kadmin.sandbox.jars import runs_disks
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.log_dirs import alter_log_dirs, ask_log_dirs
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.events import Event, EventSink
    from kadmin.sandbox import Sandbox


def _has_disks(name: str) -> bool:
    mode, _, version = name.partition("-")
    return runs_disks(version, kraft=mode == "kraft")


DISK_MODES = [each for each in MODES if _has_disks(str(each.id))]
BROKERS = (1, 2, 3)
RECORDS = [b"x" * 900_000] * 6
"""More than a broker copies to another disk at one byte per second, before it is held back."""
HELD = "1B/s"


class DiskBrokers(Brokers):
    """Brokers 1 to 3 with two disks each, with the topics of a test alone."""

    @contextmanager
    def context(self, clock: Clock, tell: EventSink) -> Iterator[Context]:
        """Open the cluster's context in this process."""
        if self.sandbox.spec.kraft:
            yield kafka_context(self.connection, None, clock, tell)
            return
        with Store.connect(self.sandbox.connect_string) as store:
            yield zookeeper_context(store, Paths(), clock, tell)

    def topic(
        self, replicas: Mapping[int, Replicas], *, min_isr: int = 1
    ) -> tuple[TopicPartition, ...]:
        """Make a topic, and wait until each replica has a directory."""
        found = super().topic(replicas, min_isr=min_isr)
        wait_until(
            lambda: all(
                self.copies(partition, broker)
                for partition in found
                for broker in replicas[partition.partition]
            )
        )
        return found

    def filled(self, replicas: Mapping[int, Replicas]) -> tuple[TopicPartition, ...]:
        """Make a topic, and write more than one fetch to each partition."""
        partitions = self.topic(replicas)
        produce(self.connection.servers, dict.fromkeys(partitions, RECORDS))
        return partitions

    def disks(self, broker: int) -> list[str]:
        """The log directories of a broker, as it names them."""
        return [each.path for each in ask_log_dirs(self.connection, [broker])().disks[broker]]

    def copies(self, partition: TopicPartition, broker: int) -> dict[str, bool]:
        """The directories of a replica, and whether the copy there is a future one."""
        found = ask_log_dirs(self.connection, [broker])().replicas.get(broker, ())
        return {each.path: each.is_future for each in found if each.partition == partition}

    def places(self, partition: TopicPartition, *brokers: int) -> dict[int, str]:
        """The directory of each replica; one that is moved is in two, and fails the test."""
        found = {}
        for broker in brokers:
            (found[broker],) = self.copies(partition, broker)
        return found

    def other(self, partition: TopicPartition, broker: int) -> str:
        """The directory of a broker in which a replica is not."""
        present = self.places(partition, broker)[broker]
        return next(each for each in self.disks(broker) if each != present)

    def fuller(self, broker: int) -> str:
        """The directory of a broker with the most partitions: Kafka would not choose it."""
        found = ask_log_dirs(self.connection, [broker])().replicas[broker]
        paths = [each.path for each in found]
        return max(self.disks(broker), key=paths.count)

    def make_fuller(self, broker: int, path: str) -> None:
        """Put one partition more than elsewhere on a disk."""
        while self.fuller(broker) != path or self._tied(broker):
            (partition,) = self.topic({0: (broker,)})
            if self.places(partition, broker)[broker] != path:
                alter_log_dirs(self.connection, broker, {path: [partition]})
                wait_until(lambda: self.copies(partition, broker) == {path: False})  # noqa: B023

    def _tied(self, broker: int) -> bool:
        found = ask_log_dirs(self.connection, [broker])().replicas[broker]
        counts = [sum(each.path == path for each in found) for path in self.disks(broker)]
        return len(set(counts)) < len(counts)

    def failed(self, broker: int) -> list[str]:
        """The failed log directories of a broker."""
        found = ask_log_dirs(self.connection, [broker])().disks[broker]
        return [each.path for each in found if each.state is DiskState.FAILED]

    def operations(self) -> dict[str, dict[str, Any]]:
        """The operations on record, by id."""
        found = json.loads(self.kadmin("history", "-o", "json").out)["operations"]
        return {each["operation_id"]: each for each in found}

    def leave_in_flight(self, file: Path, step: int) -> bool:
        """Apply a plan, and stop as at --timeout once `step` is published; whether it was."""
        plan, clock = parse_document(file.read_bytes(), file.name), Clock()
        assert isinstance(plan, ReassignmentPlan)

        def tell(event: Event) -> None:
            if isinstance(event, StepPublished) and event.step >= step:
                clock.until = clock.now()

        with self.context(clock, tell) as context:
            try:
                apply(context, plan, ClusterFacts(), 0)
            except NotCompletedError as error:
                if "deadline" not in error.message:
                    raise
                return True
        return False


@contextmanager
def on_disks(sandbox: Sandbox) -> Iterator[DiskBrokers]:
    """Give the brokers to a test; in the end all run, and its operation and topics are gone."""
    with (
        KafkaConnection(Servers(sandbox.bootstrap)) as connection,
        left_clean(DiskBrokers(sandbox, connection)) as found,
    ):
        yield found


def plan_of(
    *entries: tuple[TopicPartition, Replicas, list[str]], spec: str = "throttle: none"
) -> str:
    """A plan with a directory for each replica."""
    lines = [
        f"  - {{topic: {each.topic}, partition: {each.partition}, replicas: {list(replicas)}, "
        f"log_dirs: {json.dumps(log_dirs)}}}"
        for each, replicas, log_dirs in entries
    ]
    return "\n".join(
        ["kind: PartitionReassignment", "spec:", f"  {spec}", "  partitions:", *lines, ""]
    )
