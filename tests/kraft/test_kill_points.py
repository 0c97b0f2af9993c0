"""K06: a runner killed at any of its writes, before it reaches the brokers or before its answer
comes, loses nothing.

Each run is a true command line, killed with SIGKILL while a proxy holds its request or the answer
to it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kafka.ground import Ground
    from support.kafka.writes import WritePoint


pytestmark = pytest.mark.usefixtures("record")

SAMPLE, PAIRS = 3, 20
PARTS = 5
SEED = 20_261_123


def violations(ground: Callable[[], Ground], points: list[WritePoint]) -> list[str]:
    return [each for point in points for each in ground().kill(point)]


def second_kills(ground: Callable[[], Ground], count: int, seed: int) -> list[str]:
    """Kill a run and then its resume, at points drawn with `seed`."""
    chosen, points = random.Random(seed), ground().points()  # noqa: S311 - a sample, the same in every run
    pairs = [(chosen.choice(points), chosen.choice(points)) for _ in range(count)]
    return [each for first, second in pairs for each in ground().kill(first, second)]


@pytest.mark.matrix
@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_k06_some_writes_of_a_run_as_kill_points_and_a_second_kill(
    ground: Callable[[], Ground],
) -> None:
    points = ground().points()
    assert violations(ground, random.Random(SEED).sample(points, SAMPLE)) == []  # noqa: S311 - the same in every run
    assert second_kills(ground, 1, SEED) == []


@pytest.mark.matrix
@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_k06_some_writes_of_a_paced_run_as_kill_points(
    paced_ground: Callable[[], Ground],
) -> None:
    points = paced_ground().points()
    assert violations(paced_ground, random.Random(SEED).sample(points, SAMPLE)) == []  # noqa: S311 - the same in every run


@pytest.mark.executor
@pytest.mark.parametrize("part", range(PARTS))
def test_k06_every_write_of_a_paced_run_is_a_kill_point(
    paced_ground: Callable[[], Ground], part: int
) -> None:
    assert violations(paced_ground, paced_ground().points()[part::PARTS]) == []


@pytest.mark.executor
@pytest.mark.parametrize("part", range(PARTS))
def test_k06_every_write_of_a_run_is_a_kill_point(ground: Callable[[], Ground], part: int) -> None:
    assert violations(ground, ground().points()[part::PARTS]) == []


@pytest.mark.executor
@pytest.mark.parametrize("part", range(PARTS))
def test_k06_many_second_kills_during_resume(ground: Callable[[], Ground], part: int) -> None:
    assert second_kills(ground, PAIRS // PARTS, SEED + part) == []
