"""Times as part of a sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kadmin.wording import weekday_and_time

NOW = datetime(2026, 11, 28, 22, 30, tzinfo=UTC)  # Saturday 23:30 in Berlin


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2026-11-28T22:55", "today 23:55"),
        ("2026-11-29T02:10", "on Sunday 03:10"),
        ("2026-12-04T22:59:59", "on Friday 23:59"),
        ("2026-12-04T23:00", "on Saturday 2026-12-05 00:00"),
        ("2026-11-27T12:00", "on Friday 13:00"),
    ],
)
def test_a_time_has_its_weekday_and_from_a_week_on_its_date(at: str, text: str) -> None:
    then = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert weekday_and_time(then, NOW, ZoneInfo("Europe/Berlin")) == text
