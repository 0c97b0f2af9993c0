"""F37: `cancel --now` in each era: exact original order, added copies gone from disk, other entries
unharmed.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from support.documents.plans import document, reassignment
from support.eras.claims import claim
from support.live.cluster import UNREGISTERED
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, Side
from support.zookeeper.fault_proxy import MULTI, FaultProxy

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import BusyError, KadminError
from kadmin.operations.context import Clock
from kadmin.operations.execute import takeover
from kadmin.operations.record.steps import CancelStep
from kadmin.operations.record.stop_request import Stop
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from support.live.cluster import Cluster
    from support.network.frame_proxy import Frame

pytestmark = [pytest.mark.live, pytest.mark.executor]

MUCH = [b"x" * 900_000] * 3
"""More than one fetch per partition: a throttled copy of it takes many seconds."""


def cancel(
    cluster: Cluster, operation_id: str, *, allow_foreign: bool = False, connect: str | None = None
) -> str:
    """Cancel as the command does: under the lock, which is free; returns the operation's last
    message.
    """
    clock = Clock(time.monotonic() + 120)
    with Store.connect(connect or cluster.connect) as store:
        context = zookeeper_context(store, Paths(), clock, lambda _: None)
        takeover.stop(context, operation_id, Stop.CANCEL_NOW, 20, allow_foreign=allow_foreign)
        return context.operations.status(operation_id).message


@contextmanager
def in_flight(
    cluster: Cluster, folder: Path, topic: str, targets: dict[int, list[int]]
) -> Iterator[str]:
    """Leave an operation whose only wave is published and copies slowly; yields its id."""
    partitions = [TopicPartition(topic, number) for number in targets]
    produce(Servers(cluster.bootstrap), dict.fromkeys(partitions, MUCH))
    waives = {"replication_factor_change": True, "fewer_racks": True}
    plan = document(folder / f"{topic}.json", reassignment(topic, targets, allow=waives))
    with cluster.held_back(topic):
        applied = cluster.kadmin("apply", plan, "--yes", "--timeout", "2")
        assert applied.status == 8, applied.err
        assert cluster.get(REASSIGN) is not None
        yield cluster.history()[-1].operation_id
    finish(cluster, cluster.history()[-1].operation_id)


def finish(cluster: Cluster, operation_id: str) -> None:
    """Leave nothing of an operation in flight, whatever a failed test left of it."""
    found = next(listing for listing in cluster.history() if listing.operation_id == operation_id)
    if not found.status.state.finished:
        cancel(cluster, operation_id, allow_foreign=True)


def cancels(cluster: Cluster, operation_id: str) -> Sequence[tuple[TopicPartition, ...]]:
    return [step.partitions for step in cluster.steps(operation_id) if isinstance(step, CancelStep)]


def epoch(cluster: Cluster) -> int:
    return cluster.state().controller_epoch


def test_f37_what_is_in_flight_goes_back_in_its_exact_order(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Order is lost in the topic znodes of old controllers; the record has it. A second run changes
    nothing more.
    """
    original = {0: (2, 1), 1: (3, 1, 2)}
    topic = cluster.create_topic(original)
    with in_flight(cluster, tmp_path, topic, {0: [4, 3], 1: [4, 2]}) as operation_id:
        partitions = tuple(TopicPartition(topic, number) for number in original)
        wait_until(lambda: 4 in cluster.on_disk(partitions[0]))
        before = epoch(cluster)
        said = cancel(cluster, operation_id)
        assert "2 partitions back at the original replicas" in said
        assert cluster.get(REASSIGN) is None
        found = cluster.state(topic)
        assert {p.partition: found.replicas(p) for p in partitions} == original
        assert not found.topics[topic].adding_replicas
        assert not found.topics[topic].removing_replicas
        assert all(set(found.states[p].isr) == set(original[p.partition]) for p in partitions)
        if claim("copy_of_a_cancelled_reassignment").seen[cluster.version_text] == "stays on disk":
            assert f"{partitions[0]} on broker 4" in said, (
                "told, as Kafka's own cancel leaves them too"
            )
        else:
            wait_until(
                lambda: all(cluster.on_disk(p) == set(original[p.partition]) for p in partitions)
            )
            assert "stay on disk" not in said
        assert epoch(cluster) == before + 1, "the controller was moved once"

        assert "2 partitions back at the original replicas" in cancel(cluster, operation_id)
        assert cancels(cluster, operation_id) == [partitions]
        assert epoch(cluster) == before + 1
    again = document(tmp_path / "again.json", reassignment(topic, {0: [1, 2]}))
    assert cluster.kadmin("apply", again, "--yes").status == 0, "the new controller listens"


def test_f37_entries_of_others_are_unharmed_and_start_only_when_allowed(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic, other = (
        cluster.create_topic({0: [1, 2]}),
        cluster.create_topic({0: [1, 2]}, prefix="other"),
    )
    with in_flight(cluster, tmp_path, topic, {0: [3, 4]}) as operation_id:
        ours = json.loads(cluster.get(REASSIGN) or b"")["partitions"]
        foreign = {"topic": other, "partition": 0, "replicas": [UNREGISTERED, 2]}
        value = json.dumps({"version": 1, "partitions": [foreign, *ours]}, separators=(",", ":"))
        cluster.raw.set(f"/kafka{REASSIGN}", value.encode())
        if cluster.version >= (1, 1):  # older controllers see the change, and begin by themselves
            with pytest.raises(BusyError, match=f"{other}-0"):
                cancel(cluster, operation_id)
            assert cluster.get(REASSIGN) == value.encode(), "nothing was changed"
            assert cancels(cluster, operation_id) == []
        else:
            wait_until(lambda: len(cluster.state(other).topics[other].replicas[0]) > 2)
        assert "1 partition back at the original replicas" in cancel(
            cluster, operation_id, allow_foreign=True
        )
        assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (1, 2)
        assert json.loads(cluster.get(REASSIGN) or b"")["partitions"] == [foreign], (
            "in flight, as its owner wrote it"
        )
        assert set(cluster.state(other).replicas(TopicPartition(other, 0)) or ()) == {
            1,
            2,
            UNREGISTERED,
        }
        cluster.controllers.supersede({"topic": other, "partition": 0, "replicas": [1, 2]})
        wait_until(lambda: cluster.get(REASSIGN) is None, 60)


def test_a_node_deleted_by_hand_is_no_obstacle(cluster: Cluster, tmp_path: Path) -> None:
    """What runs, runs on without it (2.4), or would stay a union for good (2.3); from 1.1 on nobody
    watches.
    """
    topic = cluster.create_topic({0: [2, 1]})
    with in_flight(cluster, tmp_path, topic, {0: [3, 4]}) as operation_id:
        cluster.raw.delete(f"/kafka{REASSIGN}")
        assert "1 partition back at the original replicas" in cancel(cluster, operation_id)
        assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 1)
        assert cluster.get(REASSIGN) is None


@pytest.mark.on("1.1.1", "2.8.2")
def test_a_lost_reply_does_not_move_the_controller_twice(cluster: Cluster, tmp_path: Path) -> None:
    """Killed right after the write: the step record and the node tell the next run that it was
    asked for already.
    """
    topic = cluster.create_topic({0: [2, 1]})

    def supersedes(frame: Frame) -> bool:
        return frame.side is Side.REQUEST and frame.op == MULTI and b'"cancel"' in frame.body

    with in_flight(cluster, tmp_path, topic, {0: [3, 4]}) as operation_id:
        before = epoch(cluster)
        host, port = cluster.connect.split("/")[0].split(":")
        with FaultProxy((host, int(port))) as proxy:
            proxy.faults.append(Fault(Action.CUT_AFTER, supersedes, then=proxy.refuse))
            with pytest.raises(KadminError, match="outcome"):
                cancel(cluster, operation_id, connect=f"{proxy.connect_string}/kafka")
        assert "1 partition back at the original replicas" in cancel(cluster, operation_id)
        assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 1)
        assert len(cancels(cluster, operation_id)) == 1
        assert epoch(cluster) == before + 1


def test_f37_a_partition_whose_replicas_are_all_dead_goes_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The ISR keeps its last member: nothing was written meanwhile, and nothing is lost."""
    topic = cluster.create_topic({0: [3]})
    partition = TopicPartition(topic, 0)
    with in_flight(cluster, tmp_path, topic, {0: [1]}) as operation_id:
        with cluster.broker_down(3):
            assert "1 partition back at the original replicas" in cancel(cluster, operation_id)
            assert cluster.state(topic).replicas(partition) == (3,)
            assert cluster.get(REASSIGN) is None
        wait_until(lambda: cluster.state(topic).states[partition].leader == 3)
        assert cluster.read_back(topic) == {partition: MUCH}


def test_what_is_done_stays(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    assert (
        cluster.kadmin(
            "apply", document(tmp_path / "p.json", reassignment(topic, {0: [2, 1]})), "--yes"
        ).status
        == 0
    )
    operation_id = cluster.history()[-1].operation_id
    assert "1 partition at the target" in cancel(cluster, operation_id)
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 1), "what is done stays"


@pytest.mark.on("2.8.2")
def test_the_doctor_names_copies_that_stay_and_what_it_advises_removes_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    partition = TopicPartition(topic, 0)
    with in_flight(cluster, tmp_path, topic, {0: [3, 4]}) as operation_id:
        wait_until(lambda: {3, 4} < cluster.on_disk(partition))
        said = cancel(cluster, operation_id)
        assert (
            f"unused copies stay on disk, see kadmin doctor: {partition} on broker 3 (0 B)" in said
        )
    assert f"{partition} (0 B)" in unused(cluster)["evidence"][0]

    plan = reassignment(topic, {0: [1, 2, 3, 4]}, allow={"replication_factor_change": True})
    assert cluster.kadmin("apply", document(tmp_path / "back.json", plan), "--yes").status == 0
    assert cluster.kadmin("rollback", "--yes").status == 0
    wait_until(lambda: cluster.on_disk(partition) == {1, 2})
    assert str(partition) not in str(unused(cluster))


def unused(cluster: Cluster) -> dict[str, Any]:
    """What the doctor says of copies that nothing uses."""
    findings = json.loads(cluster.kadmin("doctor", "-o", "json").out)["findings"]
    return next((found for found in findings if found["trouble"] == "unused-copies"), {})
