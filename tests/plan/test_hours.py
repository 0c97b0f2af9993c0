"""Hours by the clocks of a zone, compared with clocks that are read minute by minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadmin.plan.hours import (
    DAYS,
    Hours,
    Window,
    cover_the_week,
    format_window,
    parse_window,
    windows_of_hours,
)
from kadmin.plan.model import HoursSpec, hours_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
BERLIN = ZoneInfo("Europe/Berlin")
JUMPS = (
    ("Europe/Berlin", "2026-03-29T01:00"),
    ("Europe/Berlin", "2026-10-25T01:00"),
    ("America/New_York", "2026-11-01T06:00"),
    ("Australia/Lord_Howe", "2026-04-04T15:00"),  # by half an hour
    ("Africa/Casablanca", "2026-03-22T02:00"),
    ("Pacific/Apia", "2011-12-30T10:00"),  # by a day
    ("Asia/Kathmandu", "2026-06-01T00:00"),  # never
)
"""Zones, and UTC times at which their clocks jump."""

minutes = st.integers(0, 24 * 60 - 1)
near_midnight_or_a_jump = st.sampled_from([0, 60, 90, 120, 150, 180, 210, 1320])
windows = st.builds(
    Window,
    st.integers(0, 6),
    st.integers(0, 6),
    minutes | near_midnight_or_a_jump,
    minutes | near_midnight_or_a_jump,
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def hours(*texts: str, zone: ZoneInfo = BERLIN, outside: int = 0) -> Hours:
    return Hours(tuple(map(parse_window, texts)), zone, outside)


@st.composite
def hours_at_a_jump(draw: st.DrawFn) -> tuple[Hours, datetime]:
    """Hours, and a time up to two days before the clocks of their zone jump, or an hour after."""
    zone, jump = draw(st.sampled_from(JUMPS))
    before = timedelta(minutes=draw(st.integers(-60, 2 * 24 * 60)))
    found = draw(st.lists(windows, min_size=1, max_size=3))
    return Hours(tuple(found), ZoneInfo(zone)), utc(jump) - before


def is_shown(window: Window, clock: datetime) -> bool:
    """Rule: a window that ends at or before its start ends on the next day, and belongs to the day
    on which it begins.
    """
    time = clock.hour * 60 + clock.minute
    begins_today = _has(window, clock.weekday())
    if window.end > window.start:
        return begins_today and window.start <= time < window.end
    begun_yesterday = _has(window, (clock.weekday() - 1) % 7)
    return (begins_today and time >= window.start) or (begun_yesterday and time < window.end)


def _has(window: Window, day: int) -> bool:
    if window.first_day <= window.last_day:
        return window.first_day <= day <= window.last_day
    return day >= window.first_day or day <= window.last_day


def clocks(found: Hours, start: datetime, length: timedelta) -> list[bool]:
    """Read the clock in each minute: whether it shows a time in a window."""
    shown = (
        (start + MINUTE * number).astimezone(found.zone) for number in range(int(length / MINUTE))
    )
    return [any(is_shown(window, clock) for window in found.windows) for clock in shown]


@settings(max_examples=80, deadline=None)
@given(hours_at_a_jump())
def test_inside_changes_when_clocks_show_it(case: tuple[Hours, datetime]) -> None:
    """Rule: a time is inside if the weekday and time that clocks show are in a window."""
    found, start = case
    length = 3 * DAY
    shown = clocks(found, start, length)
    changes = [
        start + MINUTE * number
        for number in range(1, len(shown))
        if shown[number] is not shown[number - 1]
    ]
    told = []
    for change in found.changes(start):
        if change >= start + length:
            break
        told.append(change)
    assert told == changes
    assert [found.includes(start + MINUTE * number) for number in range(0, len(shown), 7)] == shown[
        ::7
    ]
    if changes:
        assert found.next_change(start) == changes[0]


@settings(max_examples=40, deadline=None)
@given(hours_at_a_jump(), st.integers(1, 2 * 24 * 60), st.sampled_from([0, 1 / 4, 1 / 2, 1]))
def test_work_ends_when_the_minutes_of_copying_are_over(
    case: tuple[Hours, datetime], work: int, outside: float
) -> None:
    """Rule: a minute inside does a minute of work, and one outside the fraction `outside` of it."""
    found, start = case
    length = 5 * DAY
    done, end = 0.0, None
    for number, inside in enumerate(clocks(found, start, length)):
        speed = 1 if inside else outside
        if done + speed >= work:
            end = start + MINUTE * number + MINUTE * ((work - done) / speed)
            break
        done += speed
    told = found.end_of(start, work * 60, outside)
    if end is None:
        assert told is None or told > start + length
    else:
        assert told == end


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("22:00-06:00", "2026-03-28T21:00", "2026-03-29T04:00"),  # seven hours
        ("22:00-06:00", "2026-10-24T20:00", "2026-10-25T05:00"),  # nine
        ("02:30-05:00", "2026-03-29T01:00", "2026-03-29T03:00"),  # 02:30 is skipped
        ("sun", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("sat 22:00-06:00", "2026-03-28T21:00", "2026-03-29T04:00"),
    ],
)
def test_windows_at_a_jump_of_the_clock(text: str, first: str, last: str) -> None:
    found = hours(text)
    changes = found.changes(utc(first) - MINUTE)
    assert [next(changes), next(changes)] == [utc(first), utc(last)]


def test_times_that_clocks_show_twice_count_twice_and_skipped_ones_in_no_window() -> None:
    changes = hours("02:00-02:30").changes(utc("2026-10-24T12:00"))
    twice = ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"]
    assert [next(changes) for _ in twice] == list(map(utc, twice))
    spring = hours("02:00-02:30").next_change(utc("2026-03-28T12:00"))
    assert spring == utc("2026-03-30T00:00"), "on 29 March no clock shows 02:15"


def test_hours_of_the_whole_week_never_change() -> None:
    start = utc("2026-11-28T12:00")
    for texts in (["mon-sun"], ["mon-fri", "sat-mon"], ["00:00-12:00", "12:00-00:00"]):
        found = hours(*texts)
        assert cover_the_week(found.windows)
        assert (found.includes(start), found.next_change(start)) == (True, None)
        assert found.end_of(start, 90, 0) == start + timedelta(seconds=90)
    assert not cover_the_week([parse_window("00:00-23:59")])


def test_without_windows_work_has_an_end_only_by_the_rate_outside() -> None:
    start = utc("2026-11-28T12:00")
    assert not hours().includes(start)
    assert hours().next_change(start) is None
    assert hours().end_of(start, 60, 0) is None
    assert hours().end_of(start, 60, 0.5) == start + 2 * MINUTE
    assert hours().end_of(start, 0, 0) == start


def test_work_of_more_than_ten_years_has_no_end() -> None:
    start = utc("2026-11-28T12:00")
    assert hours("mon-sun").end_of(start, 3649 * 86_400, 0) is not None
    for texts, seconds in ((["mon-sun"], 1e15), (["sun 02:00-02:01"], 86_400), ([], 86_400)):
        assert hours(*texts).end_of(start, seconds, 1e-12) is None


def test_hours_of_a_document() -> None:
    found = hours("22:00-06:00", outside=5)
    assert hours_of(HoursSpec(found.windows, "Europe/Berlin", outside=5)) == found


def test_a_night_of_copying() -> None:
    """Of ten hours of work eight are done in the first night, and two in the second."""
    start = utc("2026-12-04T19:00")  # 20:00 in Berlin
    nights = hours("22:00-06:00")
    assert nights.end_of(start, 10 * 3600, 0) == utc("2026-12-05T23:00")
    assert nights.end_of(start, 10 * 3600, 0.2) == utc("2026-12-05T13:00")


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("22:00-06:00", Window(0, 6, 1320, 360)),
        ("sat-sun", Window(5, 6, 0, 0)),
        ("fri", Window(4, 4, 0, 0)),
        ("fri-mon 00:00-05:30", Window(4, 0, 0, 330)),
        ("mon-sun", Window(0, 6, 0, 0)),
    ],
)
def test_windows_as_text(text: str, window: Window) -> None:
    assert parse_window(text) == window
    assert format_window(window) == text


@given(windows)
def test_a_window_that_was_written_is_read_again(window: Window) -> None:
    assert parse_window(format_window(window)) == window


@pytest.mark.parametrize(
    "text",
    [
        *("", "22-06", "24:00-06:00", "2:00-06:00", "22:00", "22:00-06:00 sat"),
        *("Sat", "sat sun", "sat-", "montag", "mon  01:00-02:00", "sat-sun\n"),
    ],
)
def test_text_that_is_no_window(text: str) -> None:
    with pytest.raises(ValueError, match="is not a window; write 22:00-06:00, sat-sun"):
        parse_window(text)


def of_week(*spans: tuple[str, int]) -> list[int]:
    return [
        (DAYS.index(text[:3]) * 24 + int(text[3:]) + hour) % 168
        for text, length in spans
        for hour in range(length)
    ]


@pytest.mark.parametrize(
    ("hours_of_week", "texts"),
    [
        ([], []),
        (list(range(168)), ["mon-sun"]),
        ([day * 24 + hour for day in range(7) for hour in range(6)], ["00:00-06:00"]),
        (of_week(*((f"{day}22", 8) for day in DAYS)), ["22:00-06:00"]),
        (of_week(("sun23", 2)), ["sun 23:00-01:00"]),
        (of_week(("fri22", 56)), ["fri 22:00-00:00", "sat-sun", "mon 00:00-06:00"]),
        (of_week(("tue01", 2), ("wed01", 2)), ["tue-wed 01:00-03:00"]),
        (of_week(("tue01", 2), ("thu01", 2)), ["tue 01:00-03:00", "thu 01:00-03:00"]),
    ],
)
def test_windows_of_hours(hours_of_week: Sequence[int], texts: Sequence[str]) -> None:
    assert sorted(map(format_window, windows_of_hours(hours_of_week))) == sorted(texts)


@given(st.sets(st.integers(0, 167)))
def test_windows_of_hours_are_these_hours(chosen: set[int]) -> None:
    found = windows_of_hours(chosen)
    covered = {
        minute // 60 for window in found for span in window.spans() for minute in range(*span)
    }
    assert covered == chosen
    assert sum(end - start for window in found for start, end in window.spans()) == 60 * len(chosen)
