"""Throttles in words: ranges, signals, partitions at once and hours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kadmin.operations.record.record import ThrottleRecord
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.hours import parse_window
from kadmin.plan.model import HoursSpec, SignalLimit, ThrottleBy, ThrottleSpec
from kadmin.plan.throttle_words import rate_in_words, throttle_in_words

FIXED = ThrottleSpec(ThrottleBy.RATE, 50_000_000)
RANGE = ThrottleSpec(ThrottleBy.RATE, 10_000_000, 200_000_000)
LIMITS = {"p99": SignalLimit("50ms"), "lag": SignalLimit("7"), "heap": SignalLimit("5GB")}
HOURS = HoursSpec(
    tuple(map(parse_window, ("22:00-06:00", "sat-sun"))), "Europe/Berlin", outside=5_000_000
)
PAUSED = replace(HOURS, outside=0)
AT_ONCE = "at once from one broker to another"
WHERE = "within 22:00-06:00 and sat-sun in Europe/Berlin"


@pytest.mark.parametrize(
    ("throttle", "hours", "now", "text"),
    [
        (FIXED, None, None, "50.0 MB/s"),
        (FIXED, None, 50_000_000, "50.0 MB/s"),
        (RANGE, None, None, "10.0 MB/s to 200 MB/s"),
        (RANGE, None, 43_000_000, "43.0 MB/s now, 10.0 MB/s to 200 MB/s"),
        (replace(FIXED, pair=1), None, None, f"50.0 MB/s, 1 partition {AT_ONCE}"),
        (replace(FIXED, pair=2), None, None, f"50.0 MB/s, 2 partitions {AT_ONCE}"),
        (
            replace(RANGE, signals={"p99": SignalLimit("50ms")}),
            None,
            None,
            "10.0 MB/s to 200 MB/s while p99 is below 50ms",
        ),
        (
            replace(RANGE, signals=LIMITS),
            None,
            None,
            "10.0 MB/s to 200 MB/s while heap is below 5GB, lag is below 7 and p99 is below 50ms",
        ),
        (FIXED, HOURS, None, f"50.0 MB/s, {WHERE}, 5.00 MB/s outside"),
        (FIXED, PAUSED, 1_000, f"1.00 kB/s now, 50.0 MB/s, {WHERE}, paused outside"),
        (WHOLE_NETWORK, HOURS, None, f"the network's speed, {WHERE}, 5.00 MB/s outside"),
        (
            FIXED,
            HoursSpec(quiet=0.7, folder="load"),
            None,
            "50.0 MB/s, within the hours with at most 0.7 of each broker's peak, paused outside",
        ),
    ],
)
def test_words(throttle: ThrottleSpec, hours: HoursSpec | None, now: int | None, text: str) -> None:
    assert throttle_in_words(throttle, hours, now=now) == text


def test_brokers_are_named_beside_the_rate() -> None:
    throttle = replace(RANGE, signals={"p99": SignalLimit("50ms")})
    assert throttle_in_words(throttle, on="3 brokers") == (
        "10.0 MB/s to 200 MB/s on 3 brokers while p99 is below 50ms"
    )


def test_a_throttle_above_every_network_is_no_number_of_bytes() -> None:
    assert rate_in_words(WHOLE_NETWORK.amount) == "the network's speed"
    assert rate_in_words(5) == "5 B/s"


def test_records_and_requests() -> None:
    assert str(ThrottleRecord(7_000, {})) == "7.00 kB/s"
    assert str(ThrottleRecord(20_000_000, {}, RANGE)).startswith("20.0 MB/s now, 10.0 MB/s to")
    asked = ThrottleRequest(7_000, "ann@host-a", "then")
    assert str(asked) == "asked to throttle at 7.00 kB/s by ann@host-a at then"
    asked = replace(asked, spec=RANGE, hours=HOURS)
    assert f"10.0 MB/s to 200 MB/s, {WHERE}, 5.00 MB/s outside by ann" in str(asked)
