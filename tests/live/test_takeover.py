"""What breaks in the middle: lost replies, killed runners, a held lock, on live brokers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, reply_to
from support.zookeeper.fault_proxy import MULTI, PUBLISH, FaultProxy

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.steps import waves_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live


@contextmanager
def through_a_proxy(cluster: Cluster) -> Iterator[tuple[FaultProxy, str]]:
    host, port = cluster.connect.split("/")[0].split(":")
    with FaultProxy((host, int(port))) as proxy:
        yield proxy, f"{proxy.connect_string}/kafka"


@pytest.mark.parametrize(
    "action", [Action.CUT_AFTER, Action.CUT_BEFORE, Action.CUT_HALF], ids=["F01", "F02", "F03"]
)
def test_a_publish_whose_connection_breaks_happens_exactly_once(
    cluster: Cluster, tmp_path: Path, action: Action
) -> None:
    """Step record and admin node appear together or not at all, so a lost reply is never a
    guess.
    """
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with through_a_proxy(cluster) as (proxy, connect):
        proxy.faults.append(Fault(action, PUBLISH))
        applied = cluster.kadmin("apply", plan, "--yes", "-o", "json", connect=connect)
    assert applied.status == 0, applied.err
    waves = [
        step
        for step in cluster.steps(json.loads(applied.out)["operation_id"])
        if step.kind == "wave"
    ]
    assert len(waves) == 1
    # Controllers of 2.3 write the node once more when they pick it up.
    written = 2 if cluster.version[:2] == (2, 3) else 1
    assert cluster.writes_in_log(f'"topic":"{topic}","partition":0,"replicas":[2,3]') == written
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 3)


def test_f04_a_lost_reply_is_resolved_by_the_step_record_after_the_controller_consumed_the_node(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))

    def consumed() -> None:
        wait_until(lambda: cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 3))
        wait_until(lambda: cluster.get("/admin/reassign_partitions") is None)

    with through_a_proxy(cluster) as (proxy, connect):
        proxy.faults.append(Fault(Action.CUT_BEFORE, reply_to(PUBLISH), then=consumed))
        applied = cluster.kadmin("apply", plan, "--yes", "-o", "json", connect=connect)
        assert applied.status == 0, applied.err
        assert len([frame for frame in proxy.requests(MULTI) if PUBLISH(frame)]) == 1
    steps = cluster.steps(json.loads(applied.out)["operation_id"])
    assert waves_of(steps) == [0]


@pytest.mark.eras
@pytest.mark.on("0.10.2.2", "2.8.2", "3.9.2")
def test_f05_a_reply_lost_for_good_is_reported_as_unknown(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with through_a_proxy(cluster) as (proxy, connect):
        proxy.faults.append(Fault(Action.CUT_BEFORE, reply_to(PUBLISH), then=proxy.refuse))
        applied = cluster.kadmin("apply", plan, "--yes", connect=connect)
    assert applied.status == 7, applied.err
    assert "unknown" in applied.err
    assert "kadmin status" in applied.err
    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_f26_a_controller_that_moves_in_mid_plan_is_followed(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The copies are held back while it moves: on 2.8.2 an ISR due to grow in that very moment
    stayed as it was.
    """
    topic = cluster.create_topic({number: [1, 2] for number in range(6)})
    cluster.produce(topic, per_partition=200)
    value = reassignment(
        topic, {number: [2, 3] for number in range(6)}, waves={"max_partitions": 2}
    )
    plan = document(tmp_path / "plan.json", value)
    command = [
        sys.executable,
        "-m",
        "kadmin",
        "apply",
        str(plan),
        "--yes",
        "-z",
        cluster.connect,
        "--timeout",
        "120",
    ]
    with cluster.held_back(topic):
        runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wave = [TopicPartition(topic, number) for number in (0, 1)]
        wait_until(
            lambda: all(3 in (cluster.state(topic).replicas(each) or ()) for each in wave), 60
        )
        epoch = cluster.get("/controller_epoch")
        cluster.controllers.move()
    _, story = runner.communicate(timeout=130)
    assert runner.returncode == 0, story.decode()
    assert cluster.get("/controller_epoch") != epoch
    waves = waves_of(cluster.steps(cluster.history()[-1].operation_id))
    assert waves == [0, 1, 2]
    assert cluster.kadmin("verify", plan).status == 0


def test_kill_9_in_the_middle_and_resume_finishes_it(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({number: [1, 2] for number in range(6)})
    written = cluster.produce(topic, per_partition=50)
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, {number: [2, 3] for number in range(6)}, waves={"max_partitions": 1}),
    )
    command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", cluster.connect]
    victim = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    known = {listing.operation_id for listing in cluster.history()}

    def in_the_middle() -> bool:
        fresh = [
            listing.operation_id
            for listing in cluster.history()
            if listing.operation_id not in known
        ]
        return bool(fresh) and len(cluster.steps(fresh[0])) >= 2

    wait_until(in_the_middle, 60)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    operation = next(listing for listing in cluster.history() if not listing.status.state.finished)

    other = document(tmp_path / "other.json", reassignment(topic, {0: [1, 3]}))
    busy = cluster.kadmin("apply", other, "--yes", "--lock-timeout", "30")
    assert busy.status == 5, busy.err
    assert operation.operation_id in busy.err
    assert operation.operation_id in cluster.kadmin("status").out

    resumed = cluster.kadmin("resume", "--yes")
    assert resumed.status == 0, resumed.err
    assert cluster.kadmin("verify", plan).status == 0
    waves = waves_of(cluster.steps(operation.operation_id))
    assert waves == list(range(6)), "each wave published exactly once and in order"
    assert cluster.read_back(topic) == written
    assert cluster.kadmin("resume", operation.operation_id, "--yes").status == 0, (
        "a finished one only says so"
    )


@pytest.mark.on("1.1.1", "2.8.2", "3.9.2")
def test_f24_a_deadline_keeps_the_operation_and_says_how_to_go_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    cluster.produce(topic, per_partition=200)
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with cluster.held_back(topic):
        late = cluster.kadmin("apply", plan, "--yes", "--timeout", "12")
        assert late.status == 8, late.err
        assert f"{topic}-0" in late.err
        assert "kadmin resume" in late.err
    assert cluster.kadmin("lock", "show").out.strip() == "the lock is free"
    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_f28_a_signal_stops_at_a_safe_point_with_the_record_whole(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({number: [1, 2] for number in range(6)})
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, {number: [2, 3] for number in range(6)}, waves={"max_partitions": 1}),
    )
    command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", cluster.connect]
    runner = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    wait_until(lambda: any(not found.status.state.finished for found in cluster.history()), 60)
    runner.send_signal(signal.SIGTERM)
    _, story = runner.communicate(timeout=60)
    assert runner.returncode == 143, story.decode()
    assert b"kadmin resume" in story
    assert cluster.kadmin("lock", "show").out.strip() == "the lock is free"
    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_a_held_lock_is_named_and_released_by_hand(cluster: Cluster, tmp_path: Path) -> None:
    from kadmin.operations.context import Clock
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Author
    from kadmin.worlds.zookeeper.values.lock import ZnodeLock
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with Store.connect(cluster.connect) as other:
        ZnodeLock(other, Paths(), Clock()).take(
            Holder(Author("ann", "host-a", 7), "op-of-ann", "now", 10.0), 0
        )
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == 5
        assert "ann@host-a" in refused.err
        assert "op-of-ann" in cluster.kadmin("lock", "show").out
        assert cluster.kadmin("lock", "release", "op-of-ann", "--yes").status == 0
    assert cluster.kadmin("apply", plan, "--yes").status == 0
