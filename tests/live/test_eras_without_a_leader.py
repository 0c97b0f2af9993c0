"""Claims of tests/support/eras/claims.py on partitions without a leader, on the live brokers of
every version under test.

Broker 1, which alone had all records, is stopped once for all of them; broker 4 is the controller.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import CLAIMS, claim
from support.eras.clients import NAMES as CLIENTS
from support.eras.clients import Clients
from support.eras.kraft import UNCLEAN, elect, in_flight, reassign
from support.eras.offline import ENDS, log_ends, lose_leaders
from support.live.controllers import REASSIGN
from support.live.waiting import stays, wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.cluster import Cluster

    from kadmin.cluster.model import PartitionState, Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.matrix,
    pytest.mark.claims(CLAIMS),
]

NAMES: dict[str, Replicas] = {
    **dict.fromkeys(("asked", "configured", "requested", "reordered", "written"), (1, 2, 3)),
    "returned": (1, 2),
    **dict.fromkeys(("lost", "taken_back", "replaced"), (1,)),
}
"""The topics of the tests, of one partition each."""
UNCLEAN_CONFIG = "unclean.leader.election.enable"
EXITS = "Exiting because log truncation is not allowed"
TRANSACTIONS = "__transaction_state"
TRANSACTIONS_PARTITIONS = 50
"""The default of transaction.state.log.num.partitions."""


def seen(cluster: Cluster, name: str) -> str:
    """What the table says for the version under test."""
    return claim(name).seen[cluster.version_text]


@dataclass(frozen=True, slots=True)
class Offline:
    """Partitions whose leader is stopped, by name."""

    cluster: Cluster
    connection: KafkaConnection
    partitions: dict[str, TopicPartition]
    clients: Clients | None
    """None before 0.11, which has no such producers."""

    def state(self, name: str) -> PartitionState:
        partition = self.partitions[name]
        return self.cluster.state(partition.topic).states[partition]

    def replicas(self, name: str) -> Replicas | None:
        partition = self.partitions[name]
        return self.cluster.state(partition.topic).replicas(partition)

    def end(self, name: str, broker: int) -> int | None:
        """Return a broker's log end of a partition; None where the broker does not tell it."""
        partition = self.partitions[name]
        found = log_ends(self.connection, {broker: [partition]}, LogEnd.WRITTEN)
        return found[broker].offsets.get(partition)

    def allow(self, name: str, value: str | None = "true") -> None:
        """Let replicas lead that are not in sync; None takes that back."""
        allow(self.cluster, self.partitions[name].topic, value)

    def elect(self, name: str) -> int:
        """Let an unclean election choose a leader, by the config, and return it."""
        self.allow(name)
        if self.cluster.version < (2,):
            self.cluster.controllers.move()
        wait_until(lambda: self.state(name).leader != NO_LEADER)
        return self.state(name).leader

    def move(self, name: str, target: Replicas) -> None:
        """Create a reassignment node."""
        topic = self.partitions[name].topic
        self.cluster.controllers.reassign(
            {"topic": topic, "partition": 0, "replicas": list(target)}
        )

    def write_all(self, name: str, replicas: Replicas) -> None:
        """Replace the list, set the config, notify of it, and move the controller, in one write."""
        topic, raw = self.partitions[name].topic, self.cluster.raw
        path, config = f"/kafka/brokers/topics/{topic}", f"/kafka/config/topics/{topic}"
        assignment = json.loads(raw.get(path)[0])
        assignment["partitions"]["0"] = list(replicas)
        self.cluster.controllers.wait()
        transaction = raw.transaction()
        transaction.delete("/kafka/controller")
        transaction.set_data(path, json.dumps(assignment).encode())
        transaction.set_data(
            config, json.dumps({"version": 1, "config": {UNCLEAN_CONFIG: "true"}}).encode()
        )
        change = json.dumps({"version": 2, "entity_path": f"topics/{topic}"}).encode()
        transaction.create("/kafka/config/changes/config_change_", change, sequence=True)
        assert not [each for each in transaction.commit() if isinstance(each, Exception)]

    def in_flight_until_another_controller(self, *, foreseen: bool) -> bool:
        """Whether the reassignment node stays until the controller has moved."""
        if not stays(lambda: self.cluster.get(REASSIGN) is not None, foreseen=foreseen):
            return False
        self.cluster.controllers.move()
        wait_until(lambda: self.cluster.get(REASSIGN) is None)
        return True


@pytest.fixture(scope="module")
def offline(cluster: Cluster, live: Sandbox) -> Iterator[Offline]:
    """The controller is on broker 4, since the state of a partition may be left as it is when the
    controller stops with its leader.
    """
    made = {name: cluster.create_topic({0: replicas}) for name, replicas in NAMES.items()}
    partitions = {name: TopicPartition(topic, 0) for name, topic in made.items()}
    written = {partitions[name]: replicas for name, replicas in NAMES.items()}
    move_controller(cluster, 4)
    with KafkaConnection(Servers(cluster.bootstrap)) as connection:
        clients = None
        if cluster.version >= (0, 11):
            keep_coordinators(cluster)
            topic = cluster.create_topic(dict.fromkeys(range(len(CLIENTS)), (1, 2)))
            clients = Clients(connection, topic, newest=False)
            written |= dict.fromkeys(clients.partitions.values(), (1, 2))
            clients.begin()
        lose_leaders(live, connection, written, clients.go_on if clients else lambda: None)
        cluster.controllers.wait()
        yield Offline(cluster, connection, partitions, clients)
    start(cluster, live, 1)
    if clients is not None:
        cluster.raw.create(f"/kafka/admin/delete_topics/{TRANSACTIONS}", b"")
        wait_until(lambda: cluster.get(f"/brokers/topics/{TRANSACTIONS}") is None)


@pytest.fixture(scope="module")
def clients(cluster: Cluster, offline: Offline) -> Clients | None:
    """Clients whose partitions broker 2 leads."""
    if offline.clients is not None:
        (topic,) = {each.topic for each in offline.clients.partitions.values()}
        allow(cluster, topic)
        if cluster.version < (2,):
            cluster.controllers.move()
        wait_until(lambda: {each.leader for each in cluster.state(topic).states.values()} == {2})
    return offline.clients


def allow(cluster: Cluster, topic: str, value: str | None = "true") -> None:
    """Let replicas lead that are not in sync; None takes that back."""
    config = {} if value is None else {UNCLEAN_CONFIG: value}
    cluster.configure(f"topics/{topic}", config)


def keep_coordinators(cluster: Cluster) -> None:
    """Let a coordinator of every transaction live: broker 4 is not stopped."""
    partitions = {str(number): [4] for number in range(TRANSACTIONS_PARTITIONS)}
    topic = json.dumps({"version": 1, "partitions": partitions}).encode()
    cluster.raw.create(f"/kafka/config/topics/{TRANSACTIONS}", b'{"version":1,"config":{}}')
    cluster.raw.create(f"/kafka/brokers/topics/{TRANSACTIONS}", topic)


def move_controller(cluster: Cluster, broker: int) -> None:
    while cluster.controller() != broker:
        cluster.controllers.move()


def start(cluster: Cluster, live: Sandbox, broker: int) -> None:
    live.start_broker(broker)
    cluster.controllers.wait()
    wait_until(cluster.all_name_the_controller)


def test_state_of_a_lost_leader(cluster: Cluster, live: Sandbox) -> None:
    lone, other = (
        TopicPartition(cluster.create_topic({0: replicas}), 0) for replicas in ([3], [3, 2])
    )

    def leader(partition: TopicPartition) -> int:
        return cluster.state(partition.topic).states[partition].leader

    foreseen = seen(cluster, "state_of_a_lost_leader")
    move_controller(cluster, 3)
    live.stop_broker(3)
    wait_until(lambda: leader(other) == 2)
    kept = stays(lambda: leader(lone) == 3, foreseen=foreseen == "A")
    found = "A" if kept else str(leader(lone))
    start(cluster, live, 3)
    assert found == foreseen


def test_offline_log_ends(cluster: Cluster, offline: Offline) -> None:
    partition = offline.partitions["asked"]
    asked = {broker: [partition] for broker in (2, 3, 4)}
    written, last = (
        log_ends(offline.connection, asked, at) for at in (LogEnd.WRITTEN, LogEnd.LAST)
    )
    assert [written[each].offsets.get(partition) for each in asked] == [ENDS[2], ENDS[3], None]
    codes = {error_name(code): code for code in (6, 9)}
    (elsewhere,) = (codes[name] for name in written[4].refused)
    assert {codes[name] for each in (2, 3) for name in last[each].refused} == {6}
    assert seen(cluster, "offline_log_ends") == (
        f"-2: exact, {elsewhere} elsewhere; -1: refused (6)"
    )


def test_unclean_election_by_config(cluster: Cluster, offline: Offline) -> None:
    foreseen = seen(cluster, "unclean_election_by_config")
    offline.allow("configured")
    waits = stays(
        lambda: offline.state("configured").leader == NO_LEADER,
        foreseen=foreseen.startswith("nothing"),
    )
    if waits:
        cluster.controllers.move()
    wait_until(lambda: offline.state("configured").leader == 2)
    wait_until(lambda: offline.end("configured", 3) == ENDS[2])
    assert offline.state("asked").leader == NO_LEADER
    first = "nothing until there is another controller; " if waits else ""
    assert foreseen == f"{first}B leads, other topics have no leader"


def test_reorder_without_a_leader(cluster: Cluster, offline: Offline) -> None:
    foreseen = seen(cluster, "reorder_without_a_leader")
    offline.move("reordered", (3, 1, 2))
    wait_until(lambda: offline.replicas("reordered") == (3, 1, 2))
    assert offline.state("reordered").leader == NO_LEADER
    stuck = stays(
        lambda: cluster.get(REASSIGN) is not None, foreseen=foreseen.startswith("in the list")
    )
    assert offline.elect("reordered") == 3
    if cluster.get(REASSIGN) is not None:
        cluster.controllers.move()
    wait_until(lambda: cluster.get(REASSIGN) is None)
    wait_until(lambda: {2, 3} <= set(offline.state("reordered").isr))
    assert (offline.replicas("reordered"), offline.end("reordered", 3)) == ((3, 1, 2), ENDS[3])
    where = "in the list at once, in flight until there is another controller"
    assert foreseen == f"{where if stuck else 'ends at once'}; C leads"


def test_unclean_election_by_request(cluster: Cluster, offline: Offline) -> None:
    foreseen = seen(cluster, "unclean_election_by_request")
    if not cluster.has_reassignment_api:
        assert foreseen == "not served"
        return
    controller = cluster.controller()
    codes = [
        elect(offline.connection, offline.partitions[name], UNCLEAN, broker_id=broker)
        for name, broker in (
            ("requested", min({2, 3, 4} - {controller})),
            ("taken_back", controller),
            ("requested", controller),
            ("requested", controller),
        )
    ]
    wait_until(lambda: offline.state("requested").leader == 2)
    assert foreseen == (
        "another broker: 41; no living replica: 83; the controller: 0, B leads; again: 84"
    )
    assert codes == [41, 83, 0, 84]


def test_every_replica_lost(cluster: Cluster, offline: Offline) -> None:
    foreseen = seen(cluster, "every_replica_lost")
    offline.move("lost", (4,))
    assert stays(lambda: offline.state("lost").leader == NO_LEADER)
    assert offline.elect("lost") == 4
    stuck = offline.in_flight_until_another_controller(foreseen="in flight" in foreseen)
    wait_until(lambda: offline.replicas("lost") == (4,))
    produce(offline.connection.servers, {offline.partitions["lost"]: [b"new"]})
    assert offline.end("lost", 4) == 1
    last = "in flight until there is another controller" if stuck else "ends by itself"
    assert foreseen == f"B leads, empty; {last}"


def test_unclean_election_in_one_write(cluster: Cluster, offline: Offline) -> None:
    offline.write_all("written", (3, 1, 2))
    wait_until(lambda: offline.state("written").leader != NO_LEADER)
    assert offline.state("written").leader == 3
    wait_until(lambda: {2, 3} <= set(offline.state("written").isr))
    assert (offline.replicas("written"), offline.end("written", 3)) == ((3, 1, 2), ENDS[3])
    assert cluster.get(REASSIGN) is None
    assert seen(cluster, "unclean_election_in_one_write") == "C leads"


def test_every_replica_lost_in_one_write(cluster: Cluster, offline: Offline) -> None:
    offline.write_all("replaced", (4,))
    wait_until(lambda: offline.state("replaced").leader == 4)
    produce(offline.connection.servers, {offline.partitions["replaced"]: [b"new"]})
    assert offline.end("replaced", 4) == 1
    assert offline.replicas("replaced") == (4,)
    assert seen(cluster, "every_replica_lost_in_one_write") == "B leads, empty"


def test_null_without_a_leader(cluster: Cluster, offline: Offline) -> None:
    foreseen = seen(cluster, "null_without_a_leader")
    if not cluster.has_reassignment_api:
        assert foreseen == "not served"
        return
    connection, partition = offline.connection, offline.partitions["taken_back"]
    controller = cluster.controller()

    def change(target: Replicas | None) -> int:
        (code,) = reassign(connection, partition, target, broker_id=controller)[1]
        return code

    def null() -> str:
        code = change(None)
        if code:
            return f"refused ({code})"
        wait_until(lambda: in_flight(connection, partition) is None)
        assert offline.replicas("taken_back") == (1,)
        return "ends: [A], without a leader"

    assert change((4,)) == 0
    before = null()
    assert change((4,)) == 0
    assert elect(connection, partition, UNCLEAN, broker_id=controller) == 0
    assert foreseen == f"{before}; {null()}"


def test_consumer_beyond_the_end(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.consumer_beyond_the_end()
    assert found == seen(cluster, "consumer_beyond_the_end")


def test_idempotent_producer_after_a_loss(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.idempotent_producer_after_a_loss()
    assert found == seen(cluster, "idempotent_producer_after_a_loss")


def test_transaction_without_its_end(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.transaction_without_its_end()
    assert found == seen(cluster, "transaction_without_its_end")


def test_transaction_without_its_beginning(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.transaction_without_its_beginning()
    assert found == seen(cluster, "transaction_without_its_beginning")


def test_commit_that_is_lost(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.commit_that_is_lost()
    assert found == seen(cluster, "commit_that_is_lost")


def test_abort_that_is_lost(cluster: Cluster, clients: Clients | None) -> None:
    found = "not served" if clients is None else clients.abort_that_is_lost()
    assert found == seen(cluster, "abort_that_is_lost")


def test_old_leader_returns(cluster: Cluster, live: Sandbox, offline: Offline) -> None:
    """The last one: broker 1 is started."""
    foreseen = seen(cluster, "old_leader_returns")
    assert offline.elect("returned") == 2
    offline.allow("returned", None)
    cluster.controllers.wait()
    live.start_broker(1)
    exits = foreseen.startswith("exits")
    if exits:
        log = live.spec.directory / "broker-1" / "server.log"
        wait_until(lambda: EXITS in log.read_text(encoding="utf-8", errors="replace"))
        offline.allow("returned")
        live.stop_broker(1, kill=True)  # up to 0.10 it hangs on its way out
        live.start_broker(1)
    wait_until(lambda: set(offline.state("returned").isr) == {1, 2})
    assert offline.end("returned", 1) == ENDS[2]
    first = "exits, until the config is there again; " if exits else ""
    assert foreseen == f"{first}truncated, in sync again"
