"""Drives a live cluster in KRaft mode: topics, kadmin's commands, and waiting for what its brokers
show.
"""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.documents import parse_document
from kadmin.errors import NotCompletedError, UnknownOutcomeError, UnreachableError
from kadmin.operations.context import Clock
from kadmin.operations.events import StepPublished
from kadmin.operations.execute.apply import apply
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ReassignmentPlan
from kadmin.sandbox.seed import create_when_alive
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.elections import elect_leaders
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from support.cli.in_process import Answer

    from kadmin.cluster.model import Replicas
    from kadmin.operations.events import Event
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

WAIT_S = 120
THROTTLED_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
THROTTLED_REPLICAS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
_numbers = itertools.count()


@contextmanager
def servers_frozen(kraft: Sandbox, server_ids: Iterable[int]) -> Iterator[None]:
    """Run with some brokers or controllers suspended."""
    with ExitStack() as stack:
        for server_id in server_ids:
            kraft.freeze(server_id)
            stack.callback(kraft.thaw, server_id)
        yield


@contextmanager
def unanswered(kraft: Sandbox, sender: ModuleType, change: str) -> Iterator[None]:
    """Expect that a change gets no answer: controllers are frozen until its sender, a module, has
    given it up.

    They then serve it for as long as its sender waited, counted from when they read it: a busy
    machine needs seconds.
    """
    with pytest.MonkeyPatch.context() as patch, servers_frozen(kraft, kraft.controller_ports):
        patch.setattr(sender, "CHANGE_S", 3.0)
        with pytest.raises(UnknownOutcomeError, match=change):
            yield


class KraftCluster:
    """One live cluster in KRaft mode: brokers 1 to 4 on racks r1, r2, r3, r1, controllers 101 to
    103.

    kadmin keeps its record in the topic of the cluster, or in the folder `records` where one is
    given.
    """

    def __init__(
        self, sandbox: Sandbox, connection: KafkaConnection, records: Path | None = None
    ) -> None:
        self.sandbox = sandbox
        self.connection = connection
        self._bootstrap = ",".join(sandbox.bootstrap)
        self.records = records
        self._kept = () if records is None else ("--records", str(records))

    @property
    def options(self) -> tuple[str, ...]:
        """The options that lead kadmin to this cluster and to its records."""
        return "-b", self._bootstrap, *self._kept

    def kadmin(self, *arguments: str | Path) -> Answer:
        """Run kadmin against this cluster."""
        return command(
            *arguments, *self._kept, environment={"KADMIN_BOOTSTRAP_SERVER": self._bootstrap}
        )

    def history(self, *operation_id: str) -> list[dict[str, Any]]:
        """Return the operations on record, the oldest first; a named one alone, with its events."""
        operations: list[dict[str, Any]] = json.loads(
            self.kadmin("history", *operation_id, "-o", "json").out
        )["operations"]
        return operations

    def leave_in_flight(self, file: Path, step: int) -> None:
        """Apply a plan, and stop as at --timeout once `step` is published."""
        plan, clock = parse_document(file.read_bytes(), file.name), Clock()
        assert isinstance(plan, ReassignmentPlan)

        def tell(event: Event) -> None:
            if isinstance(event, StepPublished) and event.step == step:
                clock.until = clock.now()

        context = kafka_context(self.connection, self.records, clock, tell)
        with pytest.raises(NotCompletedError, match="deadline"):
            apply(context, plan, ClusterFacts(), 0)

    def active_controller(self) -> int | None:
        """Return the id of the active controller, None while there is none."""
        return active_controller(self.connection)


def active_controller(connection: KafkaConnection) -> int | None:
    """Return the id of the active controller, None while there is none."""
    try:
        return describe_quorum(connection).leader_id
    except UnreachableError:
        return None


def alive_brokers(connection: KafkaConnection) -> list[int]:
    """Return the brokers that are alive, without those that are fenced."""
    return [each.broker_id for each in read_metadata(connection, ()).brokers.values() if each.alive]


def make_topic(
    connection: KafkaConnection,
    replicas: Mapping[int, Replicas],
    configs: Mapping[str, str] | None = None,
) -> str:
    """Create a topic with a name of its own and wait until every live broker shows it with its full
    ISRs.
    """
    name = f"topic-{next(_numbers)}"
    create_when_alive(connection, name, replicas, configs)
    wait_assigned(
        connection, {TopicPartition(name, number): brokers for number, brokers in replicas.items()}
    )
    return name


@contextmanager
def without_broker(cluster: KraftCluster, broker_id: int, topic: str) -> Iterator[None]:
    """Run without a broker, which misses 36 MB of the first partition of a topic."""
    connection = cluster.connection
    cluster.sandbox.stop_broker(broker_id)
    try:
        wait_until(lambda: broker_id not in read_cluster(connection, [topic]).brokers)
        produce(connection.servers, {TopicPartition(topic, 0): [b"x" * 900_000] * 40})
        yield
    finally:
        cluster.sandbox.start_broker(broker_id)


@contextmanager
def held_back(connection: KafkaConnection, partitions: Sequence[TopicPartition]) -> Iterator[None]:
    """Give partitions something to copy, and let brokers copy it at one byte per second."""
    with slow_brokers(connection):
        slow_down(connection, partitions)
        try:
            yield
        finally:
            for topic in sorted({each.topic for each in partitions}):
                set_configs(connection, ConfigEntity.of_topic(topic), THROTTLED_REPLICAS, None)


@contextmanager
def slow_brokers(connection: KafkaConnection, rate: int = 1) -> Iterator[None]:
    """Let live brokers copy replicas that are throttled at a rate in bytes per second."""
    brokers = alive_brokers(connection)
    try:
        for each in brokers:
            set_configs(connection, ConfigEntity.of_broker(each), THROTTLED_RATES, str(rate), each)
        yield
    finally:
        for each in brokers:
            set_configs(connection, ConfigEntity.of_broker(each), THROTTLED_RATES, None, each)


def slow_down(connection: KafkaConnection, partitions: Sequence[TopicPartition]) -> None:
    """Give partitions something to copy, and throttle all replicas of their topics."""
    produce(connection.servers, dict.fromkeys(partitions, [b"x" * 900_000] * 3))
    for topic in sorted({each.topic for each in partitions}):
        set_configs(connection, ConfigEntity.of_topic(topic), THROTTLED_REPLICAS, "*")


def set_configs(
    connection: KafkaConnection,
    entity: ConfigEntity,
    keys: Iterable[str],
    value: str | None,
    broker_id: int | None = None,
) -> None:
    """Set configs of an entity to a value, or delete them."""
    edit = ConfigEdit(ConfigOperation.DELETE if value is None else ConfigOperation.SET, value)
    assert alter_configs(connection, {entity: dict.fromkeys(keys, edit)}, broker_id=broker_id) == {
        entity: None
    }


def elect_uncleanly(connection: KafkaConnection, partition: TopicPartition) -> None:
    """Let a replica lead that is not in sync, as kafka-leader-election --election-type unclean
    does.
    """
    assert elect_leaders(connection, [partition], unclean=True) == {partition: None}


def wait_assigned(connection: KafkaConnection, targets: Mapping[TopicPartition, Replicas]) -> None:
    """Wait until no reassignment is in flight and every live broker shows the targets with their
    full ISRs.
    """
    topics = {partition.topic for partition in targets}

    def assigned() -> bool:
        if list_reassignments(connection).keys() & targets:
            return False
        copies = [
            read_metadata(connection, topics, broker_id=broker_id).partitions
            for broker_id in alive_brokers(connection)
        ]
        return all(
            partition in copy
            and copy[partition].replicas == replicas
            and set(copy[partition].isr) == set(replicas)
            for copy in copies
            for partition, replicas in targets.items()
        )

    wait_until(assigned, WAIT_S)
