"""A maintenance on live brokers whose process is killed with SIGKILL at its writes, before they
reach the cluster or before their answer comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.maintenance_kills import MaintenanceKills

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.errands import Brokers
    from support.live.write_points import Point

pytestmark = pytest.mark.live

SOME, PARTS = 3, 6
RESUMED_OR_CANCELLED = pytest.mark.parametrize("then", ["resumed", "cancelled"])


@pytest.fixture
def kills(brokers: Brokers, tmp_path: Path) -> MaintenanceKills:
    return MaintenanceKills(brokers, tmp_path)


def violations(kills: MaintenanceKills, points: list[Point], then: str) -> list[str]:
    after = kills.resumed if then == "resumed" else kills.cancelled
    return [each for point in points for each in after(point)]


@pytest.mark.matrix
@RESUMED_OR_CANCELLED
def test_some_writes_of_a_maintenance_as_kill_points(kills: MaintenanceKills, then: str) -> None:
    points = kills.points()
    assert violations(kills, points[len(points) // 4 :: len(points) // SOME + 1], then) == []


@pytest.mark.executor
@pytest.mark.parametrize("part", range(PARTS))
@RESUMED_OR_CANCELLED
def test_every_write_of_a_maintenance_is_a_kill_point(
    kills: MaintenanceKills, then: str, part: int
) -> None:
    assert violations(kills, kills.points()[part::PARTS], then) == []
