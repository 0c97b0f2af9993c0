"""A poll tries at once, between pauses, and a last time when its time is over; readings take a
tenth of the time at most.
"""

from __future__ import annotations

from support.executor.fast_clock import FastClock

from kadmin.waiting import next_at, poll


def test_a_poll_tries_at_once_and_a_last_time_at_the_end() -> None:
    clock = FastClock()
    assert [clock.time for _ in poll(1.0, 0.4, clock.now, clock.wait)] == [0.0, 0.4, 0.8, 0.8 + 0.4]
    assert [clock.time for _ in poll(0.0, 0.4, clock.now, clock.wait)] == [clock.time]


def test_a_poll_that_has_what_it_wants_waits_no_more() -> None:
    clock = FastClock()
    assert any(clock.time >= 0.4 for _ in poll(1.0, 0.4, clock.now, clock.wait))
    assert clock.time == 0.4


def test_a_commands_poll_ends_with_the_command() -> None:
    clock = FastClock(until=1.0)
    assert [clock.time for _ in clock.poll(60.0, 0.5)] == [0.0, 0.5, 1.0]


def test_a_reading_that_takes_long_is_rarer() -> None:
    assert next_at(100.0, 100.25, 5.0) == 105.25
    assert next_at(100.0, 103.0, 5.0) == 133.0
