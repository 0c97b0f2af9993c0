"""An ensemble of three that loses its leader, its quorum, or one server's freshness."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from itertools import count
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from support.cli.in_process import command
from support.controller.simple_controller import Manner, SimpleController
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, reply_of
from support.zookeeper.ensemble import LAGGARD, Ensemble
from support.zookeeper.fault_proxy import MULTI, PUBLISH, SYNC, FaultProxy

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.documents import parse_document
from kadmin.operations.context import Clock
from kadmin.operations.execute import apply as service
from kadmin.plan.facts import ClusterFacts
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.topics import encode_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kadmin.operations.events import Event

pytestmark = [pytest.mark.zookeeper, pytest.mark.xdist_group("ensemble")]

NODE = "/admin/reassign_partitions"
CALL_S = 2.0
RUNNERS_SYNC = 2
"""The first two syncs come before the record: `apply` looks before it asks, and again under its
lock."""

_chroots = count()


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    with Ensemble(tmp_path_factory.mktemp("ensemble")) as running:
        yield running


@pytest.fixture
def chroot(ensemble: Ensemble) -> str:
    path = f"/test-{next(_chroots)}"
    with Store.connect(ensemble.connect_string) as root:
        assert root.multi([Create(path, b"")]).committed
    return path


@pytest.fixture
def cluster(ensemble: Ensemble, chroot: str) -> Iterator[SimpleController]:
    with SimpleController(ensemble.connect_string + chroot) as found:
        found.create_topic("orders", {0: [1, 2], 1: [1, 2]})
        yield found


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return document(
        tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}, current={0: [1, 2]})
    )


def during(action: Callable[[], None]) -> threading.Thread:
    meanwhile = threading.Thread(target=action)
    meanwhile.start()
    return meanwhile


@pytest.mark.parametrize(
    "sign", ["/kadmin/lock", NODE], ids=["F09-before-the-publish", "F09-while-waiting"]
)
def test_a_leader_killed_is_replaced_and_the_plan_goes_on(
    ensemble: Ensemble, cluster: SimpleController, plan: Path, sign: str
) -> None:
    """Within ten seconds of the re-election."""
    cluster.behave(Manner.HOLD)
    elected: list[float] = []
    leader = ensemble.leader
    assert leader is not None

    def kill() -> None:
        wait_until(lambda: cluster.get(sign) is not None)
        ensemble.kill(leader)
        wait_until(lambda: ensemble.leader is not None, 60)
        elected.append(time.monotonic())
        cluster.behave(Manner.OBEY)

    meanwhile = during(kill)
    applied = command("apply", plan, "--yes", "-z", cluster.connect)
    ended = time.monotonic()
    meanwhile.join()
    ensemble.start(leader)
    assert applied.status == 0, applied.err
    assert ended - elected[0] < 10
    assert len(cluster.steps("wave")) == 1
    assert cluster.replicas("orders")[0] == [2, 3]


def run(
    cluster: SimpleController, plan: Path, tell: Callable[[Event], None], until: float
) -> service.Outcome:
    """Apply a plan with calls that give up after CALL_S in place of 15 s."""
    with Store.connect(
        cluster.connect, timeout_s=CALL_S, session_timeout_s=4.0, until=until
    ) as store:
        context = zookeeper_context(store, Paths(), Clock(until), tell)
        document = parse_document(plan.read_bytes(), "plan")
        return service.apply(context, document, ClusterFacts(), 0)  # type: ignore[arg-type] # a plan


def test_f10_a_quorum_that_is_lost_and_comes_back_is_waited_for(
    ensemble: Ensemble, cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)
    told: list[str] = []
    followers = ensemble.followers

    def lose() -> None:
        wait_until(lambda: cluster.get(NODE) is not None)
        ensemble.kill(*followers)
        wait_until(lambda: any("does not answer" in each for each in told), 60)
        ensemble.start(*followers)
        cluster.behave(Manner.OBEY)

    meanwhile = during(lose)
    outcome = run(
        cluster, plan, lambda event: told.append(getattr(event, "text", "")), time.monotonic() + 120
    )
    meanwhile.join()
    assert outcome.message == "1 partition at the target"
    assert len(cluster.steps("wave")) == 1


@pytest.mark.executor
def test_f10_a_quorum_that_stays_away_ends_at_the_deadline_with_the_way_to_resume(
    ensemble: Ensemble, cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)
    followers = ensemble.followers

    def lose() -> None:
        wait_until(lambda: cluster.get(NODE) is not None)
        ensemble.kill(*followers)

    meanwhile = during(lose)
    line = [
        sys.executable,
        "-m",
        "kadmin",
        "apply",
        str(plan),
        "--yes",
        "-z",
        cluster.connect,
        "--timeout",
        "8",
    ]
    try:
        ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        meanwhile.join()
        assert ended.returncode == 6, ended.stderr
        assert re.search(r"kadmin resume \S+ -z \S+, when the cluster is reachable", ended.stderr)
    finally:
        ensemble.start(*followers)
    cluster.behave(Manner.OBEY)
    resumed = command(
        "resume", "--yes", "-z", cluster.connect, "--lock-timeout", "30", "--timeout", "60"
    )
    assert resumed.status == 0, resumed.err
    assert len(cluster.steps("wave")) == 1


@pytest.mark.executor
def test_f11_a_server_in_read_only_mode_is_no_server_to_write_to(
    ensemble: Ensemble, cluster: SimpleController, chroot: str, plan: Path
) -> None:
    ensemble.kill(2, 3)
    try:
        wait_until(lambda: ensemble.is_read_only(1), 60)
        started = time.monotonic()
        for refused in (
            command("apply", plan, "--yes", "-z", ensemble.server(1) + chroot, "--timeout", "2"),
            command("status", "-z", ensemble.server(1) + chroot, "--timeout", "2"),
        ):
            assert refused.status == 6, refused.err
            assert "read-only" in refused.err
        assert time.monotonic() - started < 40.0
    finally:
        ensemble.start(2, 3)
    wait_until(lambda: cluster.client.connected)
    assert cluster.operations() == []


@pytest.mark.parametrize(
    ("elsewhere", "status"),
    [({1: [2, 1]}, 0), ({0: [1, 4]}, 4)],
    ids=["F12-still-at-current", "F12-moved-on"],
)
def test_a_stale_read_is_caught_by_the_version_and_looked_at_again(
    ensemble: Ensemble, chroot: str, plan: Path, elsewhere: dict[int, list[int]], status: int
) -> None:
    """kadmin talks to a server that has not yet heard of a change which the others have
    committed.
    """
    if ensemble.leader == LAGGARD:
        ensemble.kill(LAGGARD)
        ensemble.start(LAGGARD)
    change = encode_topic(
        {number: tuple(ids) for number, ids in ({0: [1, 2], 1: [1, 2]} | elsewhere).items()}
    )
    leader = KazooClient(ensemble.server(ensemble.leader or 0) + chroot)
    leader.start()
    syncs = count()

    def lag() -> None:
        if next(syncs) == RUNNERS_SYNC:
            ensemble.hold_laggard()
            leader.set("/brokers/topics/orders", change)

    with (
        SimpleController(ensemble.server(LAGGARD) + chroot) as cluster,
        FaultProxy(parse_connect_string(ensemble.server(LAGGARD)).servers[0]) as proxy,
    ):
        cluster.create_topic("orders", {0: [1, 2], 1: [1, 2]})
        proxy.faults = [
            Fault(Action.CALL, reply_of(SYNC), times=9, then=lag),
            Fault(Action.CALL, PUBLISH, times=9, then=ensemble.release_laggard),
        ]
        applied = command("apply", plan, "--yes", "-z", proxy.connect_string + chroot)
        published = [frame for frame in proxy.requests(MULTI) if PUBLISH(frame)]
        assert applied.status == status, applied.err
        assert "reading it again" in applied.err
        assert len(published) == (2 if status == 0 else 1)
        assert cluster.replicas("orders")[0] == ([2, 3] if status == 0 else [1, 4])
    leader.stop()
    leader.close()
