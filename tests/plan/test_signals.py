"""Signals and their limits: units, and values that are missing or old."""

from __future__ import annotations

import pytest

from kadmin.plan.signals import NO_VALUE_S, SignalSeen, limit_in, readable_amount


@pytest.mark.parametrize(
    ("limit", "unit", "number"),
    [
        ("50ms", "s", 0.05),
        ("50ms", "ms", 50),
        ("2s", "ms", 2000),
        ("1h", "s", 3600),
        ("10MB/s", "B/s", 10_000_000),
        ("5GiB", "B", 5 * 1024**3),
        ("0.5", None, 0.5),
        ("7", None, 7),
    ],
)
def test_a_limit_is_a_number_in_the_unit_of_its_signal(
    limit: str, unit: str | None, number: float
) -> None:
    assert limit_in(limit, unit) == pytest.approx(number)


@pytest.mark.parametrize(
    ("limit", "unit", "said"),
    [
        ("50ms", None, "its limit is 50ms, and its values have no unit: write a plain number"),
        ("50", "ms", "its limit is 50, and its values are in ms: write 50ms"),
        ("5GB", "B/s", "its limit is 5GB, and its values are in B/s: write 10MB/s"),
        ("5MB/s", "B", "its limit is 5MB/s, and its values are in B: write 5GB"),
    ],
)
def test_a_limit_of_another_kind_is_refused(limit: str, unit: str | None, said: str) -> None:
    with pytest.raises(ValueError, match=r"^its limit is") as refused:
        limit_in(limit, unit)
    assert str(refused.value) == said


def seen(value: float | None, age_s: float = 3, trouble: str | None = None) -> SignalSeen:
    return SignalSeen("produce_p99", "ms", 50, value, age_s, trouble)


@pytest.mark.parametrize(
    ("signal", "exceeded", "reason"),
    [
        (seen(49.5), False, "produce_p99 is 49.5 ms, below 50 ms"),
        (seen(50), True, "produce_p99 is 50 ms, not below 50 ms"),
        (seen(None), False, "produce_p99 has no value yet"),
        (seen(None, 59.9, "closed"), False, "produce_p99 has no value yet"),
        (seen(None, NO_VALUE_S), True, "produce_p99 has no value for 60 s"),
        (seen(10, 59.9, "closed"), False, "produce_p99 is 10 ms, below 50 ms"),
        (seen(10, NO_VALUE_S, "closed"), True, "produce_p99 has no value for 60 s: closed"),
    ],
)
def test_a_value_that_is_not_below_its_limit_or_a_minute_old_counts_as_over_it(
    signal: SignalSeen, *, exceeded: bool, reason: str
) -> None:
    assert (signal.is_exceeded, signal.reason) == (exceeded, reason)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1500.0, "B", "1.50 kB"), (1500.0, "B/s", "1.50 kB/s"), (0.05, "s", "50 ms"), (7, None, "7")],
)
def test_values_are_shown_in_their_unit(value: float, unit: str | None, text: str) -> None:
    assert readable_amount(value, unit) == text
