"""Reassignments through the brokers' API, on a live cluster in KRaft mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic, set_configs, wait_assigned

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.operations.context import Clock
from kadmin.operations.events import Note, StepPublished
from kadmin.operations.execute.apply import apply, prepare
from kadmin.operations.reading.snapshot import take_snapshot
from kadmin.operations.reading.verify import verify
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import refused_by_cluster, waves_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan, WaveLimits
from kadmin.worlds.kafka.cluster import kafka_context

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.context import Context
    from kadmin.operations.events import Event
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.live


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def context(connection: KafkaConnection, tmp_path: Path, events: list[Event]) -> Context:
    return kafka_context(connection, tmp_path, Clock(), events.append)


def test_a_snapshot_has_every_broker_rack_replica_and_size(
    context: Context, kraft: Sandbox, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (3, 4)})
    taken = take_snapshot(context, ClusterFacts())
    cluster = taken.inventory.single()
    assert {row.broker_id: row.rack for row in cluster.brokers} == {
        broker: kraft.spec.rack(broker) for broker in kraft.broker_ports
    }
    rows = {row.partition: row for row in cluster.partitions if row.topic == topic}
    assert {number: row.replicas for number, row in rows.items()} == {0: (1, 2), 1: (3, 4)}
    assert (rows[1].leader, set(rows[1].isr or ())) == (3, {3, 4})
    assert taken.no_sizes is None
    assert rows[0].size_bytes == 0


def test_waves_are_published_followed_and_verified(
    context: Context, connection: KafkaConnection, events: list[Event]
) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (2, 3)})
    first, second = (TopicPartition(topic, number) for number in (0, 1))
    targets = (PartitionTarget(first, (3, 4), (1, 2)), PartitionTarget(second, (4, 2), (2, 3)))
    plan = ReassignmentPlan(PlanHeader(name="move"), targets, limits=WaveLimits(max_partitions=1))
    assert prepare(context, plan, ClusterFacts()).settled(dry_run=False) is None
    outcome = apply(context, plan, ClusterFacts(), 0)
    assert outcome.message == "2 partitions at the target"
    wait_assigned(connection, {first: (3, 4), second: (4, 2)})
    assert verify(context, plan).done
    (listing,) = context.operations.listings()
    assert listing.status.state is OperationState.COMPLETED
    steps = context.operations.steps(listing.operation_id)
    assert waves_of(steps) == [0, 1]
    assert (len(steps), refused_by_cluster(steps)) == (2, {})
    assert [event.step for event in events if isinstance(event, StepPublished)] == [1, 2]
    assert not any("probing" in event.text for event in events if isinstance(event, Note))
    assert apply(context, plan, ClusterFacts(), 0).message == "nothing to do"


def test_a_refused_partition_ends_the_operation_with_the_reason(
    context: Context, kraft: Sandbox, connection: KafkaConnection
) -> None:
    """A broker that stops between the look and the request is registered still; one that does not
    exist is refused.
    """
    topic = make_topic(connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, (1, 99), (1, 2)),))
    with pytest.raises(StalePlanError, match="99"):
        apply(context, plan, ClusterFacts(), 0)
    assert context.operations.listings() == ()
    stale = ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, (1, 3), (1, 4)),))
    with pytest.raises(StalePlanError):
        apply(context, stale, ClusterFacts(), 0)
    assert len(kraft.broker_ports) == 4


@pytest.mark.on("4.4.0")  # 4.3.0 accepts replicas on cordoned log dirs, though it tells them
def test_k16_a_partition_that_the_controller_refuses_is_named_with_its_reason(
    context: Context, connection: KafkaConnection
) -> None:
    topic = make_topic(connection, {0: (1, 2), 1: (1, 2)})
    refused, moved = TopicPartition(topic, 0), TopicPartition(topic, 1)
    targets = (PartitionTarget(refused, (2, 4), (1, 2)), PartitionTarget(moved, (1, 3), (1, 2)))
    set_configs(connection, ConfigEntity.of_broker(4), ["cordoned.log.dirs"], "*", 4)
    try:
        with pytest.raises(NotCompletedError, match=str(refused)) as error:
            apply(context, ReassignmentPlan(PlanHeader(), targets), ClusterFacts(), 0)
    finally:
        set_configs(connection, ConfigEntity.of_broker(4), ["cordoned.log.dirs"], None, 4)
    assert "INVALID_REPLICA_ASSIGNMENT: " in (error.value.cause or "")
    assert "cordoned" in (error.value.cause or "")
    wait_assigned(connection, {refused: (1, 2), moved: (1, 3)})
    (listing,) = context.operations.listings()
    assert listing.status.state is OperationState.FAILED
