"""K-rows of the doctor on real brokers: each trouble is made as it happens, named, and taken away
again.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import deletion, document
from support.kafka.broker_proxy import ALTER_REASSIGNMENTS, BrokerProxy
from support.live.doctor import examine, stopped
from support.live.kraft import (
    THROTTLED_RATES,
    held_back,
    make_topic,
    set_configs,
    slow_brokers,
    wait_assigned,
)
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, request_of

from kadmin.cluster.config_entity import DEFAULT_ENTITY
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.operations.context import Clock
from kadmin.operations.execute.apply import apply
from kadmin.operations.store import OperationStore
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments, list_reassignments
from kadmin.worlds.kafka.wire.registrations import unregister_broker

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.operations.events import Event
    from kadmin.operations.record.steps import Step

pytestmark = pytest.mark.eras
WAIT_S = 60


@pytest.fixture
def cluster(cluster_and_folder: KraftCluster) -> KraftCluster:
    """The cluster with a record of the test's own: what other tests left on record explains moves
    and throttles.
    """
    return cluster_and_folder


def tells_fenced(cluster: KraftCluster) -> bool:
    """Whether the brokers tell which of them are fenced."""
    return read_metadata(cluster.connection, ()).fenced_known


def plan_of(folder: Path, topic: str, replicas: list[int]) -> Path:
    plan = folder / f"{topic}.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: {replicas}}}\n"
    )
    return plan


@pytest.mark.live
def test_a_healthy_cluster_has_no_finding(cluster: KraftCluster) -> None:
    make_topic(cluster.connection, {0: (1, 2)})
    assert examine(cluster) == {}
    human = cluster.kadmin("doctor")
    assert human.status == 0
    assert human.out.startswith("nothing found: nothing would stop an apply\n")
    assert ("not checked: " in human.out) == (not tells_fenced(cluster)), (
        "before Kafka 4.0 fenced brokers are not told"
    )


def test_the_steps_of_an_operation_are_read_once(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied = cluster.kadmin(
        "apply", plan_of(tmp_path, make_topic(cluster.connection, {0: (1, 2)}), [2, 3]), "--yes"
    )
    assert applied.status == 0, applied.err
    steps, read = OperationStore.steps, list[str]()

    def counted(operations: OperationStore, operation_id: str) -> tuple[Step, ...]:
        read.append(operation_id)
        return steps(operations, operation_id)

    monkeypatch.setattr(OperationStore, "steps", counted)
    examine(cluster)
    assert read == [each["operation_id"] for each in cluster.history()]


@pytest.mark.live
def test_a_throttle_of_all_brokers_that_was_left_behind(cluster: KraftCluster) -> None:
    """The command that the finding names audits the default entity; `throttle clear` takes its
    rates off.
    """
    set_configs(cluster.connection, DEFAULT_ENTITY, THROTTLED_RATES, "1000")
    try:
        wait_until(lambda: "leftover-throttle" in examine(cluster), WAIT_S)
        found = examine(cluster)["leftover-throttle"]
        assert found["evidence"] == [f"{DEFAULT_ENTITY}: {', '.join(sorted(THROTTLED_RATES))}"]
        audited = cluster.kadmin(*shlex.split(found["remedy"])[1:])
        assert str(DEFAULT_ENTITY) in audited.out, audited.err
        cleared = cluster.kadmin("throttle", "clear", "--yes")
        assert cleared.status == 0, cleared.err
        wait_until(lambda: examine(cluster) == {}, WAIT_S)
    finally:
        set_configs(cluster.connection, DEFAULT_ENTITY, THROTTLED_RATES, None)


def test_folders_of_a_topic_that_was_deleted_while_a_broker_was_away(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 4)})
    with stopped(cluster, 4):
        plan = document(
            tmp_path / "deletion.json", deletion(topic, allow={"offline_replicas": True})
        )
        deleted = cluster.kadmin("apply", plan, "--yes", "-o", "json")
        assert deleted.status == 0, deleted.err
    told = json.loads(cluster.kadmin("doctor", "-o", "json").out)["not_checked"]
    (said,) = (each for each in told if "-stray" in each)
    assert f"({topic} on broker 4, by {json.loads(deleted.out)['operation_id']})" in said


@pytest.mark.live
def test_a_move_of_another_tool_and_the_throttles_that_it_leaves_behind(
    cluster: KraftCluster,
) -> None:
    partition = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0)
    with held_back(cluster.connection, [partition]):
        assert alter_reassignments(cluster.connection, {partition: (3, 4)}) == {partition: None}
        (found,) = examine(cluster).values()
        assert (found["trouble"], found["stops_apply"]) == ("foreign-move", True)
        assert found["evidence"] == [f"{partition}: to [3, 4], adding [3, 4], removing [1, 2]"]
        assert "kadmin cancel --foreign" in found["remedy"]
        alter_reassignments(cluster.connection, {partition: (1, 2)})
        alter_reassignments(cluster.connection, {partition: None})
        wait_assigned(cluster.connection, {partition: (1, 2)})
        (left,) = examine(cluster).values()
        assert left["trouble"] == "leftover-throttle"
        assert (
            "brokers/1: follower.replication.throttled.rate, leader.replication.throttled.rate"
            in left["evidence"]
        )
    assert examine(cluster) == {}


def test_a_move_that_an_operation_asked_for_which_is_over(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    partition = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0)
    assert cluster.kadmin("apply", plan_of(tmp_path, partition.topic, [3, 4]), "--yes").status == 0
    alter_reassignments(cluster.connection, {partition: (1, 2)})
    wait_assigned(cluster.connection, {partition: (1, 2)})
    with held_back(cluster.connection, [partition]):
        alter_reassignments(cluster.connection, {partition: (3, 4)})
        found = examine(cluster)
        assert set(found) == {"late-move"}
        assert "reassignment" not in found["late-move"]["evidence"][0]
        assert found["late-move"]["evidence"][0].startswith("completed since ")
    wait_assigned(cluster.connection, {partition: (3, 4)})


@pytest.mark.usefixtures("short_settling")
def test_a_request_that_got_no_answer(cluster: KraftCluster, tmp_path: Path) -> None:
    """The run ends before it can send again; whether the request waits in a broker, nobody
    knows.
    """
    partition, clock = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0), Clock()
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(partition, (3, 4), (1, 2)),))

    def end(_event: Event) -> None:
        if proxy.requests(ALTER_REASSIGNMENTS):
            clock.until = clock.now()

    with (
        BrokerProxy(cluster.sandbox) as proxy,
        KafkaConnection(Servers(proxy.bootstrap)) as through,
    ):
        proxy.faults.append(Fault(Action.CUT_BEFORE, request_of(ALTER_REASSIGNMENTS)))
        with pytest.raises(NotCompletedError):
            apply(kafka_context(through, tmp_path / "records", clock, end), plan, ClusterFacts(), 0)
    found = examine(cluster)
    assert set(found) == {"unfinished-operation", "unanswered-request"}
    assert found["unanswered-request"]["evidence"][1] == f"{partition}: asked for [3, 4]"
    assert found["unanswered-request"]["remedy"].startswith("kadmin resume ")
    assert cluster.kadmin("cancel", "--yes").status == 0


def test_an_interrupted_operation(cluster: KraftCluster, tmp_path: Path) -> None:
    partition = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0)
    with held_back(cluster.connection, [partition]):
        applied = cluster.kadmin(
            "apply", plan_of(tmp_path, partition.topic, [3, 4]), "--yes", "--timeout", "15"
        )
        assert applied.status == 8, applied.err
        found = examine(cluster)
        assert set(found) == {"unfinished-operation"}
        assert found["unfinished-operation"]["remedy"].startswith("kadmin resume ")
    assert cluster.kadmin("resume", "--yes").status == 0
    assert examine(cluster) == {}


def test_k14_a_move_to_a_broker_that_is_fenced_and_then_not_registered(
    cluster: KraftCluster,
) -> None:
    partition = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0)
    with stopped(cluster, 4):
        assert alter_reassignments(cluster.connection, {partition: (1, 4)}) == {partition: None}
        found = examine(cluster)
        fenced = {"fenced-broker"} if tells_fenced(cluster) else {"missing-brokers"}
        assert set(found) - {"under-min-isr"} == {"stalled-move", "foreign-move", *fenced}
        assert found["stalled-move"]["evidence"][0] == (
            "fenced: 4" if tells_fenced(cluster) else "not alive: 4"
        )
        assert unregister_broker(cluster.connection, 4) is None
        wait_until(lambda: 4 not in read_metadata(cluster.connection, ()).brokers, WAIT_S)
        gone = examine(cluster)
        assert set(gone) - {"under-min-isr"} == {"stalled-move", "foreign-move", "missing-brokers"}
        assert "kadmin cancel --foreign" in gone["stalled-move"]["remedy"]
    wait_assigned(cluster.connection, {partition: (1, 4)})
    assert examine(cluster) == {}, "right after the start of a broker"


def test_a_live_broker_that_was_unregistered(cluster: KraftCluster) -> None:
    topic = make_topic(cluster.connection, {0: (1, 4)})
    assert unregister_broker(cluster.connection, 4) is None
    wait_until(lambda: 4 not in read_metadata(cluster.connection, ()).brokers, WAIT_S)
    found = examine(cluster)
    with stopped(cluster, 4):
        pass  # it registers when it starts
    assert set(found) - {"under-min-isr"} == {"unregistered-broker"}
    (seen,) = found["unregistered-broker"]["evidence"]
    assert seen.startswith("server 4: its process runs, assigned replicas: ")
    wait_assigned(cluster.connection, {TopicPartition(topic, 0): (1, 4)})
    assert examine(cluster) == {}


def test_offline_partitions_name_the_broker_that_has_to_come_back(cluster: KraftCluster) -> None:
    """With eligible leader replicas the ISR is empty, and the ELR names it; without, the ISR keeps
    its last member.
    """
    partition = TopicPartition(
        make_topic(cluster.connection, {0: (3, 4)}, {"min.insync.replicas": "2"}), 0
    )
    with stopped(cluster, 3, 4):
        found = examine(cluster)["offline-partitions"]
        (seen,) = (each for each in found["evidence"] if each.startswith(str(partition)))
        first_of_all = found["remedy"].partition(";")[0]
        if tells_fenced(cluster):
            assert seen == f"{partition}: leader -1, ISR [], ELR [3, 4], replicas [3, 4]"
            assert first_of_all == "start brokers 3, 4"
        else:
            assert seen == f"{partition}: leader -1, ISR [4], replicas [3, 4]"
            assert first_of_all in {"start broker 4", "start brokers 3, 4"}, (
                "other topics may have had 3 last"
            )
    wait_assigned(cluster.connection, {partition: (3, 4)})
    assert examine(cluster) == {}


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_controllers_that_are_down(cluster: KraftCluster) -> None:
    sandbox = cluster.sandbox
    active = describe_quorum(cluster.connection).leader_id
    first, second = (each for each in sandbox.controller_ports if each != active)
    try:
        sandbox.stop_controller(first, kill=True)
        wait_until(lambda: _silent_s(cluster, first) > 10, WAIT_S)
        found = examine(cluster)
        assert set(found) == {"lagging-controller"}
        assert found["lagging-controller"]["evidence"][0] == f"the active controller is {active}"
        assert found["lagging-controller"]["evidence"][1].startswith(
            f"controller {first} last fetched "
        )
        sandbox.stop_controller(second, kill=True)
        lost = examine(cluster)
        assert set(lost) == {"no-quorum"}
        assert lost["no-quorum"]["stops_apply"]
    finally:
        sandbox.start_controller(second)
        sandbox.start_controller(first)
    assert examine(cluster) == {}, "right after an election"


def test_a_silent_broker_hides_nothing_that_others_answer(cluster: KraftCluster) -> None:
    partition = TopicPartition(make_topic(cluster.connection, {0: (1, 2)}), 0)
    with slow_brokers(cluster.connection):
        cluster.sandbox.freeze(4)
        try:
            answer = cluster.kadmin("doctor")
            assert "leftover-throttle" in answer.out
            assert "broker 4" in answer.out
        finally:
            cluster.sandbox.thaw(4)
        wait_until(lambda: 4 in _alive(cluster), WAIT_S)
    assert partition not in list_reassignments(cluster.connection)


def _silent_s(cluster: KraftCluster, controller_id: int) -> float:
    controller = describe_quorum(cluster.connection).controller
    assert controller is not None
    (found,) = (each for each in controller.voters if each.server_id == controller_id)
    return found.fetched_s_ago or 0.0


def _alive(cluster: KraftCluster) -> set[int]:
    return {
        each.broker_id
        for each in read_metadata(cluster.connection, ()).brokers.values()
        if each.alive
    }
