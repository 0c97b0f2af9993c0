"""Reads and writes the znodes of the controller model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError

from kadmin.cluster.model import NO_LEADER, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kazoo.client import KazooClient

    from kadmin.cluster.model import Replicas

REASSIGN = "/admin/reassign_partitions"
ELECTION = "/admin/preferred_replica_election"
DELETE_TOPICS = "/admin/delete_topics"
TOPICS = "/brokers/topics"
BROKER_IDS = "/brokers/ids"

TREE = (
    "/admin",
    DELETE_TOPICS,
    "/brokers",
    BROKER_IDS,
    TOPICS,
    "/cluster",
    "/config",
    "/config/brokers",
    "/config/changes",
    "/config/topics",
    "/consumers",
)


@dataclass(frozen=True, slots=True)
class Assigned:
    """A partition's replicas; `adding` and `removing` only while it is being reassigned, and from
    2.4 on.
    """

    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def moving(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> Replicas:
        return tuple(broker for broker in self.replicas if broker not in self.removing)

    def towards(self, target: Replicas) -> Assigned:
        """Kafka's ReplicaAssignment.reassignTo: the target, then what is left of the origin."""
        origin = tuple(broker for broker in self.replicas if broker not in self.adding)
        full = tuple(dict.fromkeys((*target, *origin)))
        return Assigned(
            full,
            tuple(broker for broker in full if broker not in origin),
            tuple(broker for broker in full if broker not in target),
        )


@dataclass(frozen=True, slots=True)
class State:
    """A partition's leader and ISR."""

    leader: int = NO_LEADER
    isr: Replicas = ()
    leader_epoch: int = 0


def encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def reassignment_payload(targets: Mapping[TopicPartition, Replicas]) -> bytes:
    partitions = [
        {"topic": p.topic, "partition": p.partition, "replicas": list(r)}
        for p, r in targets.items()
    ]
    return encode({"version": 1, "partitions": partitions})


def decode_targets(data: bytes, *, strict: bool) -> dict[TopicPartition, Replicas]:
    """Read a reassignment as controllers do: what cannot be read is no entry at all; of two for one
    the last wins.
    """
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    entries = value.get("partitions", [])
    known = {"version", "partitions"}
    if strict and (
        set(value) - known or any(set(e) - {"topic", "partition", "replicas"} for e in entries)
    ):
        return {}
    return {TopicPartition(e["topic"], int(e["partition"])): tuple(e["replicas"]) for e in entries}


class Znodes:
    """Plain reads and writes below a chroot, in one session."""

    def __init__(self, client: KazooClient, chroot: str) -> None:
        self.client = client
        self.chroot = chroot

    def get(self, path: str, watch: Callable[[Any], None] | None = None) -> bytes | None:
        try:
            data: bytes = self.client.get(self.chroot + path, watch=watch)[0]
        except NoNodeError:
            return None
        return data

    def exists(self, path: str, watch: Callable[[Any], None] | None = None) -> bool:
        return self.client.exists(self.chroot + path, watch=watch) is not None

    def children(self, path: str, watch: Callable[[Any], None] | None = None) -> list[str]:
        return sorted(self.client.get_children(self.chroot + path, watch=watch))

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        self.client.create(self.chroot + path, data, ephemeral=ephemeral)

    def put(self, path: str, data: bytes) -> None:
        """Overwrite a znode, or create it where there is none (Kafka's setOrCreate)."""
        try:
            self.client.set(self.chroot + path, data)
        except NoNodeError:
            self.create(path, data)

    def delete(self, path: str) -> None:
        """Delete a znode; one that is gone already is fine."""
        try:
            self.client.delete(self.chroot + path)
        except NoNodeError:
            return

    def create_all(self, nodes: Iterable[tuple[str, bytes]]) -> None:
        """Create persistent nodes in one transaction; all of them exist afterwards."""
        transaction = self.client.transaction()
        for path, data in nodes:
            transaction.create(self.chroot + path, data)
        failed = [each for each in transaction.commit() if isinstance(each, Exception)]
        if failed:
            raise NodeExistsError(str(failed))

    def assigned(self, topic: str) -> dict[TopicPartition, Assigned]:
        """Read a topic znode of any version."""
        value = json.loads(self.get(f"{TOPICS}/{topic}") or b'{"partitions":{}}')
        adding, removing = value.get("adding_replicas", {}), value.get("removing_replicas", {})
        return {
            TopicPartition(topic, int(number)): Assigned(
                tuple(ids), tuple(adding.get(number, ())), tuple(removing.get(number, ()))
            )
            for number, ids in value["partitions"].items()
        }

    def state(self, partition: TopicPartition) -> State | None:
        data = self.get(state_path(partition))
        if data is None:
            return None
        value = json.loads(data)
        return State(value["leader"], tuple(value["isr"]), value["leader_epoch"])


def state_path(partition: TopicPartition) -> str:
    return f"{TOPICS}/{partition.topic}/partitions/{partition.partition}/state"
