from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.plan.units import (
    format_duration,
    format_percent,
    format_rate,
    format_size,
    parse_duration,
    parse_percent,
    parse_rate,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0B", 0),
        ("1B", 1),
        ("500GB", 500 * 10**9),
        ("64KiB", 65536),
        ("2TB", 2 * 10**12),
        ("1TiB", 2**40),
        ("10kB", 10_000),
        ("10KB", 10_000),
        ("1.5MB", 1_500_000),
        ("50 MB", 50_000_000),
        ("9223372036854775807B", 2**63 - 1),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


def test_rates() -> None:
    assert parse_rate("50MB/s") == 50_000_000
    assert parse_rate("1MiB/s") == 2**20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10", r"'10' has no unit: 10MB or 10kB\?"),
        ("10.5", r"'10.5' has no unit: 10.5MB or 10.5kB\?"),
        ("1000", r"'1000' has no unit: 1kB\?"),
        ("10XB", "unknown unit 'XB' in '10XB'; units are B, kB"),
        ("10mb", "unknown unit 'mb'"),
        ("10Mb", "unknown unit 'Mb'"),
        ("50MB/s", "is not a size; write 50MB"),
        ("1.5B", "not a whole number of bytes"),
        ("9223372036854775808B", "is more than 9223372036854775807 bytes"),
        ("-5MB", "is not a size; write for example 50MB"),
        ("5MB\n", "is not a size"),
        ("", "is not a size"),
        ("٣MB", "is not a size"),
        ("x" * 1000, "'x{40}'... is not a size"),
    ],
)
def test_bad_sizes(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_size(text)


def test_bad_rates() -> None:
    with pytest.raises(ValueError, match=r"has no unit: 50MB/s or 50kB/s\?"):
        parse_rate("50")
    with pytest.raises(ValueError, match=r"'5000000' has no unit: 5MB/s\?"):
        parse_rate("5000000")
    for text in ("50MB", "50MBps", "50MBps/s"):
        with pytest.raises(ValueError, match=f"'{text}' is not a rate; write 50MB/s"):
            parse_rate(text)
    with pytest.raises(
        ValueError, match=r"unknown unit 'Mbit' in '5Mbit'; units are .*, each with /s"
    ):
        parse_rate("5Mbit")


@pytest.mark.parametrize("text", ["2", "101%", "-1%", "%", "2%%", "two%"])
def test_bad_percentages(text: str) -> None:
    with pytest.raises(ValueError, match="is not a percentage from 0% to 100%"):
        parse_percent(text)


@pytest.mark.parametrize(
    ("text", "fraction"), [("2%", 0.02), ("0%", 0.0), ("100%", 1.0), ("2.5 %", 0.025)]
)
def test_percentages(text: str, fraction: float) -> None:
    assert parse_percent(text) == fraction


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0B"),
        (65536, "64KiB"),
        (500 * 10**9, "500GB"),
        (1001, "1001B"),
        (1000, "1kB"),
        (2**20, "1MiB"),
    ],
)
def test_shortest_exact_spelling(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1), ("90m", 5400), ("6h", 21_600), ("1.5 h", 5400), ("2d", 172_800)],
)
def test_durations(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("6", r"'6' has no unit: 6m or 6h\?"),
        ("6min", r"unknown unit 'min' in '6min'; units are s, m \(minutes\), h, d"),
        ("0h", "'0h' is not a whole number of seconds, at least one"),
        ("1.0001s", "is not a whole number of seconds"),
        ("6h30m", "is not a duration; write for example 6h"),
        ("-1h", "is not a duration"),
        ("", "is not a duration"),
    ],
)
def test_bad_durations(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_duration(text)


@given(st.integers(1, 999_999_999))
def test_durations_round_trip(seconds: int) -> None:
    """A formatted duration is read as the same number of seconds."""
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(0, 2**63 - 1))
def test_sizes_round_trip(size_bytes: int) -> None:
    """A formatted size is read as the same number of bytes."""
    assert parse_size(format_size(size_bytes)) == size_bytes
    assert parse_rate(format_rate(size_bytes)) == size_bytes


@given(st.integers(0, 10_000))
def test_percentages_round_trip(hundredths: int) -> None:
    """A percentage of two decimals is read as the same fraction."""
    fraction = hundredths / 10_000
    assert parse_percent(format_percent(fraction)) == pytest.approx(fraction, abs=1e-12)
