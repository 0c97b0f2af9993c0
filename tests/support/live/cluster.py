"""Drives a live cluster: topics, records and configs, through kadmin and through plain ZooKeeper
and Kafka clients.
"""

from __future__ import annotations

import itertools
import json
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kafka import KafkaAdminClient, KafkaConsumer
from kafka import TopicPartition as KafkaTopicPartition
from kafka.errors import KafkaError
from kazoo.client import KazooClient
from support.cli.in_process import command
from support.documents.plans import deletion
from support.live.controllers import REASSIGN, Controllers, read_znode
from support.live.records import consume_all
from support.live.waiting import wait_until
from support.stores import in_znodes

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.payloads import encode_election
from kadmin.cluster.servers import Servers
from kadmin.errors import UnreachableError
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.zookeeper.reader import read_cluster
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from support.cli.in_process import Answer

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.operations.record.record import Listing
    from kadmin.operations.record.steps import Step
    from kadmin.sandbox import Sandbox

UNREGISTERED = 99
_numbers = itertools.count()


class Cluster:
    """One live cluster of brokers 1 to 4 on racks r1, r2, r3, r1, in the chroot /kafka."""

    def __init__(
        self, connect: str, bootstrap: Sequence[str], version: str, sandbox: Sandbox | None = None
    ) -> None:
        self._sandbox = sandbox
        self.version_text = version
        self.connect = connect
        self.bootstrap = list(bootstrap)
        self.version = tuple(int(part) for part in version.split("."))
        self.store = Store.connect(connect)
        self.raw = KazooClient(connect.split("/", maxsplit=1)[0])
        self.raw.start()
        self.controllers = Controllers(self.store, self.raw, self.version)
        self._shared: str | None = None

    def close(self) -> None:
        """End both sessions."""
        self.store.close()
        self.raw.stop()
        self.raw.close()

    @property
    def has_reassignment_api(self) -> bool:
        """Whether brokers serve AlterPartitionReassignments (KIP-455, 2.4)."""
        return self.version >= (2, 4)

    def kadmin(self, *arguments: str | Path, connect: str | None = None) -> Answer:
        """Run kadmin against this cluster."""
        return command(*arguments, environment={"KADMIN_ZOOKEEPER": connect or self.connect})

    def deletion(self, topic: str, allow: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Build a TopicDeletion; brokers before 1.0 do not tell their settings, which is waived."""
        waivers = {**(allow or {}), **({"unchecked_guards": True} if self.version < (1,) else {})}
        return deletion(topic, **({"allow": waivers} if waivers else {}))

    def create_topic(self, replicas: Mapping[int, Sequence[int]], *, prefix: str = "topic") -> str:
        """Create a topic as the old admin tools do and wait for its full ISRs and its first
        leaders.

        A controller that does not know a broker yet, because it has only just registered, lets
        another one lead.
        """
        topic = f"{prefix}-{next(_numbers)}"
        value = {
            "version": 1,
            "partitions": {str(number): list(ids) for number, ids in replicas.items()},
        }
        self.raw.create(f"/kafka/config/topics/{topic}", b'{"version":1,"config":{}}')
        self.raw.create(f"/kafka/brokers/topics/{topic}", json.dumps(value).encode())

        wanted = {TopicPartition(topic, number): ids for number, ids in replicas.items()}

        def replicated() -> bool:
            states = self.state(topic).states
            return len(states) == len(wanted) and all(
                set(states[p].isr) == set(ids) for p, ids in wanted.items()
            )

        def off() -> list[TopicPartition]:
            return [
                p for p, found in self.state(topic).states.items() if found.leader != wanted[p][0]
            ]

        wait_until(replicated, 60)
        if late := off():
            self.raw.create(f"/kafka{PREFERRED_REPLICA_ELECTION}", encode_election(late))
            wait_until(lambda: not off())
        return topic

    def shared_topic(self) -> str:
        """Return a topic of one partition on brokers 1 and 2 for tests that never change it."""
        if self._shared is None:
            self._shared = self.create_topic({0: [1, 2]})
        return self._shared

    def produce(self, topic: str, *, per_partition: int) -> dict[TopicPartition, list[bytes]]:
        """Write records to every partition and return them."""
        self._await_metadata(topic)
        partitions = self.state(topic).topics[topic].partitions()
        records = {
            p: [f"{p} record {n}".encode() for n in range(per_partition)] for p in partitions
        }
        produce(Servers(self.bootstrap), records)
        return records

    def produce_to(self, partition: TopicPartition, values: Sequence[bytes]) -> None:
        """Write values to one partition."""
        self._await_metadata(partition.topic)
        produce(Servers(self.bootstrap), {partition: values})

    def _await_metadata(self, topic: str) -> None:
        """Wait until brokers tell clients of a topic; seen once to take 0.10.2 over 15 s on a busy
        machine.
        """

        def known() -> bool:
            with (
                suppress(KafkaError),
                closing(KafkaConsumer(bootstrap_servers=self.bootstrap)) as consumer,
            ):
                return bool(consumer.partitions_for_topic(topic))
            return False

        wait_until(known, 60)

    def read_back(self, topic: str) -> dict[TopicPartition, list[bytes]]:
        """Read every record of every partition, in order; a new client asks again where one was
        told of old leaders.
        """
        found: dict[TopicPartition, list[bytes]] = {}

        def read() -> bool:
            with suppress(KafkaError):
                found.update(
                    consume_all(self.bootstrap, self.state(topic).topics[topic].partitions())
                )
            return bool(found)

        wait_until(read, 120)
        return found

    def state(self, *topics: str) -> ClusterState:
        """Read the state of some topics."""
        return read_cluster(self.store, topics)

    def on_disk(self, partition: TopicPartition) -> set[int]:
        """Return the brokers that keep a folder for a partition (one renamed for deletion is
        none).
        """
        assert self._sandbox is not None
        return {
            broker
            for broker in self._sandbox.broker_ports
            if self.folder_on_disk(partition, broker).exists()
        }

    def folder_on_disk(self, partition: TopicPartition, broker: int) -> Path:
        """Return where a broker keeps a partition."""
        assert self._sandbox is not None
        return self._sandbox.spec.directory / f"broker-{broker}" / "data" / str(partition)

    def controller(self) -> int:
        """Return the broker that is the controller."""
        found = self.state().controller
        assert found is not None
        return found.broker_id

    def config(self, entity: str) -> dict[str, str]:
        """Read the config of an entity, such as `topics/orders`."""
        found: dict[str, str] = json.loads(self.get(f"/config/{entity}") or b'{"config":{}}')[
            "config"
        ]
        return found

    def throttles(self, topic: str) -> dict[str, dict[str, str]]:
        """Read what is configured for a topic and for the brokers, where there is anything."""
        entities = [f"topics/{topic}", *(f"brokers/{broker}" for broker in (1, 2, 3, 4))]
        return {entity: found for entity in entities if (found := self.config(entity))}

    def get(self, path: str) -> bytes | None:
        """Read a znode below the chroot, None where there is none."""
        return read_znode(self.raw, path)

    def root_children(self) -> tuple[str, ...]:
        """List what lies beside the chroot."""
        return tuple(sorted(self.raw.get_children("/")))

    def writes_in_log(self, text: str) -> int:
        """Count how often some text was written, by ZooKeeper's own transaction log."""
        assert self._sandbox is not None
        logs = sorted(self._sandbox.spec.directory.glob("zookeeper-1/version-2/log.*"))
        return sum(log.read_bytes().count(text.encode()) for log in logs)

    def history(self) -> tuple[Listing, ...]:
        """Read the operations on record."""
        return in_znodes(self.store).listings()

    def steps(self, operation_id: str) -> tuple[Step, ...]:
        """Read an operation's step records."""
        return in_znodes(self.store).steps(operation_id)

    def fingerprint(self) -> dict[str, tuple[int, int]]:
        """Return mzxid and cversion of every znode; brokers' own ISR messages come and go by
        themselves.
        """
        found: dict[str, tuple[int, int]] = {}
        waiting = ["/"]
        while waiting:
            path = waiting.pop()
            if path == "/zookeeper" or path.startswith("/kafka/isr_change_notification"):
                continue
            children, stat = self.raw.get_children(path, include_data=True)
            found[path] = (stat.mzxid, stat.cversion)
            waiting += [f"{path.rstrip('/')}/{child}" for child in children]
        return found

    def configure(self, entity: str, config: Mapping[str, str]) -> None:
        """Replace an entity's configs as an operator with Kafka's own tools does."""
        path = f"/kafka/config/{entity}"
        self.raw.ensure_path(path)
        self.raw.set(path, json.dumps({"version": 1, "config": dict(config)}).encode())
        change = json.dumps({"version": 2, "entity_path": entity}).encode()
        self.raw.create("/kafka/config/changes/config_change_", change, sequence=True)

    def overrides(self, broker_id: int, entity: str) -> list[str]:
        """Return what a broker's log says of the configs that it took up for an entity, oldest
        first.
        """
        assert self._sandbox is not None
        log = self._sandbox.spec.directory / f"broker-{broker_id}" / "server.log"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = f"Processing override for entityPath: {entity} with config"
        return [line.partition(said)[2] for line in lines if said in line]

    @contextmanager
    def stuck_reassignment(self, topic: str, number: int) -> Iterator[bytes]:
        """Let somebody else's reassignment wait for a broker that does not exist; undone at the
        end.

        Undone by one transaction that writes the original list into the node and moves the
        controller. Up to 2.3 the old controller, busy to take the entry up, may write its own list
        over that: then nothing is in the node in the end, and the original list is an ordinary
        reassignment.
        """
        original = self.state(topic).topics[topic].replicas[number]

        def now() -> Replicas:
            return self.state(topic).topics[topic].replicas[number]

        self.controllers.reassign(
            {"topic": topic, "partition": number, "replicas": [UNREGISTERED, *original]}
        )
        wait_until(lambda: len(now()) > len(original))
        entry: dict[str, object] = {"topic": topic, "partition": number, "replicas": list(original)}
        try:
            yield self.get(REASSIGN) or b""
        finally:
            self.controllers.supersede(entry)
            wait_until(lambda: self.get(REASSIGN) is None, 60)
            if now() != original and UNREGISTERED in now():
                self.controllers.reassign(entry)
            wait_until(lambda: now() == original, 60)
            self.controllers.wait()

    @contextmanager
    def held_back(self, topic: str) -> Iterator[None]:
        """Throttle the copies of a topic to one byte per second, so that what moves stays in flight
        for a while.
        """
        self.throttle(topic, "1")
        try:
            yield
        finally:
            self.throttle(topic, None)

    @contextmanager
    def api_reassignment(self, topic: str, number: int) -> Iterator[None]:
        """Hold a reassignment through the brokers' API in flight."""
        self.produce(topic, per_partition=200)
        partition = KafkaTopicPartition(topic, number)
        with (
            self.held_back(topic),
            closing(KafkaAdminClient(bootstrap_servers=self.bootstrap)) as admin,
        ):
            admin.alter_partition_reassignments({partition: [3, 4]})
            try:
                wait_until(lambda: bool(self.state(topic).topics[topic].adding_replicas))
                yield
            finally:
                admin.alter_partition_reassignments({partition: None})
                wait_until(lambda: not self.state(topic).topics[topic].adding_replicas)

    @contextmanager
    def committed_offset(self, group: str, topic: str) -> Iterator[None]:
        """Leave what an old consumer leaves: an offset in ZooKeeper."""
        self.raw.create(f"/kafka/consumers/{group}/offsets/{topic}/0", b"8", makepath=True)
        try:
            yield
        finally:
            self.raw.delete(f"/kafka/consumers/{group}", recursive=True)

    @contextmanager
    def broker_down(self, broker_id: int) -> Iterator[None]:
        """Run without one broker, which is back afterwards, and told who the controller is."""
        assert self._sandbox is not None
        self._sandbox.stop_broker(broker_id, kill=True)
        try:
            yield
        finally:
            self._sandbox.start_broker(broker_id)
            self.controllers.wait()
            wait_until(self.all_name_the_controller, 60)

    def all_name_the_controller(self) -> bool:
        """Whether every broker's metadata names the controller: one that has just started names
        none (-1).
        """
        state = self.state()
        with suppress(UnreachableError), KafkaConnection(Servers(self.bootstrap)) as connection:
            named = {
                read_metadata(connection, [], broker_id=each).controller_id
                for each in state.brokers
            }
            return state.controller is not None and named == {state.controller.broker_id}
        return False

    def restart_brokers(self) -> None:
        """Restart every broker, one after the other, and wait until one is controller and stays
        it.
        """
        for broker_id in sorted(self.state().brokers):
            with self.broker_down(broker_id):
                pass

    def throttle(self, topic: str, rate: str | None) -> None:
        """Hold all copies of a topic at a rate in bytes per second, or let them go."""
        replicas = (
            {}
            if rate is None
            else dict.fromkeys(
                (
                    "leader.replication.throttled.replicas",
                    "follower.replication.throttled.replicas",
                ),
                "*",
            )
        )
        rates = (
            {}
            if rate is None
            else dict.fromkeys(
                ("leader.replication.throttled.rate", "follower.replication.throttled.rate"), rate
            )
        )
        self.configure(f"topics/{topic}", replicas)
        for broker in self.raw.get_children("/kafka/brokers/ids"):
            self.configure(f"brokers/{broker}", rates)
