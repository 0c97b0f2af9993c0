"""Runs a scenario on live brokers or on the controller model, and returns what was written to
ZooKeeper.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

from support.controller.model import ControllerModel
from support.controller.znodes import DELETE_TOPICS, ELECTION, REASSIGN, TOPICS, Znodes
from support.live.waiting import wait_until
from support.zookeeper.transaction_log import DELETE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kazoo.client import KazooClient
    from support.controller.eras import Era
    from support.live.cluster import Cluster
    from support.zookeeper.transaction_log import TransactionLog, Write

    from kadmin.cluster.model import Replicas

QUIET_S = 1.0
"""Controllers react within milliseconds, 0.6 s at most: nothing written for so long, nothing
comes."""


class Side:
    """One cluster with one topic of a scenario; `quiet` returns when the cluster has done all that
    it will do.
    """

    topic: str

    def __init__(self, znodes: Znodes, log: TransactionLog) -> None:
        self.znodes = znodes
        self._log = log
        self._log.new_writes()
        self._writes: list[Write] = []

    def writes(self) -> list[Write]:
        """Everything written since the beginning, in order."""
        self._writes += self._log.new_writes(self.znodes.chroot)
        return self._writes

    def replicas(self, number: int) -> Replicas:
        """The list in the topic znode."""
        found = self.znodes.assigned(self.topic)
        return next(
            each.replicas for partition, each in found.items() if partition.partition == number
        )

    def create_topic(self, replicas: Mapping[int, Replicas]) -> None:
        """Create the topic of the scenario, full ISRs included."""
        raise NotImplementedError

    def hold(self) -> None:
        """Keep new replicas of the topic from catching up."""
        raise NotImplementedError

    def release(self) -> None:
        """Let them."""
        raise NotImplementedError

    def quiet(self) -> None:
        raise NotImplementedError

    def fail_over(self) -> None:
        """Move the controller, once."""
        raise NotImplementedError

    def until(self, condition: Callable[[], bool]) -> None:
        raise NotImplementedError


class LiveSide(Side):
    """Real brokers."""

    def __init__(self, cluster: Cluster, log: TransactionLog) -> None:
        super().__init__(Znodes(cluster.raw, "/kafka"), log)
        self._cluster = cluster

    def create_topic(self, replicas: Mapping[int, Replicas]) -> None:
        self.topic = self._cluster.create_topic(replicas)
        self.quiet()

    def hold(self) -> None:
        self._cluster.produce(self.topic, per_partition=200)
        before = self._throttled()
        self._cluster.throttle(self.topic, "1")
        # A copy that is faster than the news of its throttle ends.
        self.until(
            lambda: all(count > before[broker] for broker, count in self._throttled().items())
        )

    def _throttled(self) -> dict[int, int]:
        """How often each live broker took up configs of its own: rates come after the topic's list
        of replicas.
        """
        live = self._cluster.state().brokers
        return {
            broker: len(self._cluster.overrides(broker, f"brokers/{broker}")) for broker in live
        }

    def release(self) -> None:
        self._cluster.throttle(self.topic, None)

    def quiet(self) -> None:
        pause, last, count = threading.Event(), time.monotonic(), len(self.writes())
        while time.monotonic() - last < QUIET_S:
            pause.wait(0.05)
            if len(self.writes()) > count:
                last, count = time.monotonic(), len(self._writes)

    def fail_over(self) -> None:
        self._cluster.controllers.move()

    def until(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, 60)


class ModelSide(Side):
    """The model."""

    def __init__(
        self, client: KazooClient, chroot: str, era: Era, log: TransactionLog, topic: str
    ) -> None:
        self.model = ControllerModel(client, chroot, era)
        super().__init__(self.model.znodes, log)
        self.topic = topic

    def create_topic(self, replicas: Mapping[int, Replicas]) -> None:
        self.model.create_topic(self.topic, replicas)
        self.model.run()

    def hold(self) -> None:
        self.model.copies_held = True

    def release(self) -> None:
        self.model.copies_held = False

    def quiet(self) -> None:
        self.model.run()

    def fail_over(self) -> None:
        self.model.run()
        self.model.fail_over()

    def until(self, condition: Callable[[], bool]) -> None:
        self.model.run()
        assert condition()


def histories(writes: Iterable[Write], chroot: str, topic: str) -> dict[str, list[Any]]:
    """Return the distinct values, one after the other, of each admin node and of each partition in
    the topic znode.
    """
    found: dict[str, list[Any]] = {}

    def note(name: str, value: object) -> None:
        history = found.setdefault(name, [])
        if not history or history[-1] != value:
            history.append(value)

    for write in writes:
        path = write.path.removeprefix(chroot)
        data = None if write.op == DELETE else write.data or b""
        if path in {REASSIGN, ELECTION} or path.startswith(f"{DELETE_TOPICS}/"):
            note(path, _admin_value(data))
        elif path == f"{TOPICS}/{topic}":
            for number, value in _partitions(data).items():
                note(f"{topic}-{number}", value)
    return dict(sorted(found.items()))


def _admin_value(data: bytes | None) -> object:
    try:
        value = json.loads(data or b"null")
    except ValueError:
        return (data or b"").decode()
    if isinstance(value, dict) and "partitions" in value:
        return sorted(
            f"{each['topic']}-{each['partition']} {each.get('replicas')}"
            for each in value["partitions"]
        )
    return value


def _partitions(data: bytes | None) -> dict[str, object]:
    if data is None:
        return {"*": None}
    value = json.loads(data)
    adding, removing = value.get("adding_replicas", {}), value.get("removing_replicas", {})
    return {
        number: [ids, sorted(adding.get(number, [])), sorted(removing.get(number, []))]
        for number, ids in sorted(value["partitions"].items())
    }
