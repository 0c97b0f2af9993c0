"""In each stage in which a maintenance waits its runner is killed, another broker dies, other
people and tools are at work, or the controller moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.kraft import held_back
from support.live.maintained import MAINTAINED, OTHER, SOON, STAGES, STOP, LiveMaintenance
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.kafka.processes import KadminProcess
    from support.live.errands import Brokers

pytestmark = [pytest.mark.live, pytest.mark.matrix]

THEIRS = (2, 3, 1)
"""The list that another tool gives a partition that is demoted."""


@pytest.fixture
def maintenance(brokers: Brokers, tmp_path: Path) -> LiveMaintenance:
    return LiveMaintenance(brokers, tmp_path)


@pytest.fixture
def runner(maintenance: LiveMaintenance) -> Iterator[KadminProcess]:
    found = maintenance.begin()
    yield found
    found.end()


@pytest.mark.parametrize("stage", STAGES)
def test_it_is_killed_and_resumed_elsewhere(
    maintenance: LiveMaintenance, runner: KadminProcess, stage: str
) -> None:
    maintenance.reach(stage, runner)
    runner.kill()
    elsewhere = maintenance.elsewhere("resume", "--yes")
    try:
        ended = maintenance.finish(stage, elsewhere)
    finally:
        elsewhere.end()
    assert ended.status == 0, ended.err
    assert f"broker {MAINTAINED} stopped, started and in sync" in ended.out
    assert maintenance.seen() == maintenance.before


@pytest.mark.parametrize("stage", STAGES)
def test_it_is_killed_and_cancelled_elsewhere(
    maintenance: LiveMaintenance, runner: KadminProcess, stage: str
) -> None:
    maintenance.reach(stage, runner)
    runner.kill()
    elsewhere = maintenance.elsewhere("cancel", "--yes")
    try:
        if stage == "catch-up":
            words = f"waiting to give broker {MAINTAINED} its leaders back: copying"
            wait_until(lambda: words in elsewhere.told or elsewhere.ended)
            maintenance.free()
        ended = elsewhere.answer()
    finally:
        elsewhere.end()
    assert ended.status == 0, ended.err
    if stage == "start":
        assert f"because broker {MAINTAINED} is not alive" in ended.out
        maintenance.brokers.start()
        back = maintenance.brokers.kadmin("rollback", "--yes")
        assert back.status == 0, back.err
    else:
        assert "the order of replicas is as before" in ended.out
    assert maintenance.seen() == maintenance.before


@pytest.mark.parametrize("stage", STAGES)
def test_another_broker_dies(
    maintenance: LiveMaintenance, runner: KadminProcess, stage: str
) -> None:
    said = {
        "stop": f"do not stop broker {MAINTAINED} now: 1 under-min-isr",
        "start": SOON,
        "catch-up": f"broker {OTHER} is not alive: waiting to change the order of replicas",
    }
    brokers = maintenance.brokers
    maintenance.reach(stage, runner)
    brokers.sandbox.stop_broker(OTHER, kill=True)
    if stage == "catch-up":
        maintenance.free()
    maintenance.wait_for(said[stage], runner)
    wait_until(lambda: said[stage] in runner.told)
    if stage == "start":
        maintenance.start()
    brokers.sandbox.start_broker(OTHER)
    ended = runner.answer() if stage == "catch-up" else maintenance.finish(stage, runner)
    assert ended.status == 0, ended.err
    brokers.start()
    assert maintenance.seen() == maintenance.before


@pytest.mark.parametrize("stage", STAGES)
def test_a_second_plan_is_refused_and_another_controller_goes_on(
    maintenance: LiveMaintenance, runner: KadminProcess, stage: str
) -> None:
    second = maintenance.propose("second.yaml", broker=2)
    maintenance.reach(stage, runner)
    refused = maintenance.brokers.kadmin("apply", str(second), "--yes")
    assert (refused.status, "is unfinished" in refused.err) == (5, True), refused.err
    maintenance.fail_over()
    ended = maintenance.finish(stage, runner)
    assert ended.status == 0, ended.err
    assert maintenance.seen() == maintenance.before


def test_a_reassignment_of_another_tool_forbids_the_stop_while_it_is_in_flight(
    maintenance: LiveMaintenance, runner: KadminProcess
) -> None:
    connection, theirs = maintenance.brokers.connection, maintenance.partitions[0]
    maintenance.reach("stop", runner)
    with held_back(connection, [theirs]):
        maintenance.reassign(theirs, THEIRS)
        maintenance.wait_for(f"do not stop broker {MAINTAINED} now: 1 move-in-flight", runner)
        maintenance.reassign(theirs, None)
    maintenance.wait_for(STOP, runner)
    ended = maintenance.finish("stop", runner)
    assert ended.status == 0, ended.err
    assert maintenance.seen() == maintenance.before


@pytest.mark.parametrize("stage", STAGES)
def test_a_list_of_another_tool_is_left_and_named(
    maintenance: LiveMaintenance, runner: KadminProcess, stage: str
) -> None:
    theirs = maintenance.partitions[0]
    maintenance.reach(stage, runner)
    maintenance.reassign(theirs, THEIRS)
    ended = maintenance.finish(stage, runner)
    assert ended.status == 0, ended.err
    assert f"which stay as they are: {theirs}" in ended.out
    lists, leaders, throttles = maintenance.seen()
    before_lists, before_leaders, before_throttles = maintenance.before
    assert lists == before_lists | {theirs: THEIRS}
    assert leaders == before_leaders | {theirs: leaders[theirs]}
    assert throttles == before_throttles
