"""Sessions that expire, and a ZooKeeper that stands still, while a plan is under way."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest
from cluster_under_test import command, document, reassignment
from fault_proxy import MULTI, PUBLISH, Action, Fault, Side, reply_to, request_with
from live_support import wait_until
from stand_in import Manner

from kadmin.cluster.store import Store
from kadmin.operations.clock import Clock
from kadmin.operations.lock import Holder, take
from kadmin.operations.record import Author, Paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fault_proxy import FaultProxy, Frame
    from stand_in import StandIn

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.zookeeper

NODE = "/admin/reassign_partitions"
TIMEOUT_S = 4.0


@pytest.fixture
def plan(cluster: StandIn, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2]})
    return document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}))


def test_f07_a_session_that_expires_while_waiting_takes_the_lock_again(
    cluster: StandIn, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)

    def expire() -> None:
        wait_until(lambda: cluster.get(NODE) is not None, 30)
        proxy.expire()
        wait_until(lambda: cluster.get("/kadmin/lock") is None, 10)
        cluster.behave(Manner.OBEY)

    meanwhile = threading.Thread(target=expire)
    meanwhile.start()
    applied = command("apply", plan, "--yes", "-z", broken)
    meanwhile.join()
    assert applied.status == 0, applied.err
    assert "the ZooKeeper session expired; taking the lock again" in applied.err
    assert len(cluster.steps("wave")) == 1, "no new create"
    assert cluster.replicas("orders") == {0: [2, 3]}
    assert cluster.get("/kadmin/lock") is None


def test_f08_a_session_that_expires_before_the_publish_writes_nothing_and_takes_the_lock_again(
    cluster: StandIn, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    proxy.faults = [Fault(Action.CUT_BEFORE, PUBLISH, then=proxy.expire)]
    applied = command("apply", plan, "--yes", "-z", broken)
    assert applied.status == 0, applied.err
    assert "taking the lock again" in applied.err
    assert len(cluster.steps("wave")) == 1


def test_f08_when_another_took_the_lock_meanwhile_it_is_named(
    cluster: StandIn, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    with Store.connect(cluster.connect) as other:

        def lose() -> None:
            proxy.expire()
            holder = Holder(Author("ann", "host-a", 7), "op-of-ann", "now", 10.0)
            take(other, Paths(), holder, Clock(), 10)

        proxy.faults = [Fault(Action.CUT_BEFORE, PUBLISH, then=lose)]
        applied = command("apply", plan, "--yes", "-z", broken)
    assert applied.status == 5, applied.err
    assert "ann@host-a" in applied.err
    assert cluster.steps("wave") == []
    assert cluster.replicas("orders") == {0: [1, 2]}


@pytest.fixture
def frozen(zookeeper: Sandbox) -> Iterator[Callable[[], None]]:
    """Stop the server; it goes on at the end."""
    pid = zookeeper.zookeepers[1].pid
    yield lambda: os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGCONT)


def after(matches: Callable[[Frame], bool]) -> Callable[[Frame], bool]:
    """Match the first request that follows a reply to what matches."""
    answered = reply_to(matches)
    seen: list[Frame] = []

    def follows(frame: Frame) -> bool:
        if answered(frame):
            seen.append(frame)
        return bool(seen) and frame.side is Side.REQUEST

    return follows


@pytest.mark.parametrize(
    ("fault", "statuses", "published"),
    [
        (lambda then: Fault(Action.CALL, request_with(MULTI, b"/kadmin/lock"), then=then), {6, 7}, False),
        (lambda then: Fault(Action.CALL, PUBLISH, then=then), {7}, True),
        (lambda then: Fault(Action.HOLD, reply_to(PUBLISH), then=then), {7}, True),
        (lambda then: Fault(Action.CALL, after(PUBLISH), then=then), {6}, True),
    ],
    ids=["F06-before", "F06-on-its-way", "F06-during", "F06-after"],
)
def test_a_server_that_stands_still_makes_nobody_wait_past_the_timeout(
    cluster: StandIn,
    proxy: FaultProxy,
    broken: str,
    plan: Path,
    frozen: Callable[[], None],
    zookeeper: Sandbox,
    fault: Callable[[Callable[[], None]], Fault],
    statuses: set[int],
    published: bool,  # noqa: FBT001 - a parametrised expectation
) -> None:
    proxy.faults = [fault(frozen)]
    started = time.monotonic()
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", str(TIMEOUT_S))
    assert time.monotonic() - started < TIMEOUT_S + 2
    assert applied.status in statuses, applied.err
    assert "Traceback" not in applied.err
    os.kill(zookeeper.zookeepers[1].pid, signal.SIGCONT)
    resumed = command("resume", "--yes", "-z", cluster.connect)
    if published:
        assert resumed.status == 0, resumed.err
        assert len(cluster.steps("wave")) == 1
        assert cluster.replicas("orders") == {0: [2, 3]}
    else:
        assert cluster.replicas("orders") == {0: [1, 2]}
