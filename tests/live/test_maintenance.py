"""A maintenance on live brokers: a person stops and starts one, and clients lose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.live.doctor import examine
from support.live.errands import STOPPED
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.errands import Brokers

    from kadmin.cluster.model import Replicas, TopicPartition

pytestmark = [pytest.mark.live, pytest.mark.eras]


def proposed(brokers: Brokers, folder: Path, *words: str) -> Path:
    plan = folder / "maintenance.yaml"
    found = brokers.kadmin("propose", "maintenance", *words, "--out", str(plan))
    assert found.status == 0, found.err
    return plan


def orders(brokers: Brokers) -> dict[TopicPartition, Replicas]:
    assignment = brokers.state().assignment
    return {each: assignment[each] for each in assignment if each.topic in brokers.topics}


def leaders(brokers: Brokers) -> set[int]:
    return {
        found.leader
        for each, found in brokers.state().states.items()
        if each.topic in brokers.topics
    }


def status(brokers: Brokers) -> str:
    return brokers.kadmin("status").out


def unfinished(brokers: Brokers, *, waits_for: str) -> dict[str, Any]:
    """Return what doctor finds of a maintenance without a runner."""
    found = examine(brokers)["unfinished-operation"]
    assert f"stage 2 of 3: restart broker {STOPPED}" in found["message"]
    assert any(each.startswith(f"waits for: {waits_for}") for each in found["evidence"])
    assert "kadmin resume " in found["remedy"]
    return found


def throttled(brokers: Brokers) -> bool:
    shown = brokers.kadmin("throttle", "show", "-o", "json")
    return any(each in shown.out for each in brokers.topics)


def test_a_maintenance_takes_leaders_waits_for_stop_and_start_and_gives_leaders_back(
    brokers: Brokers, tmp_path: Path
) -> None:
    written = brokers.topic({0: (3, 1, 2), 1: (3, 2, 1), 2: (1, 2, 3), 3: (2, 3, 1)}, min_isr=2)
    before = orders(brokers)
    wait_until(lambda: brokers.may_be_stopped(STOPPED))
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    shown = brokers.kadmin("diff", str(plan))
    assert shown.status == 0, shown.err
    assert f"restart broker {STOPPED}: 4 replicas catch up" in shown.out
    with RecordsFlowing(brokers.sandbox.bootstrap, written) as flow:
        runner = brokers.run("apply", str(plan), "--yes")
        try:
            wait_until(lambda: f"stop broker {STOPPED} now" in status(brokers))
            assert STOPPED not in leaders(brokers)
            with brokers.stopped():
                wait_until(lambda: f"broker {STOPPED} stopped: start it" in status(brokers))
                assert throttled(brokers)
                flow.wait_for_more()
            ended = runner.answer()
        finally:
            runner.end()
        flow.wait_for_more()
    assert ended.status == 0, ended.err
    assert orders(brokers) == before
    assert STOPPED in leaders(brokers)
    assert not throttled(brokers)
    assert flow.lost() == []


@pytest.mark.matrix
def test_a_rack_is_stopped_and_started_as_one_round(brokers: Brokers, tmp_path: Path) -> None:
    """Brokers 1 and 4 are in rack r1."""
    rack = (1, 4)
    written = brokers.topic({0: (4, 2, 3), 1: (1, 3, 2), 2: (2, 1, 3), 3: (3, 2, 4)}, min_isr=2)
    before = orders(brokers), leaders(brokers)
    wait_until(lambda: brokers.may_be_stopped(*rack))
    plan = proposed(brokers, tmp_path, "--rack", "r1", "--throttle", "20MB/s")
    with RecordsFlowing(brokers.sandbox.bootstrap, written) as flow:
        runner = brokers.run("apply", str(plan), "--yes")
        try:
            wait_until(lambda: "stop brokers 1, 4 now" in status(brokers))
            assert leaders(brokers) == {2, 3}
            with brokers.stopped(*rack):
                wait_until(lambda: "brokers 1, 4 stopped: start them" in status(brokers))
                assert throttled(brokers)
                flow.wait_for_more()
            ended = runner.answer()
        finally:
            runner.end()
        flow.wait_for_more()
    assert ended.status == 0, ended.err
    assert (orders(brokers), leaders(brokers)) == before
    assert not throttled(brokers)
    assert flow.lost() == []


@pytest.mark.matrix
def test_a_killed_maintenance_is_resumed_where_it_was(brokers: Brokers, tmp_path: Path) -> None:
    brokers.topic({0: (3, 1, 2), 1: (1, 2, 3)}, min_isr=2)
    before = orders(brokers)
    wait_until(lambda: brokers.may_be_stopped(STOPPED))
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    runner = brokers.run("apply", str(plan), "--yes")
    wait_until(lambda: f"stop broker {STOPPED} now" in status(brokers))
    runner.kill()
    wait_until(lambda: brokers.kadmin("lock", "show").out.strip() == "the lock is free")
    unfinished(brokers, waits_for=f"stop broker {STOPPED} now")
    with brokers.stopped():
        unfinished(brokers, waits_for=f"a runner that sees broker {STOPPED} stopped")
        runner = brokers.run("resume", "--yes")
        wait_until(lambda: f"broker {STOPPED} stopped: start it" in status(brokers))
        runner.kill()
        wait_until(lambda: brokers.kadmin("lock", "show").out.strip() == "the lock is free")
    resumed = brokers.kadmin("resume", "--yes", "--timeout", "120")
    assert resumed.status == 0, resumed.err
    assert orders(brokers) == before
    assert not throttled(brokers)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "down",
    [
        pytest.param(False, id="before the stop", marks=pytest.mark.matrix),
        pytest.param(True, id="while it is down"),
    ],
)
def test_a_cancelled_maintenance_restores_the_order_where_it_can(
    brokers: Brokers, tmp_path: Path, *, down: bool
) -> None:
    brokers.topic({0: (3, 1, 2), 1: (1, 2, 3)}, min_isr=2)
    before = orders(brokers)
    wait_until(lambda: brokers.may_be_stopped(STOPPED))
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    runner = brokers.run("apply", str(plan), "--yes")
    try:
        wait_until(lambda: f"stop broker {STOPPED} now" in status(brokers))
        if not down:
            cancelled = brokers.kadmin("cancel", "--yes")
            assert cancelled.status == 0, cancelled.err
        else:
            with brokers.stopped():
                wait_until(lambda: f"broker {STOPPED} stopped: start it" in status(brokers))
                cancelled = brokers.kadmin("cancel", "--yes")
                assert cancelled.status == 0, cancelled.err
                assert f"broker {STOPPED} is not alive" in runner.answer().err
            back = brokers.kadmin("rollback", "--yes")
            assert back.status == 0, back.err
        wait_until(lambda: runner.ended)
    finally:
        runner.end()
    assert orders(brokers) == before
    assert not throttled(brokers)


def test_a_stop_that_is_not_safe_is_refused_before_anything_changes(
    brokers: Brokers, tmp_path: Path
) -> None:
    brokers.topic({0: (3, 1)}, min_isr=2)
    before = orders(brokers)
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    refused = brokers.kadmin("apply", str(plan), "--yes")
    assert refused.status == 8
    assert f"broker {STOPPED} may not be stopped now: 1 under-min-isr" in refused.err.lower()
    assert orders(brokers) == before


@pytest.mark.matrix
def test_a_maintenance_is_left_where_a_person_is_awaited_and_goes_on_when_it_is_due(
    brokers: Brokers, tmp_path: Path
) -> None:
    brokers.topic({0: (3, 1, 2), 1: (1, 2, 3)}, min_isr=2)
    before = orders(brokers)
    wait_until(lambda: brokers.may_be_stopped(STOPPED))
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    left = brokers.kadmin("apply", str(plan), "--yes", "--leave")
    assert (left.status, f"stop broker {STOPPED} now" in left.err) == (8, True), left.err
    found = unfinished(brokers, waits_for=f"stop broker {STOPPED} now")
    assert f"was left at stage 2 of 3: restart broker {STOPPED}, as asked" in found["message"]
    assert " --due, or kadmin cancel " in found["remedy"]
    with brokers.stopped():
        due = brokers.kadmin("resume", "--due", "--yes")
        assert due.status == 0, due.err
        assert f"broker {STOPPED} stopped: start it" in due.out
    done = brokers.kadmin("resume", "--due", "--yes", "--timeout", "120")
    assert done.status == 0, done.err
    assert orders(brokers) == before
    assert not throttled(brokers)


@pytest.mark.matrix
def test_a_stop_and_a_start_between_two_runs_are_not_seen_and_a_cancellation_ends_it(
    brokers: Brokers, tmp_path: Path
) -> None:
    brokers.topic({0: (3, 1, 2), 1: (1, 2, 3)}, min_isr=2)
    before = orders(brokers), leaders(brokers)
    wait_until(lambda: brokers.may_be_stopped(STOPPED))
    plan = proposed(brokers, tmp_path, "--broker", str(STOPPED), "--throttle", "20MB/s")
    assert brokers.kadmin("apply", str(plan), "--yes", "--leave").status == 8
    with brokers.stopped():
        pass
    due = brokers.kadmin("resume", "--due", "--yes")
    assert (due.status, f"stop broker {STOPPED} now" in due.out) == (0, True), due.err
    cancelled = brokers.kadmin("cancel", "--yes")
    assert cancelled.status == 0, cancelled.err
    assert (orders(brokers), leaders(brokers)) == before


@pytest.mark.matrix
def test_another_broker_that_dies_forbids_the_stop_at_once(
    brokers: Brokers, tmp_path: Path
) -> None:
    brokers.topic({0: (3, 1, 2), 1: (1, 2, 3)}, min_isr=2)
    before = orders(brokers)
    wait_until(lambda: brokers.may_be_stopped(1))
    plan = proposed(brokers, tmp_path, "--broker", "1", "--throttle", "20MB/s")
    runner = brokers.run("apply", str(plan), "--yes")
    try:
        wait_until(lambda: "waits for: stop broker 1 now" in status(brokers))
        with brokers.stopped():
            wait_until(lambda: "do not stop broker 1 now" in status(brokers))
            wait_until(lambda: "do not stop broker 1 now" in runner.told)
        wait_until(lambda: "waits for: stop broker 1 now" in status(brokers))
        assert brokers.kadmin("cancel", "--yes").status == 0
        assert "the order of replicas is as before" in runner.answer().err
    finally:
        runner.end()
    assert orders(brokers) == before
