"""K07, K08: a runner that is stopped past its lease, and taken over, harms nothing when it wakes.

Runners are true command lines with a short lease, stopped with SIGSTOP while a proxy holds one of
their writes or the answer to it.
"""

from __future__ import annotations

import random
from itertools import takewhile
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.kafka.broker_proxy import ALTER_REASSIGNMENTS, BrokerProxy
from support.kafka.ground import TakeOver
from support.kafka.processes import KadminProcess
from support.kafka.writes import FIRST_WAVE, LastLook, WritePoint
from support.live.kraft import held_back, make_topic, wait_assigned
from support.live.waiting import freeze, thaw, wait_until
from support.network.frame_proxy import Action, Fault, request_of

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.sending import SEND_BY_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from support.kafka.ground import Ground

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.usefixtures("record")

TAKE_OVERS = (("resume", "--yes"), ("cancel", "--now", "--yes"))
SEED = 20_261_123
WAIT_S = 120


@pytest.mark.executor
@pytest.mark.parametrize(
    ("point", "successor"),
    [
        (WritePoint("configs, time 2", forwarded=False), TAKE_OVERS[0]),
        (WritePoint("configs, time 1", forwarded=True), TAKE_OVERS[1]),
        (WritePoint(f"{FIRST_WAVE}, time 1", forwarded=True), TAKE_OVERS[0]),
        (WritePoint(f"commit of {FIRST_WAVE}, time 1", forwarded=False), TAKE_OVERS[1]),
        (WritePoint("reassignments, time 1", forwarded=True), TAKE_OVERS[0]),
        (WritePoint("reassignments, time 2", forwarded=False), TAKE_OVERS[1]),
        (LastLook(), TAKE_OVERS[0]),
        (LastLook(), TAKE_OVERS[1]),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else str(each),
)
def test_k07_a_runner_that_wakes_after_a_take_over_changes_nothing_more(
    ground: Callable[[], Ground], point: WritePoint | LastLook, successor: tuple[str, ...]
) -> None:
    assert ground().take_over(point, *successor) == TakeOver([], stopped=True)


@pytest.mark.parametrize(
    ("times", "seed"),
    [
        pytest.param(2, SEED, marks=[pytest.mark.matrix, pytest.mark.on("4.4.0")], id="a few"),
        *(
            pytest.param(10, SEED + number, marks=pytest.mark.executor, id=f"ten, {number}")
            for number in range(10)
        ),
    ],
)
def test_k07_take_overs_of_a_runner_that_wakes(
    ground: Callable[[], Ground], times: int, seed: int
) -> None:
    """Runs differ in their writes: of those that are drawn, some do not come, and others are drawn
    in turn.
    """
    chosen, points = random.Random(seed), ground().points()  # noqa: S311 - a sample, the same in every run
    writes = [each.write for each in points]
    begin, end = writes.index("configs, time 1"), writes.index("status, time 1")
    wrong, taken_over = list[str](), 0
    for number in range(times + max(1, times // 4)):
        if taken_over == times:
            break
        found = ground().take_over(
            chosen.choice(points[begin:end]), *TAKE_OVERS[number % len(TAKE_OVERS)]
        )
        wrong += found.wrong
        taken_over += found.stopped
    assert (wrong, taken_over) == ([], times)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(
            SEND_BY_S, marks=pytest.mark.executor, id="as long as a step is proof of the lock"
        ),
        pytest.param(
            25.0, marks=[pytest.mark.executor, pytest.mark.on("4.4.0")], id="25 s, five leases"
        ),
    ],
)
def test_k07_a_runner_suspended_between_look_and_send_sends_nothing_before_it_has_looked_again(
    ground: Callable[[], Ground], seconds: float
) -> None:
    """The step is written anew, which proves the lock, and then the topics are read anew."""
    woken = ground().suspend(LastLook(), seconds)
    before = list(takewhile(lambda each: not each.startswith("reassignments"), woken))
    assert f"commit of {FIRST_WAVE}, time 1" in before
    assert "reassignments, time 1" in woken


@pytest.mark.parametrize(
    "copies",
    [
        pytest.param("slow", marks=[pytest.mark.matrix, pytest.mark.on("4.4.0")], id="slow, once"),
        *(
            pytest.param("slow", marks=pytest.mark.executor, id=f"slow, {number}")
            for number in range(20)
        ),
        *(
            pytest.param("at once", marks=pytest.mark.executor, id=f"at once, {number}")
            for number in range(20)
        ),
    ],
)
def test_k08_a_request_that_a_frozen_broker_applies_late_is_reported_and_taken_back(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, copies: str
) -> None:
    """Runner and broker freeze with the request on its way; another runner cancels, the broker
    thaws.

    A copy that is seen in flight then is taken back; one that has ended by then is what a rollback
    returns.
    """
    topic = make_topic(connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: (3, 4)}))
    slowly: AbstractContextManager[None] = held_back(
        connection, [partition] if copies == "slow" else []
    )
    with slowly, BrokerProxy(kraft) as proxy:
        zombie, frozen = KadminProcess(proxy.bootstrap, "apply", plan, "--yes"), list[int]()

        def stop() -> None:
            freeze(zombie.pid)
            port = proxy.requests(ALTER_REASSIGNMENTS)[-1].port
            kraft.freeze(
                broker_id := next(each for each, at in kraft.broker_ports.items() if at == port)
            )
            frozen.append(broker_id)

        proxy.faults.append(Fault(Action.CALL, request_of(ALTER_REASSIGNMENTS), then=stop))
        try:
            wait_until(lambda: bool(frozen), WAIT_S)
            successor = KadminProcess(kraft.bootstrap, "cancel", "--now", "--yes", settle_s=20)
            wait_until(lambda: "settling" in successor.told or successor.ended, WAIT_S)
            kraft.thaw(frozen[0])
            cancelled = successor.answer()
            thaw(zombie.pid)
            woken = zombie.answer()
        finally:
            zombie.end()
            for each in frozen:
                kraft.thaw(each)
    assert cancelled.status == 0, cancelled.err
    assert "applied late" in cancelled.err
    assert woken.status == 5, woken.err
    if copies == "at once" and read_cluster(connection, [topic]).replicas(partition) == (3, 4):
        undone = KadminProcess(kraft.bootstrap, "rollback", "--yes").answer()
        assert undone.status == 0, undone.err
    wait_assigned(connection, {partition: (1, 2)})
