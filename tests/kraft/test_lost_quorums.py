"""K03, K05, K10: what an operation needs is lost in mid-run: controllers, brokers, record,
transactions.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.kafka.broker_proxy import (
    ALTER_CONFIGS,
    ALTER_REASSIGNMENTS,
    ELECT_LEADERS,
    BrokerProxy,
)
from support.kafka.processes import KadminProcess
from support.kafka.writes import WritePoint
from support.live.kraft import (
    THROTTLED_REPLICAS,
    KraftCluster,
    make_topic,
    servers_frozen,
    set_configs,
    slow_brokers,
    slow_down,
    wait_assigned,
)
from support.live.waiting import wait_until
from support.network.frame_proxy import Action

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.worlds.kafka.values.topic_settings import CONTROL
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation, alter_configs
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import list_reassignments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.usefixtures("record")

WAIT_S = 120
PATIENT_S, HASTY_S = 120, 5
BOUND_S = 25
MIN_ISR = "min.insync.replicas"
STATE = "__transaction_state"
CHANGES = {ALTER_CONFIGS, ALTER_REASSIGNMENTS, ELECT_LEADERS}


@contextmanager
def no_majority(kraft: Sandbox, connection: KafkaConnection) -> Iterator[None]:
    """Freeze the active controller and another one."""
    active = describe_quorum(connection).leader_id
    with servers_frozen(
        kraft, [active, next(each for each in kraft.controllers if each != active)]
    ):
        yield


@contextmanager
def too_few_in_sync(
    kraft: Sandbox, connection: KafkaConnection, topic: str, broker_id: int
) -> Iterator[None]:
    """Ask for three in-sync replicas in a topic that has three, and freeze the broker of one."""
    with more_wanted(connection, topic), servers_frozen(kraft, [broker_id]):
        other = next(each for each in kraft.broker_ports if each != broker_id)

        def shrunk() -> bool:
            found = read_metadata(connection, [topic], broker_id=other).partitions
            return all(broker_id not in each.isr for each in found.values())

        wait_until(shrunk, WAIT_S)
        yield


@contextmanager
def more_wanted(connection: KafkaConnection, topic: str) -> Iterator[None]:
    """Ask for three in-sync replicas in a topic, until all are in sync."""

    def in_sync() -> bool:
        found = read_metadata(connection, [topic]).partitions
        return all(set(each.isr) == set(each.replicas) for each in found.values())

    set_min_isr(connection, topic, "3")
    try:
        yield
        # Fewer wanted while a replica is out of sync and an eligible leader: the controller of
        # 4.4.0 keeps that after the topic's deletion, and the broker never registers after a kill.
        wait_until(in_sync, WAIT_S)
    finally:
        set_min_isr(connection, topic, "2")


def set_min_isr(connection: KafkaConnection, topic: str, value: str) -> None:
    edit = ConfigEdit(ConfigOperation.SET, value)
    assert alter_configs(connection, {ConfigEntity.of_topic(topic): {MIN_ISR: edit}}) == {
        ConfigEntity.of_topic(topic): None
    }


def needed_follower(connection: KafkaConnection, topic: str) -> int:
    """Return a broker without which too few replicas of the partition that kadmin writes to are in
    sync.
    """
    partitions = read_metadata(connection, [topic]).topics[topic].partitions
    used = partitions[
        abs(_java_hash(RECORD_TOPIC)) % len(partitions) if topic == STATE else CONTROL
    ]
    return next(each for each in used.replicas if each != used.leader)


def _java_hash(text: str) -> int:
    """String.hashCode, by which a transactional id has its partition of __transaction_state."""
    found = 0
    for each in text:
        found = (31 * found + ord(each)) & 0xFFFF_FFFF
    return found - (1 << 32) if found >> 31 else found


LOST = {
    "K03 the controllers have no majority": None,
    "K10 the record is below its minimum ISR": RECORD_TOPIC,
    "K10 transactions are not available": STATE,
}


@pytest.mark.executor
@pytest.mark.parametrize(
    ("lost", "returns"),
    [
        pytest.param(
            "K03 the controllers have no majority", True, id="K03 no majority, returns in time"
        ),
        pytest.param(
            "K03 the controllers have no majority", False, id="K03 no majority, returns later"
        ),
        pytest.param(
            "K10 the record is below its minimum ISR", True, id="K10 record, returns in time"
        ),
        pytest.param(
            "K10 transactions are not available", True, id="K10 transactions, return in time"
        ),
    ],
)
def test_what_an_operation_needs_is_lost_in_mid_run_and_comes_back(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, lost: str, *, returns: bool
) -> None:
    """It is lost as the first request passes. Nothing more is sent; in time: 0; later: 6, and
    resume completes.
    """
    below = LOST[lost]
    frozen = 0 if below is None else needed_follower(connection, below)
    first, second, third = [each for each in kraft.broker_ports if each != frozen][:3]
    topic, target = (
        make_topic(connection, dict.fromkeys(range(2), (first, second))),
        (second, third),
    )
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, dict.fromkeys(range(2), target), waves={"max_partitions": 1}),
    )
    losing = no_majority(kraft, connection) if below is None else servers_frozen(kraft, [frozen])
    with ExitStack() as around:
        if below is not None:  # all three replicas are needed, from before one of them is lost
            around.enter_context(more_wanted(connection, below))
        proxy = around.enter_context(BrokerProxy(kraft))
        runner = KadminProcess(
            proxy.bootstrap, "apply", plan, "--yes", outage_s=PATIENT_S if returns else HASTY_S
        )
        try:
            with ExitStack() as stack:
                lose = partial(stack.enter_context, losing)
                proxy.faults.append(
                    WritePoint("reassignments, time 1", forwarded=False).fault(Action.CALL, lose)
                )
                wait_until(
                    lambda: "does not answer; waiting" in runner.told or runner.ended, WAIT_S
                )
                if not returns:
                    late = runner.answer()
                    assert late.status == 6, late.err
                    assert "kadmin resume" in late.err
                sent = [each.op for each in proxy.requests() if each.op in CHANGES]
                assert sent == [ALTER_REASSIGNMENTS], "the one that passed as it was lost"
            if returns:
                ended = runner.answer()
                assert ended.status == 0, ended.err
        finally:
            runner.end()
    if not returns:
        resumed = KadminProcess(kraft.bootstrap, "resume", "--yes").answer()
        assert resumed.status == 0, resumed.err
    wait_assigned(connection, {TopicPartition(topic, number): target for number in range(2)})


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_k10_a_record_that_stays_below_its_minimum_isr_ends_the_command_with_nothing_sent(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    """It is lost as the first step is written, and returns after the command's end."""
    frozen = needed_follower(connection, RECORD_TOPIC)
    first, second, third = [each for each in kraft.broker_ports if each != frozen][:3]
    partition = TopicPartition(make_topic(connection, {0: (first, second)}), 0)
    plan = document(tmp_path / "plan.json", reassignment(partition.topic, {0: (second, third)}))
    with BrokerProxy(kraft) as proxy, ExitStack() as stack:
        lose = partial(
            stack.enter_context, too_few_in_sync(kraft, connection, RECORD_TOPIC, frozen)
        )
        proxy.faults.append(
            WritePoint("steps/000001, time 1", forwarded=False).fault(Action.CALL, lose)
        )
        ended = KadminProcess(
            proxy.bootstrap, "apply", plan, "--yes", "--timeout", f"{BOUND_S}"
        ).answer()
        assert ended.status == 6, ended.err
        assert "kadmin resume" in ended.err
        assert [each.op for each in proxy.requests() if each.op in CHANGES] == []
    resumed = KadminProcess(kraft.bootstrap, "resume", "--yes").answer()
    assert resumed.status == 0, resumed.err
    wait_assigned(connection, {partition: (second, third)})


@pytest.mark.executor
@pytest.mark.on("4.4.0")
def test_k10_a_record_that_is_lost_while_a_wave_copies_holds_up_the_next_wave(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    """The wave ends without the record; the next one waits until the brokers are back."""
    frozen = needed_follower(connection, RECORD_TOPIC)
    first, second, third = [each for each in kraft.broker_ports if each != frozen][:3]
    copied, moved = (
        make_topic(connection, {0: (first, second)}),
        make_topic(connection, {0: (first, second)}),
    )
    wanted = reassignment(copied, {0: (second, third)}, waves={"max_partitions": 1})
    wanted["spec"]["partitions"] += reassignment(moved, {0: (second, third)})["spec"]["partitions"]
    plan = document(tmp_path / "plan.json", wanted)
    with BrokerProxy(kraft) as proxy, slow_brokers(connection), ExitStack() as lost:
        slow_down(connection, [TopicPartition(copied, 0)])
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes", outage_s=PATIENT_S)
        try:
            wait_until(lambda: bool(list_reassignments(connection)) or runner.ended, WAIT_S)
            lost.enter_context(too_few_in_sync(kraft, connection, RECORD_TOPIC, frozen))
            set_configs(connection, ConfigEntity.of_topic(copied), THROTTLED_REPLICAS, None, first)
            wait_until(
                lambda: "health gate" in runner.told or "does not answer; waiting" in runner.told,
                WAIT_S,
            )
            assert list_reassignments(connection) == {}, "the first wave is done"
            assert len(proxy.requests(ALTER_REASSIGNMENTS)) == 1
            lost.close()
            ended = runner.answer()
        finally:
            runner.end()
    assert ended.status == 0, ended.err
    wait_assigned(
        connection, {TopicPartition(topic, 0): (second, third) for topic in (copied, moved)}
    )


@pytest.mark.parametrize(
    "returns",
    [
        pytest.param(
            True, marks=[pytest.mark.executor, pytest.mark.on("4.4.0")], id="return in time"
        ),
        pytest.param(False, marks=pytest.mark.executor, id="return later"),
    ],
)
def test_k05_all_brokers_are_lost_in_mid_run_and_come_back(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, *, returns: bool
) -> None:
    """They are killed with the answer to the first request. In time: 0; later: 6, and resume
    completes.
    """
    topic, target = make_topic(connection, dict.fromkeys(range(2), (1, 2))), (2, 3)
    targets = dict.fromkeys(range(2), target)
    plan = document(
        tmp_path / "plan.json", reassignment(topic, targets, waves={"max_partitions": 1})
    )

    def kill() -> None:
        for each in kraft.broker_ports:
            kraft.server("broker", each).stop(kill=True)

    with BrokerProxy(kraft) as proxy, ExitStack() as stack:
        proxy.faults.append(
            WritePoint("reassignments, time 1", forwarded=True).fault(Action.CALL, kill)
        )
        outage_s = PATIENT_S if returns else HASTY_S
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes", outage_s=outage_s)
        stack.callback(runner.end)
        try:
            wait_until(lambda: "does not answer; waiting" in runner.told or runner.ended, WAIT_S)
            if not returns:
                wait_until(lambda: runner.ended, WAIT_S)
        finally:
            for each in kraft.broker_ports:
                kraft.start_broker(each)
        ended = runner.answer()
    if returns:
        assert ended.status == 0, ended.err
    else:
        assert ended.status == 6, ended.err
        assert "kadmin resume" in ended.err
        resumed = KadminProcess(kraft.bootstrap, "resume", "--yes").answer()
        assert resumed.status == 0, resumed.err
    wait_assigned(connection, {TopicPartition(topic, number): target for number in range(2)})


@pytest.mark.executor
@pytest.mark.on("4.4.0")
def test_k03_a_runner_takes_a_request_to_pause_without_a_majority_of_controllers(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    """The request and its answer are on record; the runner stops when the majority is back."""
    topic, target = make_topic(connection, dict.fromkeys(range(2), (1, 2))), (2, 3)
    targets = dict.fromkeys(range(2), target)
    plan = document(
        tmp_path / "plan.json", reassignment(topic, targets, waves={"max_partitions": 1})
    )
    with BrokerProxy(kraft) as proxy, ExitStack() as stack:
        lose = partial(stack.enter_context, no_majority(kraft, connection))
        proxy.faults.append(
            WritePoint("reassignments, time 1", forwarded=False).fault(Action.CALL, lose)
        )
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes", outage_s=PATIENT_S)
        try:
            wait_until(lambda: "does not answer; waiting" in runner.told or runner.ended, WAIT_S)
            paused = KadminProcess(kraft.bootstrap, "pause").answer()
            assert paused.status == 0, paused.err
            assert "stops when the running wave is done" in paused.out
            assert [
                KadminProcess(kraft.bootstrap, each).answer().status
                for each in ("history", "status")
            ] == [0, 0]
            stack.close()
            stopped = runner.answer()
        finally:
            runner.end()
    assert stopped.status == 8, stopped.err
    assert "paused" in stopped.err
    resumed = KadminProcess(kraft.bootstrap, "resume", "--yes").answer()
    assert resumed.status == 0, resumed.err
    wait_assigned(connection, {TopicPartition(topic, number): target for number in range(2)})


@pytest.mark.executor
@pytest.mark.on("4.4.0")
def test_k03_a_request_to_cancel_without_controllers_and_without_a_runner_stays_on_record(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = document(tmp_path / "plan.json", reassignment(partition.topic, {0: (2, 3)}))
    with BrokerProxy(kraft) as proxy:
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes")
        proxy.faults.append(
            WritePoint("reassignments, time 1", forwarded=False).fault(
                Action.CUT_BEFORE, runner.kill
            )
        )
        wait_until(lambda: runner.ended, WAIT_S)
    with no_majority(kraft, connection):
        asked = KadminProcess(kraft.bootstrap, "cancel", "--now", "--yes").answer()
        assert asked.status == 6, asked.err
        assert "no controller does" in asked.err
    resumed = KadminProcess(kraft.bootstrap, "resume", "--yes").answer()
    assert "asked to cancel at once" in resumed.err
    assert KraftCluster(kraft, connection).history()[-1]["state"] == "cancelled"
    wait_assigned(connection, {partition: (1, 2)})


@pytest.mark.executor
def test_k03_a_watch_of_the_status_goes_on_without_a_majority_of_controllers(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    topic, target = make_topic(connection, {0: (1, 2)}), (2, 3)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: target}))
    with BrokerProxy(kraft) as proxy, ExitStack() as watchers:
        point, reached, go_on = (
            WritePoint("reassignments, time 1", forwarded=False),
            Event(),
            Event(),
        )

        def stop() -> None:
            reached.set()
            assert go_on.wait(WAIT_S)

        proxy.faults.append(point.fault(Action.CALL, stop))
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes", outage_s=PATIENT_S)
        watchers.callback(runner.end)
        assert reached.wait(WAIT_S)
        watcher = KadminProcess(kraft.bootstrap, "status", "--watch")
        watchers.callback(watcher.end)
        wait_until(lambda: "(reassignment, running)" in watcher.said or watcher.ended, WAIT_S)
        with no_majority(kraft, connection):
            wait_until(lambda: "progress: unknown: " in watcher.said or watcher.ended, WAIT_S)
        go_on.set()
        assert runner.answer().status == 0
        ended = watcher.answer()
        assert ended.status == 0, ended.err
        assert "progress: unknown: " in ended.out
