"""A recovery by config that is killed at any of its writes, before or after it reaches ZooKeeper:
resumed it ends like one that was not, cancelled it leaves no config behind.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.executor.recovered import RecoveryGround

if TYPE_CHECKING:
    from support.executor.runs import Site

pytestmark = pytest.mark.zookeeper

SEED, SOME, PAIRS = 20_261_128, 3, 8


@pytest.fixture(params=["0.10.2.2", "1.1.1", "2.3.1"])
def ground(request: pytest.FixtureRequest, site: Site) -> RecoveryGround:
    return RecoveryGround(site, ERAS[request.param])


def test_a_recovery_killed_at_some_writes_is_resumed_or_cancelled(ground: RecoveryGround) -> None:
    chosen = random.Random(SEED).sample(ground.points(), SOME)  # noqa: S311 - a sample, the same in every run
    assert [each for point in chosen for each in ground.resumed(point)] == []
    assert [each for point in chosen for each in ground.cancelled(point)] == []


@pytest.mark.matrix
def test_a_recovery_killed_at_any_write_is_resumed(ground: RecoveryGround) -> None:
    assert [each for point in ground.points() for each in ground.resumed(point)] == []


@pytest.mark.matrix
def test_a_recovery_killed_at_any_write_is_cancelled(ground: RecoveryGround) -> None:
    assert [each for point in ground.points() for each in ground.cancelled(point)] == []


@pytest.mark.matrix
def test_a_second_kill_during_resume_loses_nothing_either(ground: RecoveryGround) -> None:
    chosen, points = random.Random(SEED), ground.points()  # noqa: S311 - a sample, the same in every run
    pairs = [(chosen.choice(points), chosen.choice(points)) for _ in range(PAIRS)]
    assert [each for pair in pairs for each in ground.resumed(*pair)] == []
