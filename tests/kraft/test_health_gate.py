"""The health gate between two waves: the run says why it waits, for controllers or for room on
disk, and goes on.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import UnreachableError
from kadmin.insight.diagnosis.health import LAG_S
from kadmin.operations.context import Clock
from kadmin.operations.events import Note, Progressed, StepPublished
from kadmin.operations.execute import apply as apply_module
from kadmin.operations.execute.apply import apply
from kadmin.operations.execute.takeover import resume
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan, WaveLimits
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.quorum import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.operations.events import Event
    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.eras
NO_ANSWER = "The brokers answer, and no controller does"
PATIENCE_S = 60.0


@pytest.fixture
def others(kraft: Sandbox, connection: KafkaConnection) -> Iterator[tuple[int, int]]:
    """The two controllers that are not active; they run again afterwards."""
    active = describe_quorum(connection).leader_id
    first, second = (each for each in kraft.controller_ports if each != active)
    yield first, second
    for each in (first, second):
        kraft.start_controller(each)


def stop(kraft: Sandbox, controllers: tuple[int, ...]) -> None:
    for each in controllers:
        kraft.stop_controller(each, kill=True)


def two_waves(connection: KafkaConnection) -> ReassignmentPlan:
    topic = make_topic(connection, {0: (1, 2), 1: (1, 2)})
    targets = tuple(
        PartitionTarget(TopicPartition(topic, number), (3, 4), (1, 2)) for number in (0, 1)
    )
    return ReassignmentPlan(PlanHeader(), targets, limits=WaveLimits(max_partitions=1))


def reached(connection: KafkaConnection, plan: ReassignmentPlan) -> None:
    wait_assigned(connection, {target.partition: target.replicas for target in plan.reassignments})


class Story:
    """Keeps what is told, and does something when it is told for the first time."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._when: list[tuple[Callable[[Event], bool], Callable[[], None]]] = []

    def when(self, told: Callable[[Event], bool], act: Callable[[], None]) -> None:
        self._when.append((told, act))

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note):
            self.told.append(event.text)
        elif isinstance(event, Progressed) and event.reason:
            self.told.append(event.reason)
        if self._when and self._when[0][0](event):
            self._when.pop(0)[1]()


def published(event: Event) -> bool:
    return isinstance(event, StepPublished)


@pytest.mark.matrix
def test_k03_a_majority_that_is_lost_and_comes_back_is_waited_for(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, others: tuple[int, int]
) -> None:
    story, plan = Story(), two_waves(connection)
    story.when(published, lambda: stop(kraft, others))
    story.when(
        lambda _: any(NO_ANSWER in each for each in story.told),
        lambda: kraft.start_controller(others[0]),
    )
    context = kafka_context(connection, tmp_path, Clock(), story)
    assert apply(context, plan, ClusterFacts(), 0).message == "2 partitions at the target"
    assert any(NO_ANSWER in each for each in story.told)
    reached(connection, plan)


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_k03_a_majority_that_stays_away_ends_at_the_deadline_with_the_way_to_resume(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, others: tuple[int, int]
) -> None:
    story, plan, clock = Story(), two_waves(connection), Clock(time.monotonic() + PATIENCE_S)
    story.when(published, lambda: stop(kraft, others))
    with KafkaConnection(Servers(kraft.bootstrap), until=clock.until) as bounded:
        context = kafka_context(bounded, tmp_path, clock, story)
        with pytest.raises(UnreachableError) as ended:
            apply(context, plan, ClusterFacts(), 0)
    assert time.monotonic() < clock.until + 2
    (operation,) = context.operations.listings()
    assert (
        ended.value.next_command
        == f"kadmin resume {operation.operation_id}, when the cluster is reachable"
    )
    for each in others:
        kraft.start_controller(each)
    again = kafka_context(connection, tmp_path, Clock(), story)
    assert resume(again, operation.operation_id, 0).message == "2 partitions at the target"
    reached(connection, plan)


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_a_controller_that_falls_behind_closes_the_gate_until_it_has_caught_up(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, others: tuple[int, int]
) -> None:
    story, plan, (late, _) = Story(), two_waves(connection), others

    def behind() -> bool:
        controller = describe_quorum(connection).controller
        assert controller is not None
        (found,) = (each for each in controller.voters if each.server_id == late)
        return (found.caught_up_s_ago or 0.0) > LAG_S

    def fall_behind() -> None:
        stop(kraft, (late,))
        wait_until(behind, 2 * LAG_S)

    gate = f"controllers more than 60 s behind the active one: {late}"
    story.when(published, fall_behind)
    story.when(
        lambda _: any(gate in each for each in story.told), lambda: kraft.start_controller(late)
    )
    context = kafka_context(connection, tmp_path, Clock(), story)
    assert apply(context, plan, ClusterFacts(), 0).message == "2 partitions at the target"
    assert f"health gate: {gate}" in story.told
    reached(connection, plan)


def test_the_gate_waits_for_room_on_disk(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No broker was heard when the operation began: the first wave runs, and the second one does
    not fit.
    """
    topic = make_topic(cluster.connection, {0: (1, 2), 1: (1, 2)})
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        "spec:\n  waves: {max_partitions: 1}\n  partitions:\n"
        f"    - {{topic: {topic}, partition: 0, replicas: [1, 3]}}\n"
        f"    - {{topic: {topic}, partition: 1, replicas: [1, 3], size_bytes: 1000000000000000}}\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(apply_module, "with_disks", lambda given, *_: given)
        waiting = cluster.kadmin("apply", plan, "--yes", "--timeout", "20")
    assert waiting.status == 8
    assert re.search(
        rf"cause: health gate: broker 3 has room for .+ than the copies of {topic}-1 need",
        waiting.err,
    )
    wait_assigned(
        cluster.connection, {TopicPartition(topic, 0): (1, 3), TopicPartition(topic, 1): (1, 2)}
    )
    assert cluster.kadmin("cancel", "--yes").status == 0
