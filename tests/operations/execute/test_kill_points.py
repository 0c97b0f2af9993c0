"""F27: a runner killed at any of its requests, before or after it reaches ZooKeeper, loses nothing
and repeats nothing.

The runs are in this process, on a real ZooKeeper, with the model as the controller; what was
published is read from ZooKeeper's transaction log. `make test` tries every write, and requests
spread over the whole run; `make test-executor` tries more of them, in every era, and `make
bench-executor` every request of a run, with the number that it found.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.executor.kill_points import Ground
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault
from support.zookeeper.fault_proxy import FaultProxy

from kadmin.documents import dump_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.executor.runs import KillPoint, Site

    Rates = tuple[int, int | None]

pytestmark = pytest.mark.zookeeper

SAMPLED = 8
PAIRS = 6
KILL_9_LAST = 300
"""A command line looks at other moments than a run in this process, and ends after fewer
requests."""
SEED = 20_261_121
FIXED, PACED = (10_000_000, None), (1_000_000, 100_000_000)
"""Throttles of the plan, in bytes per second: a rate; a range, beside hours."""
SOME_OR_ANY = pytest.mark.parametrize(
    "sampled", [SAMPLED, pytest.param(None, marks=pytest.mark.matrix)], ids=["some", "any"]
)
THROTTLES = pytest.mark.parametrize(
    "rates",
    [
        pytest.param(FIXED, id="rate"),
        pytest.param(PACED, id="range and hours", marks=pytest.mark.matrix),
    ],
)


@pytest.fixture(params=["with four-letter words", "without four-letter words"])
def any_site(request: pytest.FixtureRequest) -> Site:
    found: Site = request.getfixturevalue(
        "site" if request.param.startswith("with ") else "quiet_site"
    )
    return found


def spread(points: list[KillPoint], count: int) -> list[KillPoint]:
    """Take points at equal distances, in turn before and after the request."""
    return [points[index * len(points) // count] for index in range(count)]


def violations(ground: Ground, points: list[KillPoint]) -> list[str]:
    return [each for point in points for each in ground.violations(point)]


@SOME_OR_ANY
@THROTTLES
def test_f27_a_run_killed_at_any_write_is_resumed_without_loss(
    site: Site, rates: Rates, sampled: int | None
) -> None:
    ground = Ground(site, ERAS["2.8.2"], *rates)
    points = ground.points(only_writes=True)
    assert violations(ground, spread(points, sampled or len(points))) == []


@pytest.mark.matrix
@THROTTLES
def test_f27_a_run_without_four_letter_words_is_resumed_as_well(
    quiet_site: Site, rates: Rates
) -> None:
    ground = Ground(quiet_site, ERAS["2.8.2"], *rates)
    assert violations(ground, spread(ground.points(), SAMPLED)) == []


@pytest.mark.matrix
@SOME_OR_ANY
def test_a_decommission_of_a_dead_broker_is_resumed_from_its_writes(
    site: Site, sampled: int | None
) -> None:
    ground = Ground(site, ERAS["2.8.2"], FIXED[0], leaves=True)
    points = ground.points(only_writes=True)
    assert violations(ground, spread(points, sampled or len(points))) == []


@pytest.mark.matrix
def test_a_paced_run_killed_at_any_of_some_writes_is_cancelled_without_a_trace(site: Site) -> None:
    ground = Ground(site, ERAS["2.8.2"], *PACED)
    points = spread(ground.points(only_writes=True), SAMPLED)
    assert [each for point in points for each in ground.cancelled(point)] == []


@pytest.mark.matrix
@pytest.mark.parametrize("version", ERAS)
def test_f27_controllers_of_every_era_leave_a_killed_run_resumable(
    site: Site, version: str
) -> None:
    ground = Ground(site, ERAS[version])
    assert violations(ground, spread(ground.points(only_writes=True), 2)) == []


@pytest.mark.matrix
@THROTTLES
def test_f27_a_second_kill_during_resume_loses_nothing_either(
    site: Site, rates: Rates, record_property: Callable[[str, object], None]
) -> None:
    record_property("seed", SEED)
    assert second_kills(Ground(site, ERAS["2.8.2"], *rates), PAIRS) == []


@pytest.mark.executor
@THROTTLES
def test_f27_many_requests_of_a_run_are_kill_points(any_site: Site, rates: Rates) -> None:
    ground = Ground(any_site, ERAS["2.8.2"], *rates)
    assert violations(ground, spread(ground.points(), 120)) == []


@pytest.mark.executor
@THROTTLES
def test_f27_many_second_kills_during_resume(any_site: Site, rates: Rates) -> None:
    assert second_kills(Ground(any_site, ERAS["2.8.2"], *rates), 40) == []


@pytest.mark.executor
@pytest.mark.parametrize("version", ["0.10.2.2", "1.1.1", "2.3.1", "2.4.1", "3.9.2"])
def test_f27_many_kill_points_in_every_era(site: Site, version: str) -> None:
    ground = Ground(site, ERAS[version])
    assert violations(ground, spread(ground.points(), 24)) == []


def second_kills(ground: Ground, count: int) -> list[str]:
    """Kill a run and then its resume, at points drawn with SEED."""
    chosen, points = random.Random(SEED), ground.points()  # noqa: S311 - a sample, the same in every run
    pairs = [(chosen.choice(points), chosen.choice(points)) for _ in range(count)]
    return [each for first, second in pairs for each in ground.violations(first, second)]


def kill_9(ground: Ground, point: KillPoint, folder: Path) -> list[str]:
    """Kill the process of a real command line while the proxy holds one of its requests, or the
    reply to it.
    """
    practice = ground.practice()
    plan = folder / f"{practice.chroot.strip('/')}.json"
    plan.write_text(dump_json(ground.plan()))
    with FaultProxy(practice.server) as proxy:
        connect = f"{proxy.connect_string}{practice.chroot}"
        command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", connect]
        victim = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )

        def kill() -> None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
            practice.mourn(proxy.sessions[-1])

        proxy.faults.append(Fault(Action.CUT_BEFORE, point.matches, then=kill))

        def gone() -> bool:
            practice.model.run()
            return victim.poll() is not None

        wait_until(gone, 60)
        _, story = victim.communicate()
    assert victim.returncode == -signal.SIGKILL, f"{point} was never reached: {story.decode()}"
    return [f"kill -9 {point}: {each}" for each in ground.recover_and_judge(practice)]


def test_f27_a_true_kill_9_of_the_command_line(site: Site, tmp_path: Path) -> None:
    ground = Ground(site, ERAS["2.8.2"])
    found = [
        each
        for point in spread(ground.points()[:KILL_9_LAST], 4)
        for each in kill_9(ground, point, tmp_path)
    ]
    assert found == []


@pytest.mark.executor
def test_f27_twenty_true_kills_of_the_command_line(site: Site, tmp_path: Path) -> None:
    ground = Ground(site, ERAS["2.8.2"])
    found = [
        each
        for point in spread(ground.points()[:KILL_9_LAST], 20)
        for each in kill_9(ground, point, tmp_path)
    ]
    assert found == []
