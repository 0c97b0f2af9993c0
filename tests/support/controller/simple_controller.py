"""Writes a cluster's znodes to a real ZooKeeper, and executes the admin znodes as a controller
does.

For tests of faults between kadmin and ZooKeeper: no broker is needed, and the controller can be
delayed.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError

from kadmin.worlds.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)
from kadmin.worlds.zookeeper.znodes.topics import encode_topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

CLUSTER_ID = "Z_jcEjghQECxVvc59mF5_Q"
IDENTITY = "kafka:brokers-alone-know"
"""The controller's identity in ACLs."""

_CHUNK = 500
_LOOK_S = 0.2


class Manner(Enum):
    """How the controller treats admin znodes."""

    OBEY = "does what they say and takes them away"
    HOLD = "watches them, and leaves them as they are"
    BEGIN = "writes the union of old and new replicas, and goes no further"
    REJECT = "takes them away and does nothing"


class SimpleController:
    """Brokers 1, 2, ... on racks r1, r2, r3 in turn, and their controller; a context manager."""

    def __init__(self, connect: str, *, brokers: int = 4) -> None:
        self.connect = connect
        self.manner = Manner.OBEY
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._topics = threading.Lock()
        self._taken_up: dict[str, tuple[int, int]] = {}
        retry = {"max_tries": -1, "max_delay": 0.5}
        self.client = KazooClient(
            connect, timeout=10, connection_retry=retry, auth_data=[("digest", IDENTITY)]
        )
        self.client.start()
        self._lay_out(brokers)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._wake.set()
        self._thread.join(10)
        self.client.stop()
        self.client.close()

    def behave(self, manner: Manner) -> None:
        """Change how admin nodes are treated, those that stand included."""
        self.manner = manner
        self._wake.set()

    def create_topic(self, topic: str, replicas: Mapping[int, Sequence[int]]) -> str:
        """Create a topic with everything in sync."""
        with self._topics:
            return self._create_topic(topic, replicas)

    def _create_topic(self, topic: str, replicas: Mapping[int, Sequence[int]]) -> str:
        self.client.create(f"/config/topics/{topic}", b'{"version":1,"config":{}}')
        self.client.create(
            f"/brokers/topics/{topic}", encode_topic({n: tuple(ids) for n, ids in replicas.items()})
        )
        self.client.create(f"/brokers/topics/{topic}/partitions")
        pending = [
            self.client.create_async(f"/brokers/topics/{topic}/partitions/{n}") for n in replicas
        ]
        pending += [
            self.client.create_async(_state_path(topic, n), _state(ids))
            for n, ids in replicas.items()
        ]
        for each in pending:
            each.get(timeout=60)
        return topic

    def add_partition(self, topic: str, replicas: Sequence[int]) -> None:
        """Let a topic grow by one partition."""
        before = self.replicas(topic)
        self.client.create(_state_path(topic, len(before)), _state(replicas), makepath=True)
        self._write_topic(topic, {**before, len(before): replicas})

    def delete_topic(self, topic: str) -> None:
        """Make a topic vanish, as after a deletion."""
        self.client.delete(f"/brokers/topics/{topic}", recursive=True)
        self.client.delete(f"/config/topics/{topic}")

    def replicas(self, topic: str) -> dict[int, list[int]]:
        """Return a topic's assignment."""
        value = json.loads(self.client.get(f"/brokers/topics/{topic}")[0])
        return {int(number): ids for number, ids in sorted(value["partitions"].items())}

    def leaders(self, topic: str) -> dict[int, int]:
        """Return who leads each partition."""
        pending = {
            number: self.client.get_async(_state_path(topic, number))
            for number in self.replicas(topic)
        }
        return {
            number: json.loads(each.get(timeout=60)[0])["leader"]
            for number, each in pending.items()
        }

    def lead(self, topic: str, leaders: Mapping[int, int]) -> None:
        """Let other replicas lead."""
        for number, leader in leaders.items():
            self.client.set(
                _state_path(topic, number), _state(self.replicas(topic)[number], leader)
            )

    def get(self, path: str) -> bytes | None:
        """Read a znode, None where there is none."""
        try:
            data: bytes = self.client.get(path)[0]
        except NoNodeError:
            return None
        return data

    def children(self, path: str) -> list[str]:
        """List a znode's children, none where it does not exist."""
        try:
            found: list[str] = sorted(self.client.get_children(path))
        except NoNodeError:
            return []
        return found

    def operations(self) -> list[dict[str, Any]]:
        """Return the state of every operation on record, oldest first, its id with it."""
        ids = self.children("/kadmin/operations")
        return [
            {"id": each, **json.loads(self.get(f"/kadmin/operations/{each}") or b"{}")}
            for each in ids
        ]

    def steps(self, kind: str) -> list[dict[str, Any]]:
        """Return the step records of one kind of the last operation, in order."""
        parent = f"/kadmin/operations/{self.operations()[-1]['id']}/steps"
        found = [
            json.loads(self.get(f"{parent}/{name}") or b"{}") for name in self.children(parent)
        ]
        return [step for step in found if step["kind"] == kind]

    def fingerprint(self) -> dict[str, tuple[int, int]]:
        """Return mzxid and cversion of every znode below the chroot."""
        found: dict[str, tuple[int, int]] = {}
        waiting = ["/"]
        while waiting:
            path = waiting.pop()
            children, stat = self.client.get_children(path, include_data=True)
            found[path] = (stat.mzxid, stat.cversion)
            waiting += [f"{path.rstrip('/')}/{child}" for child in children]
        return found

    def _lay_out(self, brokers: int) -> None:
        for path in ("/cluster", "/brokers/topics", "/brokers/ids", "/config/topics", "/consumers"):
            self.client.ensure_path(path)
        self.client.ensure_path(DELETE_TOPICS)
        self.client.create("/cluster/id", json.dumps({"version": "1", "id": CLUSTER_ID}).encode())
        self.client.create("/controller_epoch", b"1")
        for broker_id in range(1, brokers + 1):
            self.client.create(
                f"/brokers/ids/{broker_id}", _registration(broker_id, f"r{(broker_id - 1) % 3 + 1}")
            )
        controller = {"version": 1, "brokerid": 1, "timestamp": "0"}
        self.client.create("/controller", json.dumps(controller).encode(), ephemeral=True)

    def _serve(self) -> None:
        while not self._ended.is_set():
            self._wake.clear()
            with suppress(KazooException):
                self._look()
            self._wake.wait(_LOOK_S)

    def _look(self) -> None:
        for path, obey in (
            (REASSIGN_PARTITIONS, self._reassign),
            (PREFERRED_REPLICA_ELECTION, self._elect),
        ):
            # The watch is what four-letter words show of a controller that listens.
            if (
                self.client.exists(path, watch=lambda _: self._wake.set()) is None
                or self.manner is Manner.HOLD
            ):
                continue
            if self.manner is not Manner.REJECT:
                obey(json.loads(self.client.get(path)[0])["partitions"])
            if self.manner is not Manner.BEGIN:
                self.client.delete(path)
        if self.manner is not Manner.HOLD:
            self._take_up_topics()
        for topic in self.client.get_children(DELETE_TOPICS):
            if self.manner is Manner.OBEY:
                self.delete_topic(topic)
            if self.manner is not Manner.HOLD:
                self.client.delete(f"{DELETE_TOPICS}/{topic}")

    def _take_up_topics(self) -> None:
        # New topics and new partitions get their leaders.
        with self._topics:
            for topic in self.client.get_children("/brokers/topics"):
                found = self.client.exists(f"/brokers/topics/{topic}")
                if found is None or self._taken_up.get(topic) == (found.czxid, found.version):
                    continue
                made = set(self.children(f"/brokers/topics/{topic}/partitions"))
                for number, ids in self.replicas(topic).items():
                    if str(number) not in made:
                        self.client.create(_state_path(topic, number), _state(ids), makepath=True)
                self._taken_up[topic] = found.czxid, found.version

    def _reassign(self, entries: Sequence[Mapping[str, Any]]) -> None:
        by_topic: dict[str, dict[int, list[int]]] = {}
        for entry in entries:
            by_topic.setdefault(entry["topic"], {})[entry["partition"]] = entry["replicas"]
        for topic, targets in by_topic.items():
            if self.client.exists(f"/brokers/topics/{topic}") is None:
                continue
            before = self.replicas(topic)
            if self.manner is Manner.OBEY:
                self._finish(topic, {**before, **targets})
            else:
                unions = {
                    number: list(dict.fromkeys([*ids, *before[number]]))
                    for number, ids in targets.items()
                }
                self._write_topic(topic, {**before, **unions})

    def _finish(self, topic: str, after: Mapping[int, Sequence[int]]) -> None:
        before = self.replicas(topic)
        leaders = self.leaders(topic)
        moved = [number for number, ids in after.items() if list(ids) != before.get(number)]
        for start in range(0, len(moved), _CHUNK):
            transaction = self.client.transaction()
            for number in moved[start : start + _CHUNK]:
                leader = leaders.get(number)
                stays = leader if leader in after[number] else None
                transaction.set_data(_state_path(topic, number), _state(after[number], stays))
            transaction.commit()
        self._write_topic(topic, after)

    def _write_topic(self, topic: str, replicas: Mapping[int, Sequence[int]]) -> None:
        value = encode_topic({number: tuple(ids) for number, ids in replicas.items()})
        if self.client.get(f"/brokers/topics/{topic}")[0] != value:
            self.client.set(f"/brokers/topics/{topic}", value)

    def _elect(self, entries: Sequence[Mapping[str, Any]]) -> None:
        for entry in entries:
            path = _state_path(entry["topic"], entry["partition"])
            preferred = self.replicas(entry["topic"])[entry["partition"]][0]
            state = json.loads(self.client.get(path)[0])
            self.client.set(path, json.dumps({**state, "leader": preferred}).encode())


def _state_path(topic: str, number: int) -> str:
    return f"/brokers/topics/{topic}/partitions/{number}/state"


def _state(replicas: Sequence[int], leader: int | None = None) -> bytes:
    value = {
        "controller_epoch": 1,
        "leader": replicas[0] if leader is None else leader,
        "version": 1,
        "leader_epoch": 0,
        "isr": list(replicas),
    }
    return json.dumps(value, separators=(",", ":")).encode()


def _registration(broker_id: int, rack: str) -> bytes:
    value = {
        "version": 4,
        "host": "127.0.0.1",
        "port": 9092,
        "endpoints": ["SSL://127.0.0.1:9092"],
        "listener_security_protocol_map": {"SSL": "SSL"},
        "rack": rack,
        "timestamp": str(broker_id),
        "jmx_port": -1,
    }
    return json.dumps(value).encode()
