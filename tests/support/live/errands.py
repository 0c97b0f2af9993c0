"""Four brokers that are stopped and started, with the topics of a test alone."""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import kafka
import pytest
from support.cli.in_process import command
from support.eras.offline import wait_all
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.processes import KadminProcess
from support.live.kraft import wait_assigned
from support.live.waiting import wait_until
from support.suites.versions import KRAFT_VERSIONS, VERSIONS
from support.zookeeper.fault_proxy import FaultProxy

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.throttle import THROTTLE_KEYS
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.seed import create_topics
from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.zookeeper import reader as znodes
from kadmin.worlds.zookeeper.model import Create, SetData
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.configs import (
    CONFIG_CHANGE_PREFIX,
    change_config,
    encode_config_change,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from _pytest.mark import ParameterSet
    from support.cli.in_process import Answer

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.plan.throttle import ConfigValues
    from kadmin.sandbox.disks import Disks
    from kadmin.sandbox.links import Link
    from kadmin.worlds.zookeeper.model import Op

    Proxy = BrokerProxy | FaultProxy

OLD_VERSIONS = [each for each in VERSIONS if each.startswith(("0.", "1.", "2.0.", "2.3."))]
"""Versions whose brokers list no reassignments: these are looked at through znodes."""


def modes(versions: Iterable[str], mode: str, *marks: pytest.MarkDecorator) -> list[ParameterSet]:
    """Return versions of a mode as parameters of a fixture."""
    return [pytest.param((each, mode), id=f"{mode}-{each}", marks=marks) for each in versions]


MODES = [
    # These tests look at the cluster through its brokers: 2.4 and later.
    *modes(
        [each for each in VERSIONS if each not in OLD_VERSIONS], "zookeeper", pytest.mark.matrix
    ),
    *modes(KRAFT_VERSIONS, "kraft"),
]
"""Versions and modes; ZooKeeper mode is proved by the matrix suite."""
STOPPED = 3
"""The broker that is alone on its rack."""
_NUMBERS = itertools.count()
AnyBrokers = TypeVar("AnyBrokers", bound="Brokers")


class Brokers:
    """Brokers 1 to 4 on racks r1, r2, r3, r1, with the topics of a test alone."""

    def __init__(self, sandbox: Sandbox, connection: KafkaConnection) -> None:
        self.sandbox = sandbox
        self.connection = connection
        self.topics: list[str] = []

    def topic(
        self, replicas: Mapping[int, Replicas], *, min_isr: int = 1
    ) -> tuple[TopicPartition, ...]:
        name = f"topic-{next(_NUMBERS)}"
        create_topics(self.sandbox, {name: replicas})
        self.topics.append(name)
        # In ZooKeeper mode a broker hears of a new topic some time later.
        self.wait_assigned({TopicPartition(name, number): replicas[number] for number in replicas})
        if min_isr > 1:
            self.configure(name, MIN_INSYNC_REPLICAS, str(min_isr))
        return tuple(TopicPartition(name, number) for number in replicas)

    def wait_assigned(self, lists: Mapping[TopicPartition, Replicas]) -> None:
        """Wait until every broker shows the partitions in sync."""
        wait_assigned(self.connection, lists)

    def configure(self, topic: str, key: str, value: str) -> None:
        """Set a config of a topic."""
        entity, edit = ConfigEntity.of_topic(topic), ConfigEdit(ConfigOperation.SET, value)
        wait_until(lambda: alter_configs(self.connection, {entity: {key: edit}}) == {entity: None})
        wait_until(lambda: self.state().topic_configs.get(topic, {}).get(key) == value)

    def state(self) -> ClusterState:
        return read_cluster(self.connection, with_configs=True)

    def throttles(self) -> ConfigValues:
        """Return the throttles of the topics of the test, and of all brokers, which are alive."""
        topics = map(ConfigEntity.of_topic, self.topics)
        found = read_own_configs(self.connection, topics, keys=THROTTLE_KEYS)
        for broker in self.sandbox.broker_ports:
            own = [ConfigEntity.of_broker(broker)]
            found |= read_own_configs(self.connection, own, keys=THROTTLE_KEYS, broker_id=broker)
        return {entity: keys for entity, keys in found.items() if keys}

    def unfinished(self) -> list[dict[str, Any]]:
        """Return the operations that are not finished."""
        found: list[dict[str, Any]] = self.asked("status")[1]["operations"]
        return found

    def kadmin(self, *arguments: str) -> Answer:
        where = (
            {"KADMIN_BOOTSTRAP_SERVER": ",".join(self.sandbox.bootstrap)}
            if self.sandbox.spec.kraft
            else {"KADMIN_ZOOKEEPER": self.sandbox.connect_string}
        )
        return command(*arguments, environment=where)

    def run(
        self, *arguments: str, state: Path | None = None, through: Proxy | None = None
    ) -> KadminProcess:
        """Begin a command in a process of its own, with a `state` as on a machine of its own.

        It reaches the cluster `through` a proxy, or without one.
        """
        if self.sandbox.spec.kraft:
            ways = through.bootstrap if isinstance(through, BrokerProxy) else self.sandbox.bootstrap
            return KadminProcess(ways, *arguments, state=state)
        way = self.sandbox.connect_string
        if isinstance(through, FaultProxy):
            way = through.connect_string
        return KadminProcess((), *arguments, "-z", way, state=state)

    def proxy(self) -> Proxy:
        """Return a proxy of what kadmin writes to: the brokers, or ZooKeeper."""
        if self.sandbox.spec.kraft:
            return BrokerProxy(self.sandbox)
        return FaultProxy(parse_connect_string(self.sandbox.connect_string).servers[0])

    def asked(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and answer of a command that ends with 0 or 8."""
        found = self.kadmin(*arguments, "-o", "json")
        assert found.status in {0, 8}, found.err
        value: dict[str, Any] = json.loads(found.out)
        assert validate_value(value, f"answers/{'-'.join(arguments[:2])}") == [], found.out
        return found.status, value

    def may_be_stopped(self, *brokers: int) -> bool:
        """Whether the gate allows to stop brokers together."""
        ids = ",".join(map(str, brokers))
        return self.kadmin("broker", "check", ids, "--stop").status == 0

    @contextmanager
    def stopped(self, *brokers: int, kill: bool = False) -> Iterator[None]:
        """Run while brokers are stopped by SIGTERM, or by SIGKILL; without ids, one is."""
        brokers = brokers or (STOPPED,)
        for broker in brokers:
            self.sandbox.stop_broker(broker, kill=kill)
        try:
            wait_until(lambda: self.state().brokers.keys().isdisjoint(brokers))
            yield
        finally:
            self.start()

    def start(self) -> None:
        """Start the brokers that are stopped, and wait until every replica is in sync."""
        for broker in self.sandbox.broker_ports:
            self.sandbox.start_broker(broker)
        wait_until(self._in_sync)

    def _in_sync(self) -> bool:
        state = self.state()
        return state.brokers.keys() == self.sandbox.broker_ports.keys() and all(
            set(found.isr) == set(state.replicas(partition) or ())
            for partition, found in state.states.items()
        )


class OldBrokers(Brokers):
    """Brokers that list no reassignments: the cluster is read from its znodes."""

    def __init__(self, sandbox: Sandbox, connection: KafkaConnection, store: Store) -> None:
        super().__init__(sandbox, connection)
        self._store = store

    def wait_assigned(self, lists: Mapping[TopicPartition, Replicas]) -> None:
        wait_all(self.connection, lists, lambda each: set(each.isr) == set(each.replicas))

    def configure(self, topic: str, key: str, value: str | None) -> None:
        """Set a config of a topic, or delete it."""
        path, entity = f"/config/topics/{topic}", ConfigEntity.of_topic(topic)
        node = self._store.get(path)
        ops: list[Op] = [
            Create(path, change_config(None, {key: value}))
            if node is None
            else SetData(path, change_config(node, {key: value}), node.version),
            Create(CONFIG_CHANGE_PREFIX, encode_config_change(entity), sequential=True),
        ]
        assert self._store.multi(ops).committed

    def state(self) -> ClusterState:
        return znodes.read_cluster(self._store, with_configs=True)


@contextmanager
def cluster_of(
    mode: tuple[str, str],
    folders: pytest.TempPathFactory,
    brokers: int = 4,
    link: Link | None = None,
    disks: Disks | None = None,
) -> Iterator[Sandbox]:
    """Run a cluster of one of MODES; brokers 1 to 4 are on racks r1, r2, r3, r1."""
    version, world = mode
    folder = folders.mktemp("errands") / "sandbox"
    spec = SandboxSpec(folder, version=version, mode=world, brokers=brokers, link=link, disks=disks)
    found = Sandbox.up(spec)
    try:
        yield found
    finally:
        found.down()


@contextmanager
def connected(sandbox: Sandbox) -> Iterator[Brokers]:
    """Give the brokers to a test; in the end all run, and its operation and topics are gone."""
    with ExitStack() as stack:
        connection = stack.enter_context(KafkaConnection(Servers(sandbox.bootstrap)))
        found = Brokers(sandbox, connection)
        if sandbox.spec.version in OLD_VERSIONS:
            store = stack.enter_context(Store.connect(sandbox.connect_string))
            found = OldBrokers(sandbox, connection, store)
        yield stack.enter_context(left_clean(found))


@contextmanager
def left_clean(found: AnyBrokers) -> Iterator[AnyBrokers]:
    """Start all brokers in the end, and cancel the operation and delete the topics of a test."""
    sandbox = found.sandbox
    try:
        yield found
    finally:
        for broker in sandbox.broker_ports:
            sandbox.start_broker(broker)
        found.kadmin("cancel", "--yes")
    with (
        closing(kafka.KafkaAdminClient(bootstrap_servers=sandbox.bootstrap)) as admin,
        # What a request deleted whose answer came too late for the client.
        suppress(kafka.errors.UnknownTopicOrPartitionError),
    ):
        admin.delete_topics(found.topics)
