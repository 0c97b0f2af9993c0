"""Requests to brokers whose answers never come: what becomes of them is read from the cluster."""

from __future__ import annotations

import json
import struct
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from support.kafka.broker_proxy import (
    ALTER_REASSIGNMENTS,
    CREATE_TOPICS,
    LIST_REASSIGNMENTS,
    BrokerProxy,
)
from support.live.kraft import (
    KraftCluster,
    held_back,
    make_topic,
    servers_frozen,
    slow_brokers,
    slow_down,
    wait_assigned,
)
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, Side, reply_of, request_of

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.context import Clock
from kadmin.operations.decide import settling
from kadmin.operations.events import Note, Progressed
from kadmin.operations.execute import takeover
from kadmin.operations.execute.apply import apply
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import (
    CreationStep,
    Sending,
    StepKind,
    intents,
    refused_by_cluster,
)
from kadmin.operations.record.stop_request import Stop
from kadmin.operations.repair.rollback import plan_rollback
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    RecreationPlan,
    TopicRecipe,
)
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire import reassignments
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.network.frame_proxy import Frame

    from kadmin.operations.context import Context
    from kadmin.operations.events import Event
    from kadmin.operations.record.steps import Step
    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("short_settling")]


def plan_of(partition: TopicPartition, target: tuple[int, ...] = (3, 4)) -> ReassignmentPlan:
    return ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, target, (1, 2)),))


def steps_of(context: Context) -> tuple[Step, ...]:
    return context.operations.steps(context.operations.listings()[-1].operation_id)


@pytest.mark.parametrize(
    ("matches", "again"),
    [
        (reply_of(ALTER_REASSIGNMENTS), []),
        pytest.param(request_of(ALTER_REASSIGNMENTS), [Sending.ANSWERED], marks=pytest.mark.eras),
    ],
    ids=["answer cut", "request cut"],
)
def test_k01_a_lost_answer_is_resolved_by_looking(
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    events: list[Event],
    matches: Callable[[Frame], bool],
    again: list[Sending],
) -> None:
    """Applied: it is seen and not sent again. Not applied: the same targets are sent again, after a
    while.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    proxy.faults.append(Fault(Action.CUT_BEFORE, matches))
    assert (
        apply(context, plan_of(partition), ClusterFacts(), 0).message == "1 partition at the target"
    )
    wait_assigned(connection, {partition: (3, 4)})
    lost, *others = steps_of(context)
    assert lost.sending is Sending.UNANSWERED
    assert [intent.targets for _, intent in intents([lost])] == [{partition: (3, 4)}]
    assert [each.sending for each in others] == again
    assert any("was not answered" in event.text for event in events if isinstance(event, Note))
    assert any("settling" in event.reason for event in events if isinstance(event, Progressed))


class Doubtful(BrokerProxy):
    """Puts an error code into the answers to the creation of one topic."""

    def __init__(self, sandbox: Sandbox, topic: str, code: int) -> None:
        super().__init__(sandbox)
        self._topic, self._code = topic.encode(), struct.pack("!h", code)

    def _rewritten(self, frame: Frame) -> bytes:
        body = super()._rewritten(frame)
        if frame.side is Side.REQUEST or frame.op != CREATE_TOPICS or self._topic not in body:
            return body
        # After the name comes the id, and then the code.
        at = body.index(self._topic) + len(self._topic) + 16
        return body[:at] + self._code + body[at + len(self._code) :]


@pytest.mark.parametrize("code", [41, pytest.param(-1, marks=pytest.mark.eras)])
def test_an_answer_that_does_not_say_what_was_done_is_resolved_by_looking(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, events: list[Event], code: int
) -> None:
    """A controller that failed, or was deposed, may have created the topic: it was not refused, and
    no other's.
    """
    topic = f"doubtful{code}"
    plan = RecreationPlan(PlanHeader(), (TopicRecipe(topic, {0: (1, 2)}, {}),))
    with (
        Doubtful(kraft, topic, code) as proxy,
        KafkaConnection(Servers(proxy.bootstrap)) as through,
    ):
        context = kafka_context(through, tmp_path, Clock(), events.append)
        assert apply(context, plan, ClusterFacts(), 0).message == "1 topic created again, empty"
        (step,) = steps_of(context)
        assert isinstance(step, CreationStep)
        assert (step.sending, step.refused_topics) == (Sending.UNANSWERED, {})
    wait_assigned(connection, {TopicPartition(topic, 0): (1, 2)})


def test_k15_a_topic_that_changes_after_the_decision_is_not_reassigned(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy
) -> None:
    """The step is on record, the second look differs: nothing is sent, and the step says so."""
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = plan_of(partition)

    def reorder() -> None:
        if context.operations.listings() and steps_of(context):
            reassignments.alter_reassignments(connection, {partition: (2, 1)})

    proxy.faults.append(
        Fault(Action.CALL, request_of(LIST_REASSIGNMENTS), times=1_000, then=reorder)
    )
    with pytest.raises(StalePlanError, match="Changed by others"):
        apply(context, plan, ClusterFacts(), 0)
    assert proxy.requests(ALTER_REASSIGNMENTS) == []
    assert [step.sending for step in steps_of(context)] == [Sending.NOT_APPLIED]
    assert list_reassignments(connection) == {}


@pytest.mark.eras
@pytest.mark.on("4.1.2", "4.4.0")
@pytest.mark.parametrize("in_flight", [True, False])
def test_k15_a_replication_factor_that_changes_between_look_and_send_is_left_as_it_is(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy, *, in_flight: bool
) -> None:
    """The controller refuses the request (Kafka 4.1 and later): it was for two replicas, and there
    are three.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)

    def add_a_replica() -> None:
        if in_flight:
            slow_down(connection, [partition])
        assert reassignments.alter_reassignments(connection, {partition: (1, 2, 3)}) == {
            partition: None
        }
        if not in_flight:
            wait_assigned(connection, {partition: (1, 2, 3)})

    proxy.faults.append(Fault(Action.CALL, request_of(ALTER_REASSIGNMENTS), then=add_a_replica))
    with slow_brokers(connection):
        with pytest.raises(StalePlanError, match="Changed by others") as refused:
            apply(context, plan_of(partition), ClusterFacts(), 0)
        assert str(partition) in str(refused.value)
        (step,) = steps_of(context)
        reason = "INVALID_REPLICATION_FACTOR: The replication factor is changed from 3 to 2"
        assert refused_by_cluster([step]) == {partition: reason}
        assert len(list_reassignments(connection)) == in_flight, "that of the other client goes on"
    wait_assigned(connection, {partition: (1, 2, 3)})


@pytest.mark.parametrize("in_flight", [True, pytest.param(False, marks=pytest.mark.eras)])
def test_k13_a_topic_made_again_between_look_and_send(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy, *, in_flight: bool
) -> None:
    """In flight it is ended, finished (as a new order is at once) it is reported: the new topic was
    not meant.
    """
    topic = make_topic(connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)

    def make_again() -> None:
        old = read_metadata(connection, [topic]).topics[topic].topic_id or ""
        assert delete_topics(connection, {topic: old}) == {topic: None}
        create_topic(connection, topic, {0: (1, 2)})
        wait_assigned(connection, {partition: (1, 2)})
        if in_flight:
            slow_down(connection, [partition])

    proxy.faults.append(Fault(Action.CALL, request_of(ALTER_REASSIGNMENTS), then=make_again))
    with slow_brokers(connection), pytest.raises(StalePlanError, match=topic) as refused:
        apply(context, plan_of(partition, (3, 4) if in_flight else (2, 1)), ClusterFacts(), 0)
    assert "made again" in (refused.value.cause or "")
    assert list_reassignments(connection) == {}
    wait_assigned(connection, {partition: (1, 2) if in_flight else (2, 1)})
    assert [step.kind for step in steps_of(context)] == [
        StepKind.WAVE,
        *[StepKind.CANCEL] * in_flight,
    ]


def test_k13_a_topic_deleted_between_look_and_send(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    topic_id = read_metadata(connection, [topic]).topics[topic].topic_id or ""
    proxy.faults.append(
        Fault(
            Action.CALL,
            request_of(ALTER_REASSIGNMENTS),
            then=lambda: delete_topics(connection, {topic: topic_id}),
        )
    )
    with pytest.raises(StalePlanError, match=f"Changed by others .*: {topic}-0") as refused:
        apply(context, plan_of(TopicPartition(topic, 0)), ClusterFacts(), 0)
    assert refused.value.cause == f"deleted: {topic}-0"
    assert len(proxy.requests(ALTER_REASSIGNMENTS)) == 1


def test_a_topic_deleted_between_look_and_send_is_skipped_where_that_is_allowed(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy
) -> None:
    gone, kept = (make_topic(connection, {0: (1, 2)}) for _ in range(2))
    topic_id = read_metadata(connection, [gone]).topics[gone].topic_id or ""
    proxy.faults.append(
        Fault(
            Action.CALL,
            request_of(ALTER_REASSIGNMENTS),
            then=lambda: delete_topics(connection, {gone: topic_id}),
        )
    )
    targets = tuple(
        PartitionTarget(TopicPartition(topic, 0), (3, 4), (1, 2)) for topic in (gone, kept)
    )
    plan = ReassignmentPlan(PlanHeader(), targets, allow_topics_deleted=True)
    outcome = apply(context, plan, ClusterFacts(), 0)
    assert outcome.message == f"1 partition at the target, 1 skipped: deleted were {gone}"
    wait_assigned(connection, {TopicPartition(kept, 0): (3, 4)})
    assert context.operations.listings()[0].status.state is OperationState.COMPLETED


@pytest.mark.eras
def test_k08_a_request_that_arrives_after_its_operation_ended_is_named_and_taken_back(
    kraft: Sandbox,
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    tmp_path: Path,
) -> None:
    """The answer is lost, the operation is done and rolled back; then the same request is applied
    once more.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    proxy.faults.append(Fault(Action.CUT_BEFORE, reply_of(ALTER_REASSIGNMENTS)))
    plan = plan_of(partition, (2, 3))
    apply(context, plan, ClusterFacts(), 0)
    apply(context, plan_rollback(context, None), ClusterFacts(), 0)
    wait_assigned(connection, {partition: (1, 2)})
    with held_back(connection, [partition]):
        assert reassignments.alter_reassignments(connection, {partition: (2, 3)}) == {
            partition: None
        }
        with pytest.raises(BusyError, match="applied late") as refused:
            apply(context, plan, ClusterFacts(), 0)
        assert str(partition) in str(refused.value)
        cluster = KraftCluster(kraft, connection, tmp_path)
        assert json.loads(cluster.kadmin("status", "-o", "json").out)["late_requests"] == [
            {
                "topic": partition.topic,
                "partition": 0,
                "target": [2, 3],
                "last": None,
                "operation_id": context.operations.listings()[0].operation_id,
                "step": 1,
            }
        ]
        assert (
            f"applied late, of a finished operation: {partition} to [2, 3]"
            in cluster.kadmin("status").out
        )
        ended = cluster.kadmin("cancel", "--foreign", "--yes")
        assert ended.status == 0, ended.err
        assert list_reassignments(connection) == {}
        assert read_cluster(connection, [partition.topic]).replicas(partition) == (1, 2)
    _reached_and_rolled_back(cluster, connection, partition)


def _reached_and_rolled_back(
    cluster: KraftCluster, connection: KafkaConnection, partition: TopicPartition
) -> None:
    """The same request once more: this time nobody looks before it is done."""
    assert reassignments.alter_reassignments(connection, {partition: (2, 3)}) == {partition: None}
    wait_assigned(connection, {partition: (2, 3)})
    (late,) = json.loads(cluster.kadmin("status", "-o", "json").out)["late_requests"]
    assert (late["target"], late["last"]) == ([2, 3], [1, 2])
    remedy = f"kadmin rollback {late['operation_id']}"
    assert remedy in cluster.kadmin("status").out
    (found,) = (
        each
        for each in json.loads(cluster.kadmin("doctor", "-o", "json").out)["findings"]
        if each["trouble"] == "late-move"
    )
    assert remedy in found["remedy"]
    undone = cluster.kadmin("rollback", late["operation_id"], "--yes")
    assert undone.status == 0, undone.err
    wait_assigned(connection, {partition: (1, 2)})
    assert json.loads(cluster.kadmin("status", "-o", "json").out)["late_requests"] == []


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_k08_a_request_that_a_frozen_broker_applies_late_is_taken_back(
    kraft: Sandbox,
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    events: list[Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broker that has the request is frozen, the operation is cancelled through another one,
    the broker thaws.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    frozen = ExitStack()

    def freeze() -> None:
        (port,) = (each.port for each in proxy.requests(ALTER_REASSIGNMENTS))
        asked = [broker_id for broker_id, each in kraft.broker_ports.items() if each == port]
        frozen.enter_context(servers_frozen(kraft, asked))
        context.clock.until = time.monotonic() + 6

    monkeypatch.setattr(reassignments, "CHANGE_S", 3.0)
    monkeypatch.setattr(settling, "SETTLE_S", 30.0)
    proxy.faults.append(Fault(Action.CALL, request_of(ALTER_REASSIGNMENTS), then=freeze))
    with held_back(connection, [partition]):
        with frozen:
            with pytest.raises(NotCompletedError, match="deadline"):
                apply(context, plan_of(partition), ClusterFacts(), 0)
            assert list_reassignments(connection) == {}
            (operation,) = context.operations.unfinished()
            context.clock.until = time.monotonic() + 120
            cancelling = threading.Thread(
                target=takeover.stop,
                args=(context, operation.operation_id, Stop.CANCEL_NOW, 0),
                daemon=True,
            )
            cancelling.start()
            wait_until(
                lambda: any("settling" in each.text for each in events if isinstance(each, Note)),
                60,
            )
        cancelling.join(120)
        assert list_reassignments(connection) == {}
        assert read_cluster(connection, [partition.topic]).replicas(partition) == (1, 2)
    assert context.operations.status(operation.operation_id).state is OperationState.CANCELLED
    assert any("applied late" in event.text for event in events if isinstance(event, Note))
    assert {step.kind for step in steps_of(context)} == {StepKind.WAVE, StepKind.CANCEL}
