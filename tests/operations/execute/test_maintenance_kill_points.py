"""A maintenance of a rack that is killed at any of its writes, before or after it reaches
ZooKeeper: resumed it ends like one that was not, cancelled it leaves nothing behind.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.executor.maintained import MaintenanceGround

if TYPE_CHECKING:
    from support.executor.runs import Site

pytestmark = pytest.mark.zookeeper

SEED, PAIRS = 20_261_128, 8


@pytest.fixture
def ground(site: Site) -> MaintenanceGround:
    return MaintenanceGround(site, ERAS["2.8.2"])


@pytest.mark.matrix
def test_a_maintenance_killed_at_any_write_is_resumed(ground: MaintenanceGround) -> None:
    assert [each for point in ground.points() for each in ground.resumed(point)] == []


@pytest.mark.matrix
def test_a_maintenance_killed_at_any_write_is_cancelled_without_a_trace(
    ground: MaintenanceGround,
) -> None:
    assert [each for point in ground.points() for each in ground.cancelled(point)] == []


@pytest.mark.matrix
def test_a_second_kill_during_resume_loses_nothing_either(ground: MaintenanceGround) -> None:
    chosen, points = random.Random(SEED), ground.points()  # noqa: S311 - a sample, the same in every run
    pairs = [(chosen.choice(points), chosen.choice(points)) for _ in range(PAIRS)]
    assert [each for pair in pairs for each in ground.resumed(*pair)] == []
