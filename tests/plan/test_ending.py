"""The end of copies by their hours, also where clocks are put forward or back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.ending import ending
from kadmin.plan.hours import Hours, parse_window
from kadmin.report.text import ending_text

if TYPE_CHECKING:
    from kadmin.plan.hours import Ending

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3600


def nights(outside: int = 0) -> Hours:
    return Hours((parse_window("22:00-06:00"),), BERLIN, outside)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shown(found: Ending | None) -> str:
    assert found is not None
    return ending_text(found)


@pytest.mark.parametrize(
    ("begins", "hours", "said"),
    [
        ("2026-06-01T10:00", 3, "done on Tuesday 01:00 Europe/Berlin"),
        ("2026-06-01T10:00", 10, "done on Wednesday 00:00 Europe/Berlin"),
        ("2026-06-01T22:00", 3, "done today 03:00 Europe/Berlin"),
        ("2026-03-28T21:00", 7, "done on Sunday 06:00 Europe/Berlin"),
        ("2026-03-28T21:00", 8, "done on Sunday 23:00 Europe/Berlin"),
        ("2026-10-24T20:00", 9, "done on Sunday 06:00 Europe/Berlin"),
    ],
    ids=["a night", "two nights", "inside", "spring", "spring and more", "autumn"],
)
def test_with_a_pause_outside_only_hours_count(begins: str, hours: float, said: str) -> None:
    """The night has seven hours where clocks are put forward, nine where they are put back."""
    found = ending(nights(), hours * HOUR * 1_000, (1_000, 1_000), utc(begins))
    assert shown(found) == said


def test_a_rate_outside_counts_where_it_is_lower() -> None:
    """Ten hours outside, until 22:00, are worth one inside."""
    left, at = 3 * HOUR * 1_000, utc("2026-06-01T10:00")
    for outside, ends in ((100, "2026-06-01T22:00"), (5_000, "2026-06-01T13:00")):
        found = ending(nights(outside), left, (1_000, 1_000), at)
        assert found is not None
        assert found.latest == utc(ends)


def test_a_rate_that_follows_the_clients_has_two_ends() -> None:
    found = ending(nights(), 10 * HOUR * 1_000, (1_000, 5_000), utc("2026-06-01T10:00"))
    said = "done on Tuesday 00:00 (at max), on Wednesday 00:00 (at min), Europe/Berlin"
    assert shown(found) == said
    assert found is not None
    assert found.seconds == 36 * HOUR


def test_there_is_no_end_without_a_rate_or_within_ten_years() -> None:
    at = utc("2026-06-01T10:00")
    network = float(WHOLE_NETWORK.amount)
    assert ending(nights(), 1e15, (network, network), at) is None
    assert ending(nights(), 1e15, (1, 1), at) is None
