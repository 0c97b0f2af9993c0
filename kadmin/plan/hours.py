"""Hours in which a reassignment may copy: windows of a week, by the clocks of a time zone.

Goals: the clock on the wall decides, also where it is put back or forward. A time is inside if the
weekday and time that clocks show are in a window. Times that clocks show twice count twice, and
times that they skip are in no window.
Constraints: a window that ends at or before its start ends on the next day, and belongs to the day
on which it begins. Several windows are united.
Algorithm: the windows become edges on a week of the clock. While the zone keeps its offset from
UTC, clocks run evenly, and inside changes at edges alone; at a change of the offset clocks jump.
Times are walked a day at a time, since no zone changes its offset twice a day.
Example: 22:00-06:00 in Europe/Berlin is 7 hours long in the night to 29 March 2026, and 9 hours in
the night to 25 October 2026.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from kadmin.wording import weekday_and_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = f"(?:{'|'.join(DAYS)})"
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
WINDOW = f"^(?:{_DAY}(?:-{_DAY})?(?: {_TIME}-{_TIME})?|{_TIME}-{_TIME})$"
"""The pattern of a window."""
WINDOW_HINT = "write 22:00-06:00, sat-sun or mon-fri 22:00-06:00; midnight is 00:00"

PAUSED_RATE = 1_000
"""Bytes per second of copies in flight outside hours with a pause: they stop until hours begin."""

_MINUTES_OF_DAY = 24 * 60
_MINUTES_OF_WEEK = 7 * _MINUTES_OF_DAY
_HOURS_OF_WEEK = 7 * 24
_ONE_DAY, _ONE_WEEK = timedelta(days=1), timedelta(weeks=1)
_A_MONDAY = datetime(1970, 1, 5)  # noqa: DTZ001 - what clocks show, in any zone
_FARTHEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of every week: times of a day, on each day from one weekday to another.

    Days count from 0, Monday; `start` and `end` are minutes of a day. It lasts until the next `end`
    after `start`, a whole day where both are equal.
    """

    first_day: int
    last_day: int
    start: int
    end: int

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield its parts as minutes of the week, each with its end."""
        length = (self.end - self.start - 1) % _MINUTES_OF_DAY + 1
        for ahead in range((self.last_day - self.first_day) % len(DAYS) + 1):
            day = (self.first_day + ahead) % len(DAYS)
            start = day * _MINUTES_OF_DAY + self.start
            yield start, min(start + length, _MINUTES_OF_WEEK)
            if start + length > _MINUTES_OF_WEEK:
                yield 0, start + length - _MINUTES_OF_WEEK


def parse_window(text: str) -> Window:
    """Return the window that a text such as `mon-fri 22:00-06:00` names.

    Days alone are whole days, times alone are every day's. Raises ValueError, saying what to write.
    """
    if re.fullmatch(WINDOW, text, re.ASCII) is None:
        raise ValueError(f"{text!r} is not a window; {WINDOW_HINT}")
    if " " not in text:
        text = f"mon-sun {text}" if text[0].isdigit() else f"{text} 00:00-00:00"
    days, times = text.split()
    (first, _, last), (start, _, end) = days.partition("-"), times.partition("-")
    return Window(DAYS.index(first), DAYS.index(last or first), _minutes(start), _minutes(end))


def format_window(window: Window) -> str:
    """Write a window; `parse_window` reads it."""
    first, last = DAYS[window.first_day], DAYS[window.last_day]
    days = first if first == last else f"{first}-{last}"
    if window.start == window.end == 0:
        return days
    times = f"{_clock_time(window.start)}-{_clock_time(window.end)}"
    return times if days == "mon-sun" else f"{days} {times}"


def windows_of_hours(hours: Collection[int]) -> tuple[Window, ...]:
    """Return windows for hours of the week, where 0 is Monday 00:00 to 01:00.

    Hours that follow each other are one window of up to a day; equal windows of days that follow
    each other are one.
    """
    if len(hours) == _HOURS_OF_WEEK:
        return (parse_window("mon-sun"),)
    days: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for first in sorted(hours):
        if (first - 1) % _HOURS_OF_WEEK in hours:
            continue
        end = first
        while end % _HOURS_OF_WEEK in hours:
            end += 1
        start = first
        while start < end:
            until = end if end - start <= 24 else (start // 24 + 1) * 24  # noqa: PLR2004 - a day
            days[start % 24, until % 24].append(start // 24 % len(DAYS))
            start = until
    return tuple(
        Window(first_day, last_day, start * 60, end * 60)
        for (start, end), found in days.items()
        for first_day, last_day in _runs(sorted(found))
    )


def cover_the_week(windows: Iterable[Window]) -> bool:
    """Whether windows leave no time out."""
    return _edges_of(windows) == [0, _MINUTES_OF_WEEK]


@dataclass(frozen=True)
class Hours:
    """The windows, the zone of their clocks, and the rate outside, in bytes per second; 0: a pause.

    Times in and out are aware, in UTC.
    """

    windows: tuple[Window, ...]
    zone: ZoneInfo
    outside: int = 0

    def includes(self, at: datetime) -> bool:
        """Whether a time is inside."""
        return bisect_right(self._edges, self._clock(at)) % 2 == 1

    def limit(self, at: datetime) -> int | None:
        """Return the most bytes per second at a time outside; None inside."""
        return None if self.includes(at) else self.outside or PAUSED_RATE

    def next_change(self, at: datetime) -> datetime | None:
        """Return the first time after `at` at which inside ends or begins; None: never."""
        return next(self.changes(at), None)

    def changes(self, at: datetime) -> Iterator[datetime]:
        """Yield the times after `at` at which inside ends or begins, in order and without end.

        Where windows cover the whole week, or there are none, yield nothing.
        """
        if self._edges in {(), (timedelta(0), _ONE_WEEK)}:
            return
        inside = self.includes(at)
        while True:
            until, clock = self._end_of_offset(at), self._clock(at)
            steps = sorted({timedelta(0), *((edge - clock) % _ONE_WEEK for edge in self._edges)})
            for step in steps:
                if at + step < until and self.includes(at + step) is not inside:
                    inside = not inside
                    yield at + step
            at = until

    def end_of(self, start: datetime, seconds: float, outside: float) -> datetime | None:
        """Return the end of work that begins at `start` and takes `seconds` inside.

        `outside` is the speed outside as a fraction of that inside, from 0 to 1. None: there is no
        end within ten years.
        """
        if seconds > _FARTHEST.total_seconds():
            return None
        left, at, inside = timedelta(seconds=seconds), start, self.includes(start)
        for change in self.changes(start):
            done = (change - at) * (1.0 if inside else outside)
            if left <= done:
                break
            if change - start > _FARTHEST:
                return None
            left, at, inside = left - done, change, not inside
        speed = 1.0 if inside else outside
        if left > _FARTHEST * speed:
            return None
        return at + left / speed if left else at

    @cached_property
    def _edges(self) -> tuple[timedelta, ...]:
        """The starts and ends of all windows, by turns, from Monday 00:00 on."""
        return tuple(timedelta(minutes=each) for each in _edges_of(self.windows))

    def _clock(self, at: datetime) -> timedelta:
        """Return the time since Monday 00:00 that clocks show."""
        return (at.astimezone(self.zone).replace(tzinfo=None) - _A_MONDAY) % _ONE_WEEK

    def _end_of_offset(self, at: datetime) -> datetime:
        """Return the time at which the zone changes its offset, at most a day after `at`."""
        same, low, high = self._offset(at), at, at + _ONE_DAY
        if self._offset(high) == same:
            return high
        while high - low > timedelta.resolution:
            middle = low + (high - low) / 2
            low, high = (middle, high) if self._offset(middle) == same else (low, middle)
        return high

    def _offset(self, at: datetime) -> timedelta | None:
        return at.astimezone(self.zone).utcoffset()


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of copies as estimated at `at`: `earliest` at their highest rate, `latest` at least.

    `zone` is that of their hours; times are aware, in UTC.
    """

    at: datetime
    earliest: datetime
    latest: datetime
    zone: ZoneInfo

    @property
    def seconds(self) -> float:
        """The seconds that are left until the latest end."""
        return (self.latest - self.at).total_seconds()


def until(hours: Hours, at: datetime) -> str:
    """Return the next change of hours as the end of a sentence: `, until today 22:00 UTC`.

    Empty where there is none.
    """
    change = hours.next_change(at)
    return "" if change is None else f", until {time_in(hours.zone, change, at)}"


def time_in(zone: ZoneInfo, at: datetime, now: datetime) -> str:
    """Return a time as part of a sentence, with its zone: `on Sunday 03:10 Europe/Berlin`."""
    return f"{weekday_and_time(at, now, zone)} {zone.key}"


def _edges_of(windows: Iterable[Window]) -> list[int]:
    """Return the starts and ends of united windows, by turns, in minutes of the week."""
    edges: list[int] = []
    for start, end in sorted(span for window in windows for span in window.spans()):
        if edges and start <= edges[-1]:
            edges[-1] = max(edges[-1], end)
        else:
            edges += [start, end]
    return edges


def _runs(days: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of days that follow each other."""
    for _, run in groupby(enumerate(days), lambda each: each[1] - each[0]):
        found = [day for _, day in run]
        yield found[0], found[-1]


def _minutes(time: str) -> int:
    hours, _, minutes = time.partition(":")
    return int(hours) * 60 + int(minutes)


def _clock_time(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
