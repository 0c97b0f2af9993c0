"""Three brokers, one of which is stopped and started, with the topics of a test alone."""

from __future__ import annotations

import itertools
import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import kafka
from support.cli.in_process import command
from support.kafka.processes import KadminProcess
from support.live.waiting import wait_until
from support.suites.versions import KRAFT_VERSIONS, VERSIONS

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.sandbox.seed import create_topics
from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from support.cli.in_process import Answer

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.sandbox import Sandbox

MODES = [
    # These tests look at the cluster through its brokers: 2.4 and later.
    *(
        (each, "zookeeper")
        for each in VERSIONS
        if not each.startswith(("0.", "1.", "2.0.", "2.3."))
    ),
    *((each, "kraft") for each in KRAFT_VERSIONS),
]
STOPPED = 3
_NUMBERS = itertools.count()


class Brokers:
    """Brokers 1 to 3 on racks of their own, with the topics of these tests alone."""

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
        if min_isr > 1:
            entity = ConfigEntity.of_topic(name)
            edit = {MIN_INSYNC_REPLICAS: ConfigEdit(ConfigOperation.SET, str(min_isr))}
            # In ZooKeeper mode a broker hears of a new topic some time later.
            wait_until(lambda: alter_configs(self.connection, {entity: edit}) == {entity: None})
            wait_until(lambda: name in self.state().topic_configs)
        return tuple(TopicPartition(name, number) for number in replicas)

    def state(self) -> ClusterState:
        return read_cluster(self.connection, with_configs=True)

    def kadmin(self, *arguments: str) -> Answer:
        where = (
            {"KADMIN_BOOTSTRAP_SERVER": ",".join(self.sandbox.bootstrap)}
            if self.sandbox.spec.kraft
            else {"KADMIN_ZOOKEEPER": self.sandbox.connect_string}
        )
        return command(*arguments, environment=where)

    def run(self, *arguments: str) -> KadminProcess:
        """Begin a command in a process of its own."""
        if self.sandbox.spec.kraft:
            return KadminProcess(self.sandbox.bootstrap, *arguments)
        return KadminProcess((), *arguments, "-z", self.sandbox.connect_string)

    def asked(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and answer of a command that ends with 0 or 8."""
        found = self.kadmin(*arguments, "-o", "json")
        assert found.status in {0, 8}, found.err
        value: dict[str, Any] = json.loads(found.out)
        assert validate_value(value, f"answers/{'-'.join(arguments[:2])}") == [], found.out
        return found.status, value

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Run while a broker is stopped by SIGTERM."""
        self.sandbox.stop_broker(STOPPED)
        try:
            wait_until(lambda: STOPPED not in self.state().brokers)
            yield
        finally:
            self.sandbox.start_broker(STOPPED)
            wait_until(self._in_sync)

    def _in_sync(self) -> bool:
        state = self.state()
        return STOPPED in state.brokers and all(
            set(found.isr) == set(state.replicas(partition) or ())
            for partition, found in state.states.items()
        )


@contextmanager
def connected(sandbox: Sandbox) -> Iterator[Brokers]:
    """Give the brokers to a test, and delete its topics at the end."""
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        found = Brokers(sandbox, connection)
        yield found
    with closing(kafka.KafkaAdminClient(bootstrap_servers=sandbox.bootstrap)) as admin:
        admin.delete_topics(found.topics)
