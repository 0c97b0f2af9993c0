"""Sessions that expire, and a ZooKeeper that stands still, while a plan is under way."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.process import kadmin
from support.controller.simple_controller import Manner
from support.documents.plans import document, reassignment
from support.live.waiting import freeze, thaw, wait_until
from support.network.frame_proxy import Action, Fault, Side, reply_to, request_with
from support.zookeeper.fault_proxy import MULTI, PUBLISH

from kadmin.operations.context import Clock
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.controller.simple_controller import SimpleController
    from support.network.frame_proxy import Frame
    from support.zookeeper.fault_proxy import FaultProxy

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.zookeeper

NODE = "/admin/reassign_partitions"
TIMEOUT_S = 3.0


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2]})
    return document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}))


def test_f07_a_session_that_expires_while_waiting_takes_the_lock_again(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)

    def expire() -> None:
        wait_until(lambda: cluster.get(NODE) is not None)
        proxy.expire()
        wait_until(lambda: cluster.get("/kadmin/lock") is None, 10)
        cluster.behave(Manner.OBEY)

    meanwhile = threading.Thread(target=expire)
    meanwhile.start()
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "60")
    meanwhile.join()
    assert applied.status == 0, applied.err
    assert "the session expired; the lock was taken again" in applied.err
    assert len(cluster.steps("wave")) == 1, "no new create"
    assert cluster.replicas("orders") == {0: [2, 3]}
    assert cluster.get("/kadmin/lock") is None


def test_f08_a_session_that_expires_before_the_publish_writes_nothing_and_takes_the_lock_again(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    proxy.faults = [Fault(Action.CUT_BEFORE, PUBLISH, then=proxy.expire)]
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "60")
    assert applied.status == 0, applied.err
    assert "the lock was taken again" in applied.err
    assert len(cluster.steps("wave")) == 1


def test_f08_when_another_took_the_lock_meanwhile_it_is_named(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    with Store.connect(cluster.connect) as other:

        def lose() -> None:
            proxy.expire()
            holder = Holder(Author("ann", "host-a", 7), "op-of-ann", "now", 10.0)
            ZnodeLock(other, Paths(), Clock()).take(holder, 10)

        proxy.faults = [Fault(Action.CUT_BEFORE, PUBLISH, then=lose)]
        applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "60")
    assert applied.status == 5, applied.err
    assert "ann@host-a" in applied.err
    assert cluster.steps("wave") == []
    assert cluster.replicas("orders") == {0: [1, 2]}


def test_f08_when_another_completed_the_operation_meanwhile_the_lock_was_lost(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    """The runner that wakes finds the lock free, every target reached and the operation
    completed.
    """
    cluster.behave(Manner.HOLD)
    resumed: list[str] = []

    def complete() -> None:
        cluster.behave(Manner.OBEY)
        successor = kadmin("resume", "--yes", "-z", cluster.connect)
        resumed.append(successor.stderr)
        assert successor.returncode == 0, successor.stderr

    def stand_still() -> None:
        wait_until(lambda: cluster.get(NODE) is not None)
        proxy.expire(complete)

    meanwhile = threading.Thread(target=stand_still)
    meanwhile.start()
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "120")
    meanwhile.join()
    assert resumed
    assert applied.status == 5, applied.err
    assert "The lock was lost" in applied.err
    assert len(cluster.steps("wave")) == 1


@pytest.fixture
def server(zookeeper: Sandbox) -> Iterator[int]:
    """The process id of a ZooKeeper that may be made to stand still; it runs on afterwards in any
    case.
    """
    pid = zookeeper.zookeepers[1].pid
    yield pid
    thaw(pid)


def after(matches: Callable[[Frame], bool]) -> Callable[[Frame], bool]:
    """Match the first request that follows a reply to what matches."""
    answered = reply_to(matches)
    seen: list[Frame] = []

    def follows(frame: Frame) -> bool:
        if answered(frame):
            seen.append(frame)
        return bool(seen) and frame.side is Side.REQUEST

    return follows


@dataclass(frozen=True)
class TimelineEvent:
    """When the server stops, what kadmin then may say, and whether the wave had been published."""

    action: Action
    matches: Callable[[], Callable[[Frame], bool]]
    statuses: frozenset[int]
    published: bool


MOMENTS = {
    "F06-before": TimelineEvent(
        Action.CALL,
        lambda: request_with(MULTI, b"/kadmin/lock"),
        frozenset({6, 7}),
        published=False,
    ),
    "F06-on-its-way": TimelineEvent(Action.CALL, lambda: PUBLISH, frozenset({7}), published=True),
    "F06-during": TimelineEvent(
        Action.HOLD, lambda: reply_to(PUBLISH), frozenset({7}), published=True
    ),
    "F06-after": TimelineEvent(Action.CALL, lambda: after(PUBLISH), frozenset({6}), published=True),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_a_server_that_stands_still_makes_nobody_wait_past_the_timeout(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path, server: int, name: str
) -> None:
    moment = MOMENTS[name]
    proxy.faults = [Fault(moment.action, moment.matches(), then=lambda: freeze(server))]
    started = time.monotonic()
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", str(TIMEOUT_S))
    assert time.monotonic() - started < 30.0
    assert applied.status in moment.statuses, applied.err
    assert "Traceback" not in applied.err
    thaw(server)
    resumed = command("resume", "--yes", "-z", cluster.connect, "--timeout", "60")
    if moment.published:
        assert resumed.status == 0, resumed.err
        assert len(cluster.steps("wave")) == 1
    assert cluster.replicas("orders") == {0: [2, 3] if moment.published else [1, 2]}
