"""K02, K04: a server is lost around a request of a running command: the active controller, or the
broker that is asked.

Another one serves: the command waits for nobody, and ends with 0.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.kafka.broker_proxy import ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS, BrokerProxy
from support.kafka.processes import KadminProcess
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, Side, reply_of, request_of

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.wire.quorum import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.network.frame_proxy import Frame

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.usefixtures("record")

WAVES, TARGET = 2, (3, 4)
A_MOMENT_S = 1.0
WAIT_S = 120


@pytest.fixture
def partitions(connection: KafkaConnection) -> list[TopicPartition]:
    topic = make_topic(connection, dict.fromkeys(range(WAVES), (1, 2)))
    return [TopicPartition(topic, number) for number in range(WAVES)]


@pytest.fixture
def plan(partitions: list[TopicPartition], tmp_path: Path) -> Path:
    targets = {each.partition: TARGET for each in partitions}
    return document(
        tmp_path / "plan.json",
        reassignment(partitions[0].topic, targets, waves={"max_partitions": 1}),
    )


@pytest.mark.parametrize(
    ("how", "matches"),
    [
        pytest.param(
            "killed",
            request_of(ALTER_REASSIGNMENTS),
            marks=[pytest.mark.eras, pytest.mark.on("4.4.0")],
            id="killed before the request",
        ),
        pytest.param(
            "killed",
            reply_of(ALTER_REASSIGNMENTS),
            marks=pytest.mark.executor,
            id="killed before the answer",
        ),
        pytest.param(
            "frozen",
            request_of(ALTER_REASSIGNMENTS),
            marks=pytest.mark.executor,
            id="frozen for 1 s with the request",
        ),
        pytest.param(
            "frozen",
            reply_of(ALTER_REASSIGNMENTS),
            marks=pytest.mark.executor,
            id="frozen for 1 s after the answer",
        ),
    ],
)
def test_k02_the_active_controller_is_lost_around_a_request(
    kraft: Sandbox,
    connection: KafkaConnection,
    partitions: list[TopicPartition],
    plan: Path,
    how: str,
    matches: Callable[[Frame], bool],
) -> None:
    active = describe_quorum(connection).leader_id
    lost = threading.Event()

    def lose() -> None:
        if how == "killed":
            kraft.stop_controller(active, kill=True)
        else:
            kraft.freeze(active)
            threading.Timer(A_MOMENT_S, kraft.thaw, [active]).start()
        lost.set()

    with BrokerProxy(kraft) as proxy:
        proxy.faults.append(Fault(Action.CALL, matches, then=lose))
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes")
        try:
            ended = runner.answer()
        finally:
            kraft.start_controller(active)
            kraft.thaw(active)
    assert lost.is_set()
    assert ended.status == 0, ended.err
    wait_assigned(connection, dict.fromkeys(partitions, TARGET))


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("killed", marks=pytest.mark.executor),
        pytest.param("leaves", marks=pytest.mark.executor),
        pytest.param("frozen", marks=[pytest.mark.eras, pytest.mark.on("4.4.0")]),
    ],
)
def test_k04_the_broker_that_a_running_command_asks_is_lost_and_another_one_is_asked(
    kraft: Sandbox,
    connection: KafkaConnection,
    partitions: list[TopicPartition],
    plan: Path,
    how: str,
) -> None:
    """It is lost as it is asked what becomes of the first wave; it is back once another one has
    answered that.
    """
    lost, published, is_away = list[tuple[int, int]](), threading.Event(), threading.Event()

    def follows(frame: Frame) -> bool:
        if frame.op == ALTER_REASSIGNMENTS:
            published.set()
        return published.is_set() and request_of(LIST_REASSIGNMENTS)(frame)

    with BrokerProxy(kraft) as proxy:

        def lose() -> None:
            asked = proxy.requests(LIST_REASSIGNMENTS)[-1]
            broker_id = next(
                each for each, port in kraft.broker_ports.items() if port == asked.port
            )
            lost.append((broker_id, asked.number))
            if how == "frozen":
                kraft.freeze(broker_id)
            else:
                kraft.stop_broker(broker_id, kill=how == "killed")
            is_away.set()

        def another_answered() -> bool:
            return any(
                each.side is Side.REPLY
                and each.op == LIST_REASSIGNMENTS
                and each.number > number
                and each.port != kraft.broker_ports[broker_id]
                for broker_id, number in lost
                for each in list(proxy.frames)
            )

        proxy.faults.append(Fault(Action.CALL, follows, then=lose))
        runner = KadminProcess(proxy.bootstrap, "apply", plan, "--yes")
        try:
            wait_until(lambda: (is_away.is_set() and another_answered()) or runner.ended, WAIT_S)
            assert another_answered(), runner.told
        finally:
            for broker_id, _ in lost:
                if how == "frozen":
                    kraft.thaw(broker_id)
                else:
                    kraft.start_broker(broker_id)
        ended = runner.answer()
    assert ended.status == 0, ended.err
    wait_assigned(connection, dict.fromkeys(partitions, TARGET))
