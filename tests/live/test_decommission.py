"""A decommission on live brokers: drained, proved empty, stopped by a person, unregistered."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.live.doctor import examine
from support.live.errands import connected
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.kafka.processes import KadminProcess
    from support.live.errands import Brokers

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

LEAVES = 4
TO_STOP = f"stop broker {LEAVES} now, proved empty"
KIB = 1024


@pytest.fixture
def brokers(lone_sandbox: Sandbox) -> Iterator[Brokers]:
    """The brokers, all of them alive and without cordons before and after a test."""
    with connected(lone_sandbox) as found:
        yield found
        if not lone_sandbox.brokers[LEAVES].alive:
            lone_sandbox.start_broker(LEAVES)
        wait_until(lambda: LEAVES in found.state().brokers)


def proposed(brokers: Brokers, folder: Path, rate: str = "20MB/s") -> Path:
    plan = folder / "decommission.yaml"
    words = ("--broker", str(LEAVES), "--throttle", rate, "--out", str(plan))
    found = brokers.kadmin("propose", "decommission", *words)
    assert found.status == 0, found.err
    return plan


def lists(brokers: Brokers) -> dict[TopicPartition, Replicas]:
    assignment = brokers.state().assignment
    return {each: assignment[each] for each in assignment if each.topic in brokers.topics}


def held(brokers: Brokers) -> list[TopicPartition]:
    return [each for each, replicas in brokers.state().assignment.items() if LEAVES in replicas]


def status(brokers: Brokers) -> str:
    return brokers.kadmin("status").out


def await_stop(brokers: Brokers, runner: KadminProcess) -> None:
    """Wait until a person is asked to stop the broker, while the runner is at work."""
    wait_until(lambda: TO_STOP in status(brokers) or runner.ended)
    assert not runner.ended, runner.answer().err


def is_clean(brokers: Brokers) -> bool:
    """Whether no throttle and no cordon is left, on the cluster or on record."""
    throttles = brokers.kadmin("throttle", "show", "-o", "json").out
    cordoned = [each["cordoned"] for each in brokers.asked("broker", "list")[1]["brokers"]]
    return not any(topic in throttles for topic in brokers.topics) and not any(cordoned)


def registered(brokers: Brokers) -> bool:
    state = brokers.state()
    return LEAVES in state.brokers or LEAVES in (state.fenced_brokers or {})


@pytest.mark.eras
def test_a_broker_leaves_and_no_record_is_lost(brokers: Brokers, tmp_path: Path) -> None:
    """Rule: what landed on it after the proposal is moved in a further round; in KRaft mode it is
    unregistered; when it is back, a rollback restores every list.
    """
    written = brokers.topic({0: (4, 1, 2), 1: (1, 4, 3), 2: (2, 3, 1), 3: (3, 2, 4)}, min_isr=2)
    plan = proposed(brokers, tmp_path)
    brokers.topic({0: (4, 2), 1: (1, 4)})
    before = lists(brokers)
    shown = brokers.kadmin("diff", str(plan))
    assert shown.status == 0, shown.err
    assert f"wait until a person stops broker {LEAVES}" in shown.out
    assert "moved in a further round" in shown.out
    with RecordsFlowing(brokers.sandbox.bootstrap, written) as flow:
        runner = brokers.run("apply", str(plan), "--yes")
        try:
            await_stop(brokers, runner)
            assert held(brokers) == []
            flow.wait_for_more()
            brokers.sandbox.stop_broker(LEAVES)
            ended = runner.answer()
        finally:
            runner.end()
        flow.wait_for_more()
    assert ended.status == 0, ended.err
    assert "landed meanwhile" in ended.err
    assert flow.lost() == []
    assert not registered(brokers)
    assert is_clean(brokers)
    assert all(len(now) == len(before[each]) for each, now in lists(brokers).items())
    brokers.sandbox.start_broker(LEAVES)
    wait_until(lambda: LEAVES in brokers.state().brokers)
    assert is_clean(brokers)
    back = brokers.kadmin("rollback", "--yes", "--timeout", "120")
    assert back.status == 0, back.err
    wait_until(lambda: lists(brokers) == before)


@pytest.mark.matrix
def test_what_lands_while_the_stop_is_awaited_is_moved_or_does_not_land(
    brokers: Brokers, tmp_path: Path
) -> None:
    """Rule: where Kafka has cordons nothing lands; elsewhere a further round moves it."""
    brokers.topic({0: (4, 1), 1: (2, 4)})
    runner = brokers.run("apply", str(proposed(brokers, tmp_path)), "--yes")
    try:
        await_stop(brokers, runner)
        cordoned = f"broker {LEAVES} is cordoned" in runner.told
        if cordoned:
            with pytest.raises(Exception, match="did not create topic"):
                brokers.topic({0: (4, 1)})
            brokers.topics.pop()
        else:
            (landed,) = brokers.topic({0: (4, 1)})
            wait_until(lambda: "1 partition landed meanwhile" in runner.told)
            wait_until(lambda: LEAVES not in lists(brokers)[landed])
            await_stop(brokers, runner)
        brokers.sandbox.stop_broker(LEAVES)
        ended = runner.answer()
    finally:
        runner.end()
    assert ended.status == 0, ended.err


@pytest.mark.matrix
def test_a_cancelled_decommission_leaves_no_cordon_and_is_rolled_back(
    brokers: Brokers, tmp_path: Path
) -> None:
    """Rule: cancelled while it drains slowly, or while the stop is awaited."""
    slow, _ = brokers.topic({0: (4, 1), 1: (2, 4)})
    produce(Servers(brokers.sandbox.bootstrap), {slow: [b"x" * 100 * KIB] * 20})
    before = lists(brokers)
    runner = brokers.run("apply", str(proposed(brokers, tmp_path, "100KB/s")), "--yes")
    try:
        wait_until(lambda: "published" in runner.told)
        cancelled = brokers.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        ended = runner.answer()
    finally:
        runner.end()
    assert ended.status == 8, ended.err
    assert is_clean(brokers)
    back = brokers.kadmin("rollback", "--yes", "--throttle", "50MB/s", "--timeout", "120")
    assert back.status in {0, 5}, back.err
    wait_until(lambda: lists(brokers) == before)


@pytest.mark.matrix
@pytest.mark.parametrize("ending", ["resumed", "cancelled"])
def test_a_killed_decommission_goes_on_or_is_undone(
    brokers: Brokers, tmp_path: Path, ending: str
) -> None:
    """Rule: killed while it drains and while the stop is awaited."""
    slow, _ = brokers.topic({0: (4, 1), 1: (2, 4)})
    produce(Servers(brokers.sandbox.bootstrap), {slow: [b"x" * 100 * KIB] * 20})
    before = lists(brokers)
    runner = brokers.run("apply", str(proposed(brokers, tmp_path, "500KB/s")), "--yes")
    wait_until(lambda: "published" in runner.told)
    runner.kill()
    wait_until(lambda: brokers.kadmin("lock", "show").out.strip() == "the lock is free")
    runner = brokers.run("resume", "--yes")
    await_stop(brokers, runner)
    runner.kill()
    wait_until(lambda: brokers.kadmin("lock", "show").out.strip() == "the lock is free")
    if ending == "resumed":
        brokers.sandbox.stop_broker(LEAVES)
        resumed = brokers.kadmin("resume", "--yes", "--timeout", "120")
        assert resumed.status == 0, resumed.err
        assert not registered(brokers)
    else:
        cancelled = brokers.kadmin("cancel", "--yes")
        assert cancelled.status == 0, cancelled.err
        assert is_clean(brokers)
        back = brokers.kadmin("rollback", "--yes", "--timeout", "120")
        assert back.status == 0, back.err
        assert lists(brokers) == before
    assert is_clean(brokers)


@pytest.mark.matrix
def test_others_at_work_while_the_stop_is_awaited_are_no_obstacle(
    brokers: Brokers, tmp_path: Path
) -> None:
    """Rule: a second apply is refused; a move of another tool stays; another controller goes on."""
    (moved,) = brokers.topic({0: (LEAVES, 1)})
    plan = proposed(brokers, tmp_path)
    runner = brokers.run("apply", str(plan), "--yes")
    try:
        await_stop(brokers, runner)
        second = brokers.kadmin("apply", str(plan), "--yes")
        assert second.status == 5, second.err
        theirs = tuple(each for each in (1, 2, 3) if each != lists(brokers)[moved][0])
        assert alter_reassignments(brokers.connection, {moved: theirs}) == {moved: None}
        wait_until(lambda: lists(brokers)[moved] == theirs)
        with without_controller(brokers):
            await_stop(brokers, runner)
            brokers.sandbox.stop_broker(LEAVES)
            ended = runner.answer()
    finally:
        runner.end()
    assert ended.status == 0, ended.err
    assert lists(brokers)[moved] == theirs
    assert not registered(brokers)
    assert is_clean(brokers)


@contextmanager
def without_controller(brokers: Brokers) -> Iterator[None]:
    """Run while the controller of before is stopped, if it is a process of its own."""
    before = brokers.state().controller
    assert before is not None
    if not brokers.sandbox.spec.kraft:
        yield
        return
    brokers.sandbox.stop_controller(before.broker_id)
    try:
        yield
    finally:
        brokers.sandbox.start_controller(before.broker_id)


@pytest.mark.matrix
def test_a_target_that_dies_ends_the_drain_and_nobody_is_told_to_stop_anything(
    brokers: Brokers, tmp_path: Path
) -> None:
    (slow,) = brokers.topic({0: (LEAVES, 1)})
    produce(Servers(brokers.sandbox.bootstrap), {slow: [b"x" * 100 * KIB] * 20})
    before = lists(brokers)
    runner = brokers.run("apply", str(proposed(brokers, tmp_path, "100KB/s")), "--yes")
    try:
        wait_until(lambda: "published" in runner.told)
        (target,) = set(lists(brokers)[slow]) - set(before[slow])
        brokers.sandbox.stop_broker(target, kill=True)
        wait_until(lambda: target not in brokers.state().brokers)
        assert "now, proved empty" not in runner.told
        cancelled = brokers.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        runner.answer()
    finally:
        runner.end()
        brokers.sandbox.start_broker(target)
    wait_until(lambda: target in brokers.state().brokers)
    assert registered(brokers)
    wait_until(lambda: lists(brokers) == before)
    wait_until(lambda: is_clean(brokers))


@pytest.mark.matrix
def test_doctor_advises_nothing_beside_the_operation(brokers: Brokers, tmp_path: Path) -> None:
    """Its cordon is not to be taken off by hand, nor its registration removed."""
    brokers.topic({0: (4, 1, 2), 1: (2, 3, 1)}, min_isr=2)
    left = brokers.kadmin("apply", str(proposed(brokers, tmp_path)), "--yes", "--leave")
    assert (left.status, TO_STOP in left.err) == (8, True), left.err
    found = examine(brokers)
    assert set(found) == {"unfinished-operation"}
    assert f"was left at the stop of broker {LEAVES}" in found["unfinished-operation"]["message"]
    assert f"waits for: {TO_STOP}" in found["unfinished-operation"]["evidence"][-1]
    brokers.sandbox.stop_broker(LEAVES)
    assert set(examine(brokers)) == {"unfinished-operation"}
    done = brokers.kadmin("resume", "--due", "--yes", "--timeout", "120")
    assert done.status == 0, done.err
    assert examine(brokers) == {}


@pytest.mark.matrix
def test_a_dead_broker_is_replaced_everywhere_without_a_person(
    brokers: Brokers, tmp_path: Path
) -> None:
    """The last test: in ZooKeeper mode the broker keeps its folders of then when it is back."""
    brokers.topic({0: (4, 1, 2), 1: (1, 3, 4), 2: (2, 3, 1)})
    brokers.sandbox.stop_broker(LEAVES, kill=True)
    wait_until(lambda: LEAVES not in brokers.state().brokers)
    ended = brokers.kadmin("apply", str(proposed(brokers, tmp_path)), "--yes", "--timeout", "180")
    assert ended.status == 0, ended.err
    assert held(brokers) == []
    assert not registered(brokers)
    assert {len(replicas) for replicas in lists(brokers).values()} == {3}
    assert is_clean(brokers)
