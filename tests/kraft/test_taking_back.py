"""Reassignments that are paused, cancelled and rolled back through the brokers' API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.kraft import (
    THROTTLED_REPLICAS,
    elect_uncleanly,
    held_back,
    make_topic,
    wait_assigned,
)
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.errors import StalePlanError
from kadmin.operations.context import Clock
from kadmin.operations.events import StepPublished
from kadmin.operations.execute.apply import apply
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments, list_reassignments

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.cluster.model import Replicas
    from kadmin.operations.events import Event
    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live


def replicas(cluster: KraftCluster, partition: TopicPartition) -> Replicas | None:
    return read_cluster(cluster.connection, [partition.topic]).replicas(partition)


def test_cancel_now_restores_the_exact_order_and_rollback_the_rest(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (2, 1), 1: (1, 2), 2: (3, 1)})
    done, moving, waiting = (TopicPartition(topic, number) for number in range(3))
    value = reassignment(topic, {0: [1, 2], 1: [2, 3], 2: [4, 2]}, waves={"max_partitions": 1})
    plan = document(tmp_path / "plan.json", value)
    with held_back(cluster.connection, [moving]):
        cluster.leave_in_flight(plan, step=2)
        assert set(list_reassignments(cluster.connection)) == {moving}
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        assert cluster.history()[-1]["state"] == "cancelled"
        assert [replicas(cluster, each) for each in (done, moving, waiting)] == [
            (1, 2),
            (1, 2),
            (3, 1),
        ]
    rolled = cluster.kadmin("rollback", "--yes")
    assert rolled.status == 0, rolled.err
    assert replicas(cluster, done) == (2, 1)
    assert list_reassignments(cluster.connection) == {}


@pytest.mark.eras
def test_a_paused_operation_publishes_nothing_until_it_is_resumed(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2), 1: (1, 2)})
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, {0: [3, 4], 1: [3, 4]}, waves={"max_partitions": 1}),
    )
    with held_back(cluster.connection, [first]):
        cluster.leave_in_flight(plan, step=1)
    paused = cluster.kadmin("pause")
    assert paused.status == 0, paused.err
    assert cluster.history()[-1]["state"] == "paused"
    assert [replicas(cluster, each) for each in (first, second)] == [(3, 4), (1, 2)]
    resumed = cluster.kadmin("resume", "--yes")
    assert resumed.status == 0, resumed.err
    wait_assigned(cluster.connection, dict.fromkeys((first, second), (3, 4)))


def test_k15_cancel_foreign_ends_what_another_tool_reassigns(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    with held_back(cluster.connection, [partition]):
        alter_reassignments(cluster.connection, {partition: (3, 4)})
        plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
        refused = cluster.kadmin("apply", plan, "--yes")
        assert (refused.status, str(partition) in refused.err) == (5, True)
        ended = cluster.kadmin("cancel", "--foreign", "--yes")
        assert ended.status == 0, ended.err
        assert "1 reassignment of other tools ended" in ended.out
        assert replicas(cluster, partition) == (1, 2)
        assert list_reassignments(cluster.connection) == {}


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param((1, 3), id="another target"),
        pytest.param(None, id="cancelled", marks=[pytest.mark.eras, pytest.mark.on("4.4.0")]),
    ],
)
def test_k15_a_reassignment_of_ours_that_another_tool_changes_is_stale(
    cluster: KraftCluster, theirs: Replicas | None
) -> None:
    """The operation ends with the partition's name; what the other tool asked for stays as it
    is.
    """
    connection = cluster.connection
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, (3, 4), (1, 2)),))

    def interfere(event: Event) -> None:
        if isinstance(event, StepPublished):
            assert event.step == 1, "nothing is sent against the other tool"
            assert alter_reassignments(connection, {partition: theirs}) == {partition: None}

    with held_back(connection, [partition]):
        with pytest.raises(StalePlanError, match=f"Changed by others .*: {partition}"):
            apply(kafka_context(connection, None, Clock(), interfere), plan, ClusterFacts(), 0)
        assert set(list_reassignments(connection)) == (set() if theirs is None else {partition})
        for original in ((1, 2), None):
            alter_reassignments(connection, {partition: original})
    wait_assigned(connection, {partition: (1, 2)})


@pytest.mark.eras
def test_k15_cancel_foreign_restores_the_order_of_a_file(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """Brokers keep the original replicas in the order of the target."""
    topic = make_topic(cluster.connection, {0: (2, 1)})
    partition = TopicPartition(topic, 0)
    origin = document(tmp_path / "origin.json", reassignment(topic, {0: [2, 1]}))
    with held_back(cluster.connection, [partition]):
        alter_reassignments(cluster.connection, {partition: (1, 3)})
        ended = cluster.kadmin("cancel", "--foreign", "--origin", origin, "--yes")
        assert ended.status == 0, ended.err
        assert replicas(cluster, partition) == (2, 1)
        assert list_reassignments(cluster.connection) == {}


@pytest.mark.matrix
def test_k14_a_reassignment_to_a_broker_that_died_is_named_and_cancelled(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    """Kafka waits for a dead broker for ever. Before the request kadmin refuses it and names those
    alive.
    """
    topic = make_topic(cluster.connection, {0: (2, 1), 1: (2, 1)})
    moving, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [3, 4]}))
    with held_back(cluster.connection, [moving]):
        cluster.leave_in_flight(plan, step=1)
        kraft.stop_broker(4, kill=True)
        try:
            wait_until(lambda: 4 not in read_cluster(cluster.connection, []).brokers, 60)
            assert "brokers that are not alive: 4" in cluster.kadmin("status").out
            cancelled = cluster.kadmin("cancel", "--now", "--yes")
            assert cancelled.status == 0, cancelled.err
            assert replicas(cluster, moving) == (2, 1)
            late = document(
                tmp_path / "late.json",
                reassignment(topic, {1: [1, 4]}, allow={"fewer_racks": True}),
            )
            refused = cluster.kadmin("apply", late, "--yes")
            assert (refused.status, "are 1, 2, 3)" in refused.err) == (4, True), refused.err
        finally:
            kraft.start_broker(4)
    wait_assigned(cluster.connection, dict.fromkeys((moving, other), (2, 1)))


@pytest.mark.matrix
def test_a_partition_whose_in_sync_replicas_died_is_left_and_everything_else_goes_on(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    """With eligible leaders the controller would end such a reassignment by an unclean election
    only.

    Without them the ISR keeps its last member, and the partition goes back.
    """
    has_elr = kraft.spec.version >= "4.1"
    lone, moving, other = (
        TopicPartition(make_topic(cluster.connection, {0: brokers}), 0)
        for brokers in ((3,), (2, 1), (1, 2))
    )
    value = reassignment(lone.topic, {0: [1]})
    value["spec"]["partitions"] += reassignment(moving.topic, {0: [2, 4]})["spec"]["partitions"]
    plan = document(tmp_path / "plan.json", value)
    late = document(
        tmp_path / "late.json", reassignment(other.topic, {0: [1, 4]}, allow={"fewer_racks": True})
    )
    with held_back(cluster.connection, [lone, moving]):
        cluster.leave_in_flight(plan, step=1)
        kraft.stop_broker(3, kill=True)
        try:
            wait_until(lambda: 3 not in read_cluster(cluster.connection, []).brokers, 60)
            cancelled = cluster.kadmin("cancel", "--now", "--yes")
            assert cancelled.status == (8 if has_elr else 0), cancelled.err
            assert (f"{lone}: no in-sync replica is alive" in cancelled.err) is has_elr
            assert cluster.history()[-1]["state"] == "cancelled"
            assert set(list_reassignments(cluster.connection)) == ({lone} if has_elr else set())
            assert replicas(cluster, moving) == (2, 1)
            applied = cluster.kadmin("apply", late, "--yes")
            assert applied.status == 0, applied.err
        finally:
            kraft.start_broker(3)
        wait_until(
            lambda: read_cluster(cluster.connection, [lone.topic]).states[lone].leader == 3, 60
        )
        ended = cluster.kadmin("cancel", "--foreign", "--yes")
        assert ended.status == 0, ended.err
    wait_assigned(cluster.connection, {lone: (3,), moving: (2, 1)})


@pytest.mark.on("4.4.0")
@pytest.mark.eras
def test_a_partition_without_a_source_waits_alone_where_the_plan_says_so(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    """What was planned beside it is done before; a cancellation removes the throttle of that, and
    keeps its own.
    """
    lone, moving = (
        TopicPartition(make_topic(cluster.connection, {0: brokers}), 0)
        for brokers in ((3,), (2, 1))
    )
    value = reassignment(lone.topic, {0: [1]}, throttle={"rate": "50MB/s"})
    value["spec"]["partitions"] += reassignment(moving.topic, {0: [2, 4]})["spec"]["partitions"]
    plan = document(tmp_path / "plan.json", value)
    value["spec"]["allow"] = {"without_source": True}
    meant = document(tmp_path / "meant.json", value)

    def throttled() -> set[str]:
        names = ConfigEntity.of_topic(lone.topic), ConfigEntity.of_topic(moving.topic)
        found = read_own_configs(cluster.connection, names)
        return {
            str(name) for name in names if any(key in found[name] for key in THROTTLED_REPLICAS)
        }

    kraft.stop_broker(3, kill=True)
    try:
        wait_until(lambda: 3 not in read_cluster(cluster.connection, []).brokers, 60)
        refused = cluster.kadmin("apply", plan, "--yes")
        assert (refused.status, "KA072" in refused.err) == (4, True), refused.err
        cluster.leave_in_flight(meant, step=3)
        assert replicas(cluster, moving) == (2, 4)
        assert throttled() == {f"topics/{lone.topic}", f"topics/{moving.topic}"}
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert (cancelled.status, f"{lone}: no in-sync replica is alive" in cancelled.err) == (
            8,
            True,
        ), cancelled.err
        assert "1 partition at the target" in cancelled.err
        assert throttled() == {f"topics/{lone.topic}"}
    finally:
        kraft.start_broker(3)
    wait_assigned(cluster.connection, {lone: (1,), moving: (2, 4)})
    cleared = cluster.kadmin("throttle", "clear", "--yes")
    assert cleared.status == 0, cleared.err
    assert throttled() == set()


@pytest.mark.on("4.4.0")
@pytest.mark.matrix
def test_an_unclean_election_by_another_tool_is_not_called_nothing(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    """The reassignment then ends at its target, without the records of the dead broker."""
    connection = cluster.connection
    stale = TopicPartition(make_topic(connection, {0: (2, 3)}), 0)
    value = reassignment(stale.topic, {0: [3, 1]}, allow={"without_source": True})
    plan = document(tmp_path / "plan.json", value)
    kraft.stop_broker(3)
    try:
        wait_until(lambda: read_cluster(connection, [stale.topic]).states[stale].isr == (2,), 60)
        kraft.stop_broker(2, kill=True)
        kraft.start_broker(3)
        wait_until(lambda: {3} <= read_cluster(connection, []).brokers.keys() - {2}, 60)
        wait_until(
            lambda: read_cluster(connection, [stale.topic]).states[stale].leader == NO_LEADER, 60
        )
        cluster.leave_in_flight(plan, step=1)
        elect_uncleanly(connection, stale)
        wait_until(lambda: not list_reassignments(connection), 60)
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        assert "nothing was in flight; 1 partition at the target" in cancelled.out
        assert (
            f"without a leader when the operation began, and led now: {stale} by broker 3"
            in cancelled.out
        )
    finally:
        for broker in (2, 3):
            kraft.start_broker(broker)
    wait_assigned(connection, {stale: (3, 1)})
