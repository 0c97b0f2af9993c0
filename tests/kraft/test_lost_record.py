"""K11: the topic of the record is deleted, or loses records, in mid-run or later; the runner's
machine has a copy.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from kafka.protocol.admin import DeleteRecordsRequest
from support.cli.terminal import in_terminal
from support.documents.plans import document, reassignment
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.processes import KadminProcess
from support.kafka.writes import WritePoint
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import wait_until
from support.network.frame_proxy import Action

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.worlds.kafka.values.topic_settings import CONTROL
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.metadata import leader_of, read_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [pytest.mark.eras, pytest.mark.on("4.4.0"), pytest.mark.usefixtures("record")]

WAIT_S = 120
POLICY_VIOLATION = 44
TARGET = (2, 3)


def delete_topic(connection: KafkaConnection) -> None:
    topic_id = read_metadata(connection, [RECORD_TOPIC]).topics[RECORD_TOPIC].topic_id
    assert topic_id is not None
    assert delete_topics(connection, {RECORD_TOPIC: topic_id}) == {RECORD_TOPIC: None}


def delete_records(connection: KafkaConnection) -> None:
    """Delete every record of the control partition (offset -1 is its end); of compacted topics
    brokers refuse it.
    """
    set_cleanup(connection, "delete")
    asked = DeleteRecordsRequest.DeleteRecordsTopic
    part = asked.DeleteRecordsPartition(partition_index=CONTROL, offset=-1)
    request = DeleteRecordsRequest(
        topics=[asked(name=RECORD_TOPIC, partitions=[part])], timeout_ms=30_000
    )
    leader = leader_of(connection, TopicPartition(RECORD_TOPIC, CONTROL))

    def deleted() -> bool:
        answer = connection.ask("delete records", request, broker_id=leader)
        code = answer.topics[0].partitions[0].error_code
        assert code in {0, POLICY_VIOLATION}
        return bool(code == 0)

    wait_until(deleted, WAIT_S)
    set_cleanup(connection, "compact")


def set_cleanup(connection: KafkaConnection, policy: str) -> None:
    edit = ConfigEdit(ConfigOperation.SET, policy)
    assert alter_configs(
        connection, {ConfigEntity.of_topic(RECORD_TOPIC): {"cleanup.policy": edit}}
    ) == {ConfigEntity.of_topic(RECORD_TOPIC): None}


@contextmanager
def none_left(connection: KafkaConnection) -> Iterator[None]:
    """Leave no topic behind that has lost records: the next apply makes another one."""
    try:
        yield
    finally:
        if RECORD_TOPIC in read_metadata(connection, [RECORD_TOPIC]).topics:
            delete_topic(connection)
        wait_until(
            lambda: RECORD_TOPIC not in read_metadata(connection, [RECORD_TOPIC]).topics, WAIT_S
        )


@pytest.mark.parametrize(
    ("lose", "cause"),
    [
        pytest.param(delete_topic, f"topic {RECORD_TOPIC} was deleted", marks=pytest.mark.matrix),
        (delete_records, "has no offset"),
    ],
)
def test_k11_a_record_that_is_lost_in_mid_run_goes_on_from_the_copy(
    kraft: Sandbox,
    connection: KafkaConnection,
    tmp_path: Path,
    state_folder: Path,
    lose: Callable[[KafkaConnection], None],
    cause: str,
) -> None:
    """It is lost as the first of two waves is asked for: 7, and nothing more is sent until the copy
    is named.
    """
    topic = make_topic(connection, dict.fromkeys(range(2), (1, 2)))
    target = {TopicPartition(topic, number): TARGET for number in range(2)}
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, dict.fromkeys(range(2), TARGET), waves={"max_partitions": 1}),
    )
    with none_left(connection):
        with BrokerProxy(kraft) as proxy:
            runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes")
            point = WritePoint("reassignments, time 1", forwarded=False)
            proxy.faults.append(point.fault(Action.CALL, lambda: lose(connection)))
            ended = runner.answer()
        require_lost(ended, cause, state_folder)
        require_lost(KadminProcess(kraft.bootstrap, "status").answer(), "", state_folder)
        require_lost(
            KadminProcess(kraft.bootstrap, "apply", plan, "--yes").answer(), "", state_folder
        )
        found = KadminProcess(kraft.bootstrap, "doctor").answer()
        assert found.status == 8, found.err
        assert f"Topic {RECORD_TOPIC} has lost records of operations." in " ".join(
            found.out.split()
        )
        moved = read_metadata(connection, [topic]).topics[topic].partitions
        assert [number for number, each in moved.items() if each.replicas == (1, 2)] == [1]
        resumed = KadminProcess(
            kraft.bootstrap, "resume", "--records", state_folder, "--yes"
        ).answer()
        assert resumed.status == 0, resumed.err
    wait_assigned(connection, target)


def require_lost(answer: Answer, cause: str, copies: Path) -> None:
    assert answer.status == 7, answer.err
    assert f"The topic {RECORD_TOPIC} has lost records of operations." in answer.err
    assert cause in answer.err
    assert f"kadmin resume --records {copies}" in answer.err


def test_k11_a_record_that_was_lost_after_the_end_is_made_anew(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    for target in (TARGET, (3, 4)):
        plan = document(tmp_path / "plan.json", reassignment(topic, {0: target}))
        applied = KadminProcess(kraft.bootstrap, "apply", plan, "--yes").answer()
        assert applied.status == 0, applied.err
        wait_assigned(connection, {TopicPartition(topic, 0): target})
        delete_topic(connection)
        wait_until(
            lambda: RECORD_TOPIC not in read_metadata(connection, [RECORD_TOPIC]).topics, WAIT_S
        )


def test_the_first_apply_asks_about_the_topic_and_places_it_on_no_broker_that_the_plan_empties(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    delete_topic(connection)
    wait_until(lambda: RECORD_TOPIC not in read_metadata(connection, [RECORD_TOPIC]).topics, WAIT_S)
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = document(tmp_path / "plan.json", reassignment(partition.topic, {0: TARGET}))
    kadmin, address = [sys.executable, "-m", "kadmin"], ["-b", ",".join(kraft.bootstrap)]
    announced = f"First, topic {RECORD_TOPIC} with replication factor 3 will be created"
    throttle = [*kadmin, "throttle", "set", "--broker", "1", "--rate", "5MB/s", *address]
    refused, asked = in_terminal(throttle, 500, typed="n\n")
    assert (refused, announced in asked) == (64, True), asked
    assert RECORD_TOPIC not in read_metadata(connection, [RECORD_TOPIC]).topics
    line = [*kadmin, "apply", str(plan), *address]
    status, written = in_terminal(line, 500, typed="y\n")
    assert status == 0, written
    assert announced in written
    assert f"topic {RECORD_TOPIC} with replication factor 3 was created" in written
    assert written.count("[y/N]") == 1
    found = read_metadata(connection, [RECORD_TOPIC]).topics[RECORD_TOPIC].partitions
    assert [set(each.replicas) for each in found.values()] == [{2, 3, 4}] * 2
    wait_assigned(connection, {partition: TARGET})
    again, told = in_terminal(line, 500, typed="y\n")
    assert (again, RECORD_TOPIC in told) == (0, False), told
