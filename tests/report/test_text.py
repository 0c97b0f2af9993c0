from __future__ import annotations

import pytest

from kadmin.report.text import duration


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0:00"),
        (90, "1:30"),
        (7_205, "2:00:05"),
        (86_399.4, "23:59:59"),
        (86_399.5, "1 d 0:00:00"),
        (200_000, "2 d 7:33:20"),
    ],
)
def test_durations_beyond_a_day_are_in_days(seconds: float, told: str) -> None:
    assert duration(seconds) == told
