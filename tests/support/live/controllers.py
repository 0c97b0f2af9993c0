"""Moves, deafens and fails the controllers of a live cluster."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import NoNodeError
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kazoo.client import KazooClient

    from kadmin.worlds.zookeeper.wire.store import Store


REASSIGN = "/admin/reassign_partitions"
QUIET_S = 10


class Controllers:
    """The controllers of a live cluster in the chroot /kafka, one after the other."""

    def __init__(self, store: Store, raw: KazooClient, version: tuple[int, ...]) -> None:
        self._store = store
        self._raw = raw
        self._version = version

    def epoch(self) -> int:
        """Return how many controllers have been elected."""
        return int(self._get("/controller_epoch") or b"0")

    def move(self) -> None:
        """Let another broker become controller, once, and wait until all brokers watch the new
        one.
        """
        self.wait()
        self._raw.delete("/kafka/controller")
        self.wait()

    def wait(self) -> None:
        """Wait until there is a controller and every live broker watches it: only then may it be
        moved again.

        Where ZooKeeper does not tell, its epoch must have stood still for a while.
        """

        def watched() -> bool:
            if self._get("/controller") is None:
                return False
            answer = next(iter(self._store.four_letter_words("wchp").values()))
            if answer is None:
                stat = self._raw.exists("/kafka/controller_epoch")
                return bool(time.time() - stat.mtime / 1000 > QUIET_S)
            block = answer.partition("/kafka/controller\n")[2].split("\n/")[0]
            return block.count("0x") >= len(self._raw.get_children("/kafka/brokers/ids"))

        wait_until(watched, 60)

    def loops(self) -> bool:
        """Move the controller once over what the next one cannot read, and see whether elections go
        on without end.

        On 0.10.2 every broker is waited for: one that has not failed yet would end the loop with
        its cause.
        """
        self.wait()
        before, failed = self.epoch(), set[int]()
        brokers = (
            {int(each) for each in self._raw.get_children("/kafka/brokers/ids")}
            if self._version < (1, 1)
            else failed
        )
        with suppress(NoNodeError):  # one that is new has read it, and failed
            self._raw.delete("/kafka/controller")
        give_up = time.monotonic() + 30
        while self.epoch() <= before + 5:
            if time.monotonic() > give_up:
                return False
        give_up, elected = time.monotonic() + 60, None
        while failed != brokers:
            assert time.monotonic() < give_up, f"only {failed} were elected and failed"
            found = self._get("/controller")
            now = json.loads(found)["brokerid"] if found else None
            failed |= set() if elected in {None, now} else {elected}
            elected = now
        return True

    def loses_its_controller(self, seconds: float = 60) -> bool:
        """Delete `/controller` as soon as it is there until nobody is elected for 5 s: up to 1.0
        somebody always is.

        From 1.1 on brokers miss a deletion that comes before they watch again.
        """
        gone_since, pause = time.monotonic(), threading.Event()
        give_up = gone_since + seconds
        while time.monotonic() < give_up:
            try:
                self._raw.delete("/kafka/controller")
                gone_since = time.monotonic()
            except NoNodeError:
                if time.monotonic() - gone_since > 5:
                    return True
                pause.wait(0.002)
        return False

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Run with a controller that does not watch the reassignment node; moving it cures that."""
        self.deafen()
        try:
            yield
        finally:
            self.move()
            wait_until(lambda: self._get(REASSIGN) is None, 60)
            wait_until(self.hears_a_probe, 60)

    def deafen(self) -> None:
        """Let an operator delete a node by hand, which ends the controller's watch (from 1.1
        on).
        """
        for attempt in range(1, 20):
            self.create_and_delete_by_hand(attempt * 0.05)
            if not self.hears_a_probe():
                return
        pytest.fail("the controller stayed attentive")

    def create_and_delete_by_hand(self, between_s: float) -> None:
        """Create a node that nobody can read and delete it: the controller's one-shot watch goes
        with it (from 1.1).

        Deleted before the controller has read it, the node leaves the watch armed: that takes some
        milliseconds. A controller that is late with an entry it was given before deletes the node
        itself.
        """
        path = f"/kafka{REASSIGN}"
        self._raw.create(path, b'{"version":1}')
        threading.Event().wait(between_s)
        with suppress(NoNodeError):
            self._raw.delete(path)

    def hears_a_probe(self, patience_s: float = 3) -> bool:
        """Whether a reassignment of a topic that cannot exist is consumed; one that is not is taken
        away again.
        """
        self.reassign({"topic": "!heard", "partition": 0, "replicas": [1]})
        give_up = time.monotonic() + patience_s
        while self._get(REASSIGN) is not None:
            if time.monotonic() > give_up:
                self._raw.delete(f"/kafka{REASSIGN}")
                return False
            threading.Event().wait(0.05)
        return True

    def supersede(self, entry: Mapping[str, Any]) -> None:
        """Write one entry into the live node and move the controller, in one transaction.

        Written again if the old controller, still busy to take up what was there, wrote that over
        it; not if the next one has taken that up already.
        """
        payload = _node_of(entry)

        def written() -> bool:
            self.wait()
            before, transaction = self.epoch(), self._raw.transaction()
            transaction.set_data(f"/kafka{REASSIGN}", payload)
            transaction.delete("/kafka/controller")
            if any(isinstance(result, Exception) for result in transaction.commit()):
                return self._get(REASSIGN) is None
            wait_until(lambda: self.epoch() > before, 60)
            return bool(json.loads(self._get(REASSIGN) or payload) == json.loads(payload))

        wait_until(written, 60)

    def reassign(self, entry: Mapping[str, Any]) -> None:
        """Create a reassignment node of one entry."""
        self._raw.create(f"/kafka{REASSIGN}", _node_of(entry))

    def _get(self, path: str) -> bytes | None:
        return read_znode(self._raw, path)


def read_znode(raw: KazooClient, path: str) -> bytes | None:
    """Read a znode below the chroot, None where there is none."""
    try:
        data: bytes = raw.get(f"/kafka{path}")[0]
    except NoNodeError:
        return None
    return data


def _node_of(entry: Mapping[str, Any]) -> bytes:
    """Write a reassignment node of one entry as Kafka's own tools do."""
    return json.dumps({"version": 1, "partitions": [entry]}, separators=(",", ":")).encode()
