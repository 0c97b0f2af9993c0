"""Models the Kafka controller on a real ZooKeeper: its writes, its one-shot watches and what it
misses.

The watches are ZooKeeper's own, of the model's session: a controller that went deaf is deaf here by
the same one-shot watch, and `wchp` shows it. Nothing happens without a call: `step` makes the next
single write, of the controller or of a broker whose replica catches up; `run` steps until nothing
is left to do. tests/live/test_controller_model.py holds the model against live brokers of every
era.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kazoo.protocol.states import Callback
from support.controller.reassignments import elect
from support.controller.znodes import BROKER_IDS, TOPICS, TREE, State, Znodes, encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kazoo.client import KazooClient
    from support.controller.elected_controller import ElectedController
    from support.controller.eras import Era
    from support.controller.znodes import Assigned

    from kadmin.cluster.model import Replicas, TopicPartition

CLUSTER_ID = "Z_jcEjghQECxVvc59mF5_Q"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
EVENTS_S = 10


class ControllerModel:
    """A cluster without brokers: their registrations, a controller among them, and topics. For one
    thread at a time.

    `copies_held`: no replica catches up while it is set. Racks are r1, r2, r3, r1, ... by broker
    id.
    """

    def __init__(
        self, client: KazooClient, chroot: str, era: Era, brokers: Sequence[int] = (1, 2, 3, 4)
    ) -> None:
        self.znodes = Znodes(client, chroot)
        self.era = era
        self.copies_held = False
        self._lock = threading.RLock()
        self._last_controller = 0
        self._elected: ElectedController | None = None
        cluster_id = encode({"version": "1", "id": CLUSTER_ID})
        self.znodes.create_all(
            [*((path, b"") for path in TREE), (CONTROLLER_EPOCH, b"0"), ("/cluster/id", cluster_id)]
        )
        for broker in brokers:
            self.start_broker(broker)
        self.run()

    @property
    def elected(self) -> ElectedController:
        """The present controller's memory."""
        assert self._elected is not None
        return self._elected

    @property
    def controller(self) -> int:
        """The present controller's broker."""
        return self.elected.broker_id

    def step(self) -> bool:
        """Make the next write, whoever's turn it is; False when there is nothing to do."""
        with self._lock:
            self._deliver_events()
            if not self._controller_watched():
                return self._elect_controller()
            return self.elected.step() or self._catch_up()

    def run(self, steps: int | None = None) -> None:
        """Make that many writes, or all there are."""
        while steps != 0 and self.step():
            steps = None if steps is None else steps - 1

    def create_topic(self, topic: str, replicas: Mapping[int, Replicas]) -> None:
        """Create a topic as the old admin tools do; the controller opens it in its next steps."""
        value = encode(
            {"version": 1, "partitions": {str(number): ids for number, ids in replicas.items()}}
        )
        config = encode({"version": 1, "config": {}})
        self.znodes.create_all([(f"/config/topics/{topic}", config), (f"{TOPICS}/{topic}", value)])

    def start_broker(self, broker_id: int) -> None:
        """Register a broker."""
        listener = "SSL://127.0.0.1:9092"
        value = {
            "version": self.era.registration_format,
            "host": "127.0.0.1",
            "port": 9092,
            "jmx_port": -1,
            "timestamp": "0",
            "endpoints": [listener],
            "listener_security_protocol_map": {"SSL": "SSL"},
            "rack": f"r{(broker_id - 1) % 3 + 1}",
        }
        self.znodes.create(f"{BROKER_IDS}/{broker_id}", encode(value), ephemeral=True)

    def kill_broker(self, broker_id: int) -> None:
        """Let a broker's registration go, and with it the controller, where that was it."""
        self.znodes.delete(f"{BROKER_IDS}/{broker_id}")
        if self._elected is not None and self.controller == broker_id:
            self.fail_over()

    def fail_over(self) -> None:
        """Delete `/controller`: in the next step another broker takes over, with nothing in its
        memory.
        """
        self.znodes.delete(CONTROLLER)

    def live_brokers(self) -> list[int]:
        """The registered brokers."""
        return sorted(int(name) for name in self.znodes.children(BROKER_IDS))

    def assigned(self, topic: str) -> dict[TopicPartition, Assigned]:
        """Read a topic znode."""
        return self.znodes.assigned(topic)

    def state(self, partition: TopicPartition) -> State:
        """Read a partition's state."""
        return self.znodes.state(partition) or State()

    def _catch_up(self) -> bool:
        lagging = None if self.copies_held else next(self.elected.lagging(), None)
        if lagging is None:
            return False
        self.elected.catch_up(*lagging)
        return True

    def _elect_controller(self) -> bool:
        # A removed controller does not win the very next election where there is anybody else.
        live = self.live_brokers()
        if not live:
            return False
        chosen = next((broker for broker in live if broker > self._last_controller), live[0])
        if self._elected is not None:
            self._elected.over = True
        epoch = int(self.znodes.get(CONTROLLER_EPOCH) or b"0") + 1
        value = {"version": self.era.controller_format, "brokerid": chosen, "timestamp": "0"}
        if self.era.controller_format > 1:
            value["kraftControllerEpoch"] = -1
        self.znodes.create(CONTROLLER, encode(value), ephemeral=True)
        self.znodes.put(CONTROLLER_EPOCH, str(epoch).encode())
        self._controller_watched()
        self._elected = elect(self.znodes, self.era, chosen, epoch)
        self._last_controller = chosen
        return True

    def _controller_watched(self) -> bool:
        """Look whether there is a controller; every broker keeps a watch on it, as `wchp` shows."""
        return self.znodes.exists(CONTROLLER, _nothing)

    def _deliver_events(self) -> None:
        # ZooKeeper sends a watch's event before the answer to a later request; kazoo calls back in
        # order.
        self.znodes.client.sync(self.znodes.chroot or "/")
        delivered = threading.Event()
        self.znodes.client.handler.dispatch_callback(Callback("watch", delivered.set, ()))
        assert delivered.wait(EVENTS_S)


def _nothing(_event: object) -> None:
    """See the event, and do nothing: the next step looks for itself."""
