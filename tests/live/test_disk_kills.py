"""A rebalance over brokers and disks on live brokers, with records flowing, whose process is killed
with SIGKILL at each of its steps, or stopped there until another person has taken over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.disk_moves import DiskKills
from support.live.disks import on_disks

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.disks import DiskBrokers
    from support.live.write_points import Point

    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.executor,
    pytest.mark.on("2.8.2", "3.9.2", "4.4.0"),
]

PARTS, SOME = 8, 4


@pytest.fixture(scope="module")
def points(disk_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """The points of one undisturbed run."""
    with on_disks(disk_sandbox) as brokers:
        return DiskKills(brokers, tmp_path_factory.mktemp("undisturbed")).points()


@pytest.fixture
def kills(disk_brokers: DiskBrokers, tmp_path: Path) -> DiskKills:
    return DiskKills(disk_brokers, tmp_path)


@pytest.mark.parametrize("part", range(PARTS))
def test_it_is_resumed_after_every_step_and_rolled_back(
    points: list[Point], kills: DiskKills, part: int
) -> None:
    assert [wrong for point in points[part::PARTS] for wrong in kills.resumed(point)] == []
    assert kills.killed


@pytest.mark.parametrize("part", range(PARTS))
def test_it_is_cancelled_after_every_step_and_rolled_back(
    points: list[Point], kills: DiskKills, part: int
) -> None:
    assert [wrong for point in points[part::PARTS] for wrong in kills.cancelled(point)] == []
    assert kills.killed


def test_of_two_people_one_moves_and_the_other_changes_nothing(
    points: list[Point], kills: DiskKills
) -> None:
    some = points[len(points) // SOME :: len(points) // SOME]
    assert [wrong for point in some for wrong in kills.taken_over(point)] == []
