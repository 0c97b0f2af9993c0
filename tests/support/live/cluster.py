"""A live cluster as tests see it: kadmin's command line on one side, plain ZooKeeper and Kafka clients on the other."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import threading
import time
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer
from kafka import TopicPartition as KafkaTopicPartition
from kafka.errors import KafkaError
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from support.live.records import consume_all
from support.live.waiting import wait_until

from kadmin.cli import run
from kadmin.cluster.kafka.records import produce
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.zookeeper.reader import read_cluster
from kadmin.cluster.zookeeper.store import Store
from kadmin.cluster.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, encode_election
from kadmin.operations.record.record import Paths
from kadmin.operations.zookeeper.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.operations.record.record import Listing, Step
    from kadmin.sandbox import Sandbox

REASSIGN = "/admin/reassign_partitions"
UNREGISTERED = 99
QUIET_S = 10
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command line came to."""

    status: int
    out: str
    err: str


def command(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Answer:
    """Run kadmin in this process, with no terminal and nothing on standard input."""
    out, err, kept_stdin, kept = io.StringIO(), io.StringIO(), sys.stdin, dict(os.environ)
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    os.environ.update(environment or {})
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = run([str(argument) for argument in arguments])
    finally:
        sys.stdin = kept_stdin
        os.environ.clear()
        os.environ.update(kept)
    return Answer(status, out.getvalue(), err.getvalue())


def document(path: Path, value: Mapping[str, Any]) -> Path:
    """Write a document; JSON is YAML."""
    path.write_text(json.dumps(value))
    return path


def reassignment(
    topic: str,
    targets: Mapping[Any, Sequence[Any]],
    *,
    current: Mapping[Any, Sequence[int]] | None = None,
    cluster_id: str | None = None,
    **spec: object,
) -> dict[str, Any]:
    """Build a PartitionReassignment of one topic."""
    entries: list[dict[str, Any]] = [
        {"topic": topic, "partition": number, "replicas": list(replicas)} for number, replicas in targets.items()
    ]
    for entry in entries:
        if current is not None:
            entry["current"] = list(current[entry["partition"]])
    metadata = {"name": "test"} | ({} if cluster_id is None else {"cluster_id": cluster_id})
    return {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "metadata": metadata,
        "spec": {**spec, "partitions": entries},
    }


def election(**spec: object) -> dict[str, Any]:
    """Build a PreferredReplicaElection."""
    return {"apiVersion": "kadmin/v1", "kind": "PreferredReplicaElection", "spec": spec}


def deletion(*topics: str, **spec: object) -> dict[str, Any]:
    """Build a TopicDeletion."""
    return {"apiVersion": "kadmin/v1", "kind": "TopicDeletion", "spec": {"topics": list(topics), **spec}}


class Cluster:
    """One live cluster of brokers 1 to 4 on racks r1, r2, r3, r1, in the chroot /kafka."""

    def __init__(self, connect: str, bootstrap: Sequence[str], version: str, sandbox: Sandbox | None = None) -> None:
        self._sandbox = sandbox
        self.version_text = version
        self.connect = connect
        self.bootstrap = list(bootstrap)
        self.version = tuple(int(part) for part in version.split("."))
        self.store = Store.connect(connect)
        self.raw = KazooClient(connect.split("/", maxsplit=1)[0])
        self.raw.start()
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

    def create_topic(self, replicas: Mapping[int, Sequence[int]], *, prefix: str = "topic") -> str:
        """Create a topic as the old admin tools do and wait for its full ISRs and its first leaders.

        A controller that does not know a broker yet, because it has only just registered, lets another one lead.
        """
        topic = f"{prefix}-{next(_numbers)}"
        value = {"version": 1, "partitions": {str(number): list(ids) for number, ids in replicas.items()}}
        self.raw.create(f"/kafka/config/topics/{topic}", b'{"version":1,"config":{}}')
        self.raw.create(f"/kafka/brokers/topics/{topic}", json.dumps(value).encode())

        wanted = {TopicPartition(topic, number): ids for number, ids in replicas.items()}

        def replicated() -> bool:
            states = self.state(topic).states
            return len(states) == len(wanted) and all(set(states[p].isr) == set(ids) for p, ids in wanted.items())

        def off() -> list[TopicPartition]:
            return [p for p, found in self.state(topic).states.items() if found.leader != wanted[p][0]]

        wait_until(replicated, 60)
        if late := off():
            self.raw.create(f"/kafka{PREFERRED_REPLICA_ELECTION}", encode_election(late))
            wait_until(lambda: not off(), 30)
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
        records = {p: [f"{p} record {n}".encode() for n in range(per_partition)] for p in partitions}
        produce(self.bootstrap, records)
        return records

    def produce_to(self, partition: TopicPartition, values: Sequence[bytes]) -> None:
        """Write values to one partition."""
        self._await_metadata(partition.topic)
        produce(self.bootstrap, {partition: values})

    def _await_metadata(self, topic: str) -> None:
        """Wait until brokers tell clients of a topic; seen once to take 0.10.2 over 15 s on a busy machine."""

        def known() -> bool:
            with suppress(KafkaError), closing(KafkaConsumer(bootstrap_servers=self.bootstrap)) as consumer:
                return bool(consumer.partitions_for_topic(topic))
            return False

        wait_until(known, 60)

    def read_back(self, topic: str) -> dict[TopicPartition, list[bytes]]:
        """Read every record of every partition, in order; a new client asks again where one was told of old leaders."""
        found: dict[TopicPartition, list[bytes]] = {}

        def read() -> bool:
            with suppress(KafkaError):
                found.update(consume_all(self.bootstrap, self.state(topic).topics[topic].partitions()))
            return bool(found)

        wait_until(read, 120)
        return found

    def state(self, *topics: str) -> ClusterState:
        """Read the state of some topics."""
        return read_cluster(self.store, topics)

    def on_disk(self, partition: TopicPartition) -> set[int]:
        """Return the brokers that keep a folder for a partition (one renamed for deletion is none)."""
        assert self._sandbox is not None
        folder = self._sandbox.spec.directory
        return {
            broker for broker in self._sandbox.broker_ports if (folder / f"broker-{broker}/data/{partition}").exists()
        }

    def controller(self) -> int:
        """Return the broker that is the controller."""
        found = self.state().controller
        assert found is not None
        return found.broker_id

    def config(self, entity: str) -> dict[str, str]:
        """Read the config of an entity, such as `topics/orders`."""
        found: dict[str, str] = json.loads(self.get(f"/config/{entity}") or b'{"config":{}}')["config"]
        return found

    def throttles(self, topic: str) -> dict[str, dict[str, str]]:
        """Read what is configured for a topic and for the brokers, where there is anything."""
        entities = [f"topics/{topic}", *(f"brokers/{broker}" for broker in (1, 2, 3, 4))]
        return {entity: found for entity in entities if (found := self.config(entity))}

    def get(self, path: str) -> bytes | None:
        """Read a znode below the chroot, None where there is none."""
        try:
            data: bytes = self.raw.get(f"/kafka{path}")[0]
        except NoNodeError:
            return None
        return data

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
        return Journal(self.store, Paths()).listings()

    def steps(self, operation_id: str) -> tuple[Step, ...]:
        """Read an operation's step records."""
        return Journal(self.store, Paths()).steps(operation_id)

    def fingerprint(self) -> dict[str, tuple[int, int]]:
        """Return mzxid and cversion of every znode; brokers' own ISR messages come and go by themselves."""
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
        """Return what a broker's log says of the configs that it took up for an entity, oldest first."""
        assert self._sandbox is not None
        log = self._sandbox.spec.directory / f"broker-{broker_id}" / "server.log"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = f"Processing override for entityPath: {entity} with config"
        return [line.partition(said)[2] for line in lines if said in line]

    @contextmanager
    def stuck_reassignment(self, topic: str, number: int) -> Iterator[bytes]:
        """Let somebody else's reassignment wait for a broker that does not exist; undone at the end.

        Undone by one transaction that writes the original list into the node and moves the controller. Up to 2.3 the
        old controller, busy to take the entry up, may write its own list over that: then nothing is in the node in the
        end, and the original list is an ordinary reassignment.
        """
        original = self.state(topic).topics[topic].replicas[number]

        def now() -> Replicas:
            return self.state(topic).topics[topic].replicas[number]

        self._create_reassignment({"topic": topic, "partition": number, "replicas": [UNREGISTERED, *original]})
        wait_until(lambda: len(now()) > len(original), 30)
        entry: dict[str, object] = {"topic": topic, "partition": number, "replicas": list(original)}
        try:
            yield self.get(REASSIGN) or b""
        finally:
            self.supersede(entry)
            wait_until(lambda: self.get(REASSIGN) is None, 60)
            if now() != original and UNREGISTERED in now():
                self._create_reassignment(entry)
            wait_until(lambda: now() == original, 60)
            self.wait_for_controller()

    @contextmanager
    def held_back(self, topic: str) -> Iterator[None]:
        """Throttle the copies of a topic to one byte per second, so that what moves stays in flight for a while."""
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
        with self.held_back(topic), closing(KafkaAdminClient(bootstrap_servers=self.bootstrap)) as admin:
            admin.alter_partition_reassignments({partition: [3, 4]})
            try:
                wait_until(lambda: bool(self.state(topic).topics[topic].adding_replicas), 30)
                yield
            finally:
                admin.alter_partition_reassignments({partition: None})
                wait_until(lambda: not self.state(topic).topics[topic].adding_replicas, 30)

    @contextmanager
    def committed_offset(self, group: str, topic: str) -> Iterator[None]:
        """Leave what an old consumer leaves: an offset in ZooKeeper."""
        self.raw.create(f"/kafka/consumers/{group}/offsets/{topic}/0", b"8", makepath=True)
        try:
            yield
        finally:
            self.raw.delete(f"/kafka/consumers/{group}", recursive=True)

    @contextmanager
    def deaf_controller(self) -> Iterator[None]:
        """Run with a controller that does not watch the reassignment node; moving it cures that."""
        self.deafen()
        try:
            yield
        finally:
            self.move_controller()
            wait_until(lambda: self.get(REASSIGN) is None, 60)
            wait_until(self.hears_a_probe, 60)

    def deafen(self) -> None:
        """Let an operator delete a node by hand, which ends the controller's watch (from 1.1 on)."""
        for attempt in range(1, 20):
            self.create_and_delete_by_hand(attempt * 0.05)
            if not self.hears_a_probe():
                return
        pytest.fail("the controller stayed attentive")

    @contextmanager
    def broker_down(self, broker_id: int) -> Iterator[None]:
        """Run without one broker, which is back with its full ISRs afterwards."""
        assert self._sandbox is not None
        self._sandbox.stop_broker(broker_id, kill=True)
        try:
            yield
        finally:
            self._sandbox.start_broker(broker_id)
            self.wait_for_controller()

    def move_controller(self) -> None:
        """Let another broker become controller, once, and wait until all brokers watch the new one."""
        self.wait_for_controller()
        self.raw.delete("/kafka/controller")
        self.wait_for_controller()

    def epoch(self) -> int:
        """How many controllers there have been."""
        return int(self.get("/controller_epoch") or b"0")

    def loops(self) -> bool:
        """Move the controller once over what the next one cannot read, and see whether elections go on without end.

        On 0.10.2 every broker is waited for: one that has not failed yet would end the loop with its cause.
        """
        self.wait_for_controller()
        before, failed = self.epoch(), set[int]()
        brokers = set(self.state().brokers) if self.version < (1, 1) else failed
        with suppress(NoNodeError):  # one that is new has read it, and failed
            self.raw.delete("/kafka/controller")
        give_up = time.monotonic() + 30
        while self.epoch() <= before + 5:
            if time.monotonic() > give_up:
                return False
        give_up, elected = time.monotonic() + 60, None
        while failed != brokers:
            assert time.monotonic() < give_up, f"only {failed} were elected and failed"
            found = self.get("/controller")
            now = json.loads(found)["brokerid"] if found else None
            failed |= set() if elected in {None, now} else {elected}
            elected = now
        return True

    def loses_its_controller(self, seconds: float = 60) -> bool:
        """Delete `/controller` as soon as it is there until nobody is elected for 5 s: up to 1.0 somebody always is.

        From 1.1 on brokers miss a deletion that comes before they watch again.
        """
        gone_since, pause = time.monotonic(), threading.Event()
        give_up = gone_since + seconds
        while time.monotonic() < give_up:
            try:
                self.raw.delete("/kafka/controller")
                gone_since = time.monotonic()
            except NoNodeError:
                if time.monotonic() - gone_since > 5:
                    return True
                pause.wait(0.002)
        return False

    def restart_brokers(self) -> None:
        """Restart every broker, one after the other, and wait until one is controller and stays it."""
        for broker_id in sorted(self.state().brokers):
            with self.broker_down(broker_id):
                pass

    def wait_for_controller(self) -> None:
        """Wait until there is a controller and every live broker watches it: only then may it be moved again.

        Where ZooKeeper does not tell, its epoch must have stood still for a while.
        """

        def watched() -> bool:
            if self.get("/controller") is None:
                return False
            answer = next(iter(self.store.four_letter_words("wchp").values()))
            if answer is None:
                stat = self.raw.exists("/kafka/controller_epoch")
                return bool(time.time() - stat.mtime / 1000 > QUIET_S)
            block = answer.partition("/kafka/controller\n")[2].split("\n/")[0]
            return block.count("0x") >= len(self.raw.get_children("/kafka/brokers/ids"))

        wait_until(watched, 60)

    def create_and_delete_by_hand(self, between_s: float) -> None:
        """Create a node that nobody can read and delete it: the controller's one-shot watch goes with it (from 1.1).

        Deleted before the controller has read it, the node leaves the watch armed: that takes some milliseconds.
        """
        path = f"/kafka{REASSIGN}"
        self.raw.create(path, b'{"version":1}')
        threading.Event().wait(between_s)
        self.raw.delete(path)

    def hears_a_probe(self, patience_s: float = 3) -> bool:
        """Whether a reassignment of a topic that cannot exist is consumed; one that is not is taken away again."""
        self._create_reassignment({"topic": "!heard", "partition": 0, "replicas": [1]})
        give_up = time.monotonic() + patience_s
        while self.get(REASSIGN) is not None:
            if time.monotonic() > give_up:
                self.raw.delete(f"/kafka{REASSIGN}")
                return False
            threading.Event().wait(0.05)
        return True

    def _create_reassignment(self, entry: Mapping[str, Any]) -> None:
        self.raw.create(f"/kafka{REASSIGN}", _node_of(entry))

    def supersede(self, entry: Mapping[str, Any]) -> None:
        """Write one entry into the live node and move the controller, in one transaction.

        Written again if the old controller, still busy to take up what was there, wrote that over it; not if the next
        one has taken that up already.
        """
        payload = _node_of(entry)

        def written() -> bool:
            self.wait_for_controller()
            before, transaction = self.epoch(), self.raw.transaction()
            transaction.set_data(f"/kafka{REASSIGN}", payload)
            transaction.delete("/kafka/controller")
            if any(isinstance(result, Exception) for result in transaction.commit()):
                return self.get(REASSIGN) is None
            wait_until(lambda: self.epoch() > before, 60)
            return bool(json.loads(self.get(REASSIGN) or payload) == json.loads(payload))

        wait_until(written, 60)

    def throttle(self, topic: str, rate: str | None) -> None:
        """Hold all copies of a topic at a rate in bytes per second, or let them go."""
        replicas = (
            {}
            if rate is None
            else dict.fromkeys(
                ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas"), "*"
            )
        )
        rates = (
            {}
            if rate is None
            else dict.fromkeys(("leader.replication.throttled.rate", "follower.replication.throttled.rate"), rate)
        )
        self.configure(f"topics/{topic}", replicas)
        for broker in self.raw.get_children("/kafka/brokers/ids"):
            self.configure(f"brokers/{broker}", rates)


def _node_of(entry: Mapping[str, Any]) -> bytes:
    """Write a reassignment node of one entry as Kafka's own tools do."""
    return json.dumps({"version": 1, "partitions": [entry]}, separators=(",", ":")).encode()
