"""Each claim of tests/support/eras/claims.py, on the live brokers of every version under test."""

from __future__ import annotations

import json
import shutil
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaAdminClient
from kafka import TopicPartition as KafkaTopicPartition
from support.eras.claims import CLAIMS, claim
from support.eras.commits import wait_for_a_lone_log_end
from support.live.cluster import UNREGISTERED
from support.live.controllers import REASSIGN
from support.live.waiting import PATIENCE_S, STAYS_S, stays, wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.cluster import Cluster

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.claims(CLAIMS)]

ELECTION = "/admin/preferred_replica_election"


def seen(cluster: Cluster, name: str) -> str:
    """What the table says for the version under test."""
    return claim(name).seen[cluster.version_text]


def node(*entries: dict[str, object], **more: object) -> bytes:
    return json.dumps(
        {"version": 1, "partitions": list(entries), **more}, separators=(",", ":")
    ).encode()


def stays_elected(cluster: Cluster) -> bool:
    """Whether no other controller is elected for some seconds."""
    cluster.controllers.wait()
    before = cluster.controllers.epoch()
    return stays(lambda: cluster.controllers.epoch() == before)


@pytest.fixture(autouse=True)
def attentive(cluster: Cluster) -> Iterator[None]:
    """Every test leaves a cluster without admin nodes and with a controller that listens."""
    yield
    for path in (REASSIGN, ELECTION):
        if cluster.get(path) is not None:
            cluster.raw.delete(f"/kafka{path}")
    if not cluster.controllers.hears_a_probe():
        cluster.controllers.move()
    wait_until(cluster.controllers.hears_a_probe, 60)


def test_node_deleted_by_hand(cluster: Cluster) -> None:
    foreseen = seen(cluster, "node_deleted_by_hand")

    def heard(between_s: float) -> bool:
        cluster.controllers.create_and_delete_by_hand(between_s)
        return cluster.controllers.hears_a_probe(PATIENCE_S if foreseen == "seen" else STAYS_S)

    heards = [heard(attempt * 0.1) for attempt in range(1, 8)]
    assert ("seen" if all(heards) else "not seen") == foreseen


def test_node_overwritten(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        stuck = json.loads(cluster.get(REASSIGN) or b"{}")["partitions"]
        cluster.raw.set(
            f"/kafka{REASSIGN}", node(*stuck, {"topic": topic, "partition": 1, "replicas": [2, 3]})
        )

        def moved() -> bool:
            return cluster.state(topic).replicas(TopicPartition(topic, 1)) != (1, 2)

        foreseen = seen(cluster, "node_overwritten")
        kept = stays(lambda: not moved(), foreseen=foreseen == "not seen")
        assert ("not seen" if kept else "seen") == foreseen


@pytest.mark.parametrize("name", ["unknown_key", "not_json"])
def test_payload_that_is_not_quite_right(cluster: Cluster, name: str) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    entry = {"topic": topic, "partition": 0, "replicas": [2, 3], "log_dirs": ["any", "any"]}
    cluster.raw.create(f"/kafka{REASSIGN}", node(entry) if name == "unknown_key" else b"{nonsense")
    foreseen = seen(cluster, name)
    gone = not stays(lambda: cluster.get(REASSIGN) is not None, foreseen=foreseen == "node stays")
    moved = gone and not stays(
        lambda: cluster.state(topic).replicas(TopicPartition(topic, 0)) == (1, 2), 0.5
    )
    assert ("runs" if moved else "node deleted" if gone else "node stays") == foreseen


test_unknown_key = test_not_json = test_payload_that_is_not_quite_right


def test_loop_without_its_cause(cluster: Cluster) -> None:
    cluster.raw.create(f"/kafka{ELECTION}", b"null")
    assert cluster.controllers.loops()
    cluster.raw.delete(f"/kafka{ELECTION}")
    if seen(cluster, "loop_without_its_cause") == "ends":
        # An election that was under way as the node went may still end.
        wait_until(lambda: stays_elected(cluster), 60)
        return
    before = cluster.controllers.epoch()
    wait_until(lambda: cluster.controllers.epoch() > before + 5)
    cluster.restart_brokers()


def test_controller_deleted_at_once(cluster: Cluster) -> None:
    if seen(cluster, "controller_deleted_at_once") == "elected every time":
        assert not cluster.controllers.loses_its_controller(seconds=10)
        return
    assert cluster.controllers.loses_its_controller()
    cluster.raw.create(
        "/kafka/controller", b'{"version":1,"brokerid":-1,"timestamp":"1"}', ephemeral=True
    )
    stays(lambda: True, 1)
    cluster.raw.delete("/kafka/controller")
    cluster.controllers.wait()


def test_topic_znode_in_mid_move(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        found = cluster.state(topic).topics[topic]
        assert set(found.replicas[0]) == {UNREGISTERED, 1, 2}
        marked = found.adding_replicas.get(0) == (UNREGISTERED,)
        assert ("adding and removing" if marked else "union") == seen(
            cluster, "topic_znode_in_mid_move"
        )


def test_copy_of_a_cancelled_reassignment(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    partition = TopicPartition(topic, 0)
    produce(Servers(cluster.bootstrap), {partition: [b"x" * 900_000] * 3})
    entry: dict[str, object] = {"topic": topic, "partition": 0}
    with cluster.held_back(topic):
        cluster.raw.create(f"/kafka{REASSIGN}", node({**entry, "replicas": [3, 4]}))
        wait_until(lambda: {3, 4} < cluster.on_disk(partition))
        cluster.controllers.supersede({**entry, "replicas": [1, 2]})
        wait_until(lambda: cluster.get(REASSIGN) is None, 60)
        foreseen = seen(cluster, "copy_of_a_cancelled_reassignment")
        kept = stays(
            lambda: cluster.on_disk(partition) != {1, 2}, 10, foreseen=foreseen == "stays on disk"
        )
    assert ("stays on disk" if kept else "removed") == foreseen


@contextmanager
def unused_copy(cluster: Cluster) -> Iterator[TopicPartition]:
    """Leave a copy on broker 4, which is away while its reassignment is cancelled, and comes
    back.
    """
    topic = cluster.create_topic({0: [1, 2]})
    partition = TopicPartition(topic, 0)
    produce(Servers(cluster.bootstrap), {partition: [b"x" * 900_000] * 3})
    entry: dict[str, object] = {"topic": topic, "partition": 0}
    with cluster.held_back(topic):
        cluster.raw.create(f"/kafka{REASSIGN}", node({**entry, "replicas": [3, 4]}))
        wait_until(lambda: {3, 4} < cluster.on_disk(partition))
        with cluster.broker_down(4):
            cluster.controllers.wait()
            cluster.controllers.supersede({**entry, "replicas": [1, 2]})
            wait_until(lambda: cluster.get(REASSIGN) is None, 60)
    assert cluster.state(topic).replicas(partition) == (1, 2)
    yield partition


def test_unused_copy_after_a_restart(cluster: Cluster) -> None:
    """By hand it is removed: the folder is deleted while its broker is stopped."""
    with unused_copy(cluster) as partition:
        foreseen = seen(cluster, "unused_copy_after_a_restart") == "stays on disk"
        with cluster.broker_down(4):
            pass
        kept = stays(lambda: 4 in cluster.on_disk(partition), 10, foreseen=foreseen)
        assert kept is foreseen
        with cluster.broker_down(4):
            shutil.rmtree(cluster.folder_on_disk(partition, 4))
        assert stays(lambda: 4 not in cluster.on_disk(partition))
        assert set(cluster.state(partition.topic).states[partition].isr) == {1, 2}


def test_unused_copy_assigned_and_taken_away(cluster: Cluster) -> None:
    with unused_copy(cluster) as partition:
        entry: dict[str, object] = {"topic": partition.topic, "partition": 0}
        cluster.controllers.reassign({**entry, "replicas": [1, 2, 4]})
        wait_until(
            lambda: set(cluster.state(partition.topic).states[partition].isr) == {1, 2, 4}, 60
        )
        wait_until(lambda: cluster.get(REASSIGN) is None, 60)
        cluster.controllers.reassign({**entry, "replicas": [1, 2]})
        foreseen = seen(cluster, "unused_copy_assigned_and_taken_away") == "stays on disk"
        assert stays(lambda: 4 in cluster.on_disk(partition), 10, foreseen=foreseen) is foreseen
        wait_until(lambda: cluster.get(REASSIGN) is None, 60)


def test_unknown_target_broker(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        waits = stays(lambda: cluster.get(REASSIGN) is not None)
        assert ("waits for ever" if waits else "ended") == seen(cluster, "unknown_target_broker")


def test_unknown_topic_entry(cluster: Cluster) -> None:
    assert cluster.controllers.hears_a_probe(PATIENCE_S)
    assert seen(cluster, "unknown_topic_entry") == "entry removed"


def test_election_of_unknown_partition(cluster: Cluster) -> None:
    cluster.raw.create(f"/kafka{ELECTION}", node({"topic": "no-such-topic", "partition": 0}))
    foreseen = seen(cluster, "election_of_unknown_partition")
    kept = stays(lambda: cluster.get(ELECTION) is not None, foreseen=foreseen == "node stays")
    found = "node stays" if kept else "node removed"
    if found == "node stays":
        cluster.controllers.move()
        wait_until(lambda: cluster.get(ELECTION) is None)
    assert found == foreseen


def test_election_without_the_preferred(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [4, 3]})
    with cluster.broker_down(4):
        wait_until(lambda: cluster.state(topic).states[TopicPartition(topic, 0)].leader == 3)
        cluster.raw.create(f"/kafka{ELECTION}", node({"topic": topic, "partition": 0}))
        wait_until(lambda: cluster.get(ELECTION) is None)
        assert cluster.state(topic).states[TopicPartition(topic, 0)].leader == 3
    assert seen(cluster, "election_without_the_preferred") == "node removed, leader kept"


def test_reorder_moves_no_leader(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    cluster.raw.create(
        f"/kafka{REASSIGN}", node({"topic": topic, "partition": 0, "replicas": [2, 1]})
    )
    wait_until(lambda: cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 1))
    wait_until(lambda: cluster.get(REASSIGN) is None)
    assert cluster.state(topic).states[TopicPartition(topic, 0)].leader == 1
    assert seen(cluster, "reorder_moves_no_leader") == "leader kept"


def test_deletion_document(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    before = cluster.get("/admin/delete_topics") or b""
    cluster.raw.set(
        "/kafka/admin/delete_topics", json.dumps({"version": 1, "topics": [topic]}).encode()
    )
    try:
        kept = stays(lambda: cluster.get(f"/brokers/topics/{topic}") is not None)
    finally:
        cluster.raw.set("/kafka/admin/delete_topics", before)
    assert ("not read" if kept else "read") == seen(cluster, "deletion_document")


def test_deletion_of_unknown_topic(cluster: Cluster) -> None:
    cluster.raw.create("/kafka/admin/delete_topics/no-such-topic", b"")
    wait_until(lambda: cluster.get("/admin/delete_topics/no-such-topic") is None)
    assert seen(cluster, "deletion_of_unknown_topic") == "child removed"


def test_topic_made_in_version_1(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    found = cluster.state(topic).topics[topic]
    version = found.format_version
    assert ("version 1" if version == 1 else f"rewritten to version {version}") == seen(
        cluster, "topic_made_in_version_1"
    )


def test_broker_registration(cluster: Cluster) -> None:
    brokers = cluster.state().brokers.values()
    versions = {broker.registration_version for broker in brokers}
    assert versions == {int(seen(cluster, "broker_registration").removeprefix("version "))}


def test_controller_znode(cluster: Cluster) -> None:
    value = json.loads(cluster.get("/controller") or b"{}")
    assert f"version {value['version']}" == seen(cluster, "controller_znode")
    assert value.get("kraftControllerEpoch", -1) == -1


def test_sizes_by_request(cluster: Cluster) -> None:
    try:
        sizes = describe_log_dirs(Servers(cluster.bootstrap), [1, 2, 3, 4]).sizes
    except NotCompletedError:
        assert seen(cluster, "sizes_by_request") == "not served"
    else:
        assert set(sizes) == {1, 2, 3, 4}
        assert seen(cluster, "sizes_by_request") == "served"


def test_room_on_disk(cluster: Cluster, live: Sandbox) -> None:
    """Kafka 3.3 added it, in version 4 of the request."""
    try:
        usable = describe_log_dirs(Servers(cluster.bootstrap), [1, 2, 3, 4]).usable
    except NotCompletedError:
        usable = {}
    free = shutil.disk_usage(live.spec.directory).free
    reported = seen(cluster, "room_on_disk") == "reported"
    assert usable == (
        {broker: pytest.approx(free, rel=0.02) for broker in (1, 2, 3, 4)} if reported else {}
    )


def test_reassignment_api(cluster: Cluster) -> None:
    assert cluster.has_reassignment_api is (seen(cluster, "reassignment_api") == "served")
    topic = cluster.create_topic({0: [1, 2]})
    if cluster.has_reassignment_api:
        with cluster.api_reassignment(topic, 0):
            assert cluster.get(REASSIGN) is None
            assert cluster.state(topic).topics[topic].adding_replicas
    else:
        with (
            closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin,
            pytest.raises(Exception, match=r"(?i)incompatible|support"),
        ):
            admin.alter_partition_reassignments({KafkaTopicPartition(topic, 0): [3, 4]})


def test_leader_after_a_loss(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [4, 2, 3]})
    partition = TopicPartition(topic, 0)

    def isr() -> Replicas:
        return cluster.state(topic).states[partition].isr

    for _ in range(3):  # broker 3 may have left the ISR for a moment, and be the last in it
        with cluster.broker_down(2):
            wait_until(lambda: 2 not in isr())
        wait_until(lambda: set(isr()) == {4, 3, 2})
        if isr() == (4, 3, 2):
            break
    assert isr() == (4, 3, 2)
    with cluster.broker_down(4):
        wait_until(lambda: cluster.state(topic).states[partition].leader not in {4, NO_LEADER}, 60)
        assert cluster.state(topic).states[partition].leader == 2
    assert seen(cluster, "leader_after_a_loss") == "B, by assignment order"


def test_log_end_beside_high_watermark(cluster: Cluster, live: Sandbox) -> None:
    partition = TopicPartition(cluster.create_topic({0: [1, 2]}), 0)
    wait_for_a_lone_log_end(live, partition)
    assert seen(cluster, "log_end_beside_high_watermark") == "counted by -2 alone"


def test_rate_while_brokers_run(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    partition = TopicPartition(topic, 0)
    with cluster.held_back(topic):
        produce(Servers(cluster.bootstrap), {partition: [b"x" * 900_000] * 40})
        cluster.raw.create(
            f"/kafka{REASSIGN}", node({"topic": topic, "partition": 0, "replicas": [3, 4]})
        )
        wait_until(lambda: {3, 4} < cluster.on_disk(partition))
        assert stays(lambda: cluster.get(REASSIGN) is not None)
        cluster.throttle(topic, "200000000")
        wait_until(lambda: cluster.get(REASSIGN) is None)
    assert cluster.state(topic).replicas(partition) == (3, 4)
    assert seen(cluster, "rate_while_brokers_run") == "both are in force without a restart"
