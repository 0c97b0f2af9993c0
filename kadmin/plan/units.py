"""Amounts with units: bytes, bytes per second and durations, as people write them.

`kB MB GB TB` are powers of 1000 and `KiB MiB GiB TiB` powers of 1024; `KB` is read as `kB`. A
number without a unit is refused: 10 could be meant as 10 KB/s or 10 MB/s, and the difference is an
outage.
"""

from __future__ import annotations

import re
from fractions import Fraction

_FACTORS = {
    "B": 1,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
}
_SPELLINGS = {**_FACTORS, "KB": 1000}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AMOUNT = re.compile(
    r"(?P<number>[0-9]{1,19}(?:\.[0-9]{1,12})?) ?(?P<unit>[A-Za-z]*)(?P<per>/s)?", re.ASCII
)
_DURATION = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,6})?) ?(?P<unit>[A-Za-z]*)", re.ASCII)
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,6})?) ?%", re.ASCII)
_LONGEST_SHOWN = 40
MOST_BYTES = 2**63 - 1
_MOST_PERCENT, _MOST_SURPLUS = 100, 999
_NEXT_UNIT = 999.5  # what would be rounded to 1000

UNITS_HINT = "units are B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024)"


def parse_size(text: str) -> int:
    """Return the bytes that a size such as `500GB` or `64KiB` names.

    Raises ValueError, saying what to write.
    """
    return _parse(text, per_second=False)


def parse_rate(text: str) -> int:
    """Return the bytes per second that a rate such as `50MB/s` names.

    Raises ValueError, saying what to write.
    """
    return _parse(text, per_second=True)


def parse_duration(text: str) -> int:
    """Return the seconds that a duration such as `90m` or `6h` names.

    Raises ValueError, saying what to write.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{_shown(text)} is not a duration; write for example 6h")
    if not match["unit"]:
        raise ValueError(f"{_shown(text)} has no unit: {match['number']}m or {match['number']}h?")
    if match["unit"] not in _SECONDS:
        raise ValueError(
            f"unknown unit {match['unit']!r} in {_shown(text)}; units are s, m (minutes), h, d"
        )
    seconds = Fraction(match["number"]) * _SECONDS[match["unit"]]
    if seconds.denominator != 1 or seconds == 0:
        raise ValueError(f"{_shown(text)} is not a whole number of seconds, at least one")
    return seconds.numerator


def parse_limit(text: str) -> tuple[float, str | None]:
    """Return the number of a limit such as `50ms`, `10MB/s` or `0.5`, and its unit.

    The unit is `s`, `B`, `B/s`, or None for a plain number. Raises ValueError, saying what to
    write.
    """
    match = _DURATION.fullmatch(text)
    if match is not None and not match["unit"]:
        return float(match["number"]), None
    if match is not None and match["unit"] == "ms":
        return float(Fraction(match["number"]) / 1000), "s"
    if match is not None and match["unit"] in _SECONDS:
        return float(Fraction(match["number"]) * _SECONDS[match["unit"]]), "s"
    per_second = text.endswith("/s")
    return float(_parse(text, per_second=per_second)), "B/s" if per_second else "B"


def parse_percent(text: str, most: int = _MOST_PERCENT) -> float:
    """Return the fraction that a percentage names: `2%` is 0.02.

    Raises ValueError above `most` % and without `%`.
    """
    match = _PERCENT.fullmatch(text)
    if match is None or Fraction(match["number"]) > most:
        raise ValueError(f"{_shown(text)} is not a percentage from 0% to {most}%, such as 2%")
    return float(Fraction(match["number"]) / 100)


def parse_surplus(value: str | int) -> float | int:
    """Return the fraction that a percentage up to 999 % names, or the whole number as it is."""
    return value if isinstance(value, int) else parse_percent(value, _MOST_SURPLUS)


def format_size(size_bytes: int) -> str:
    """Write bytes exactly, in the unit that is shortest to read: `500GB`, `64KiB`, `1001B`.

    `parse_size` reads it.
    """
    spellings = [
        f"{size_bytes // factor}{unit}"
        for unit, factor in _FACTORS.items()
        if size_bytes % factor == 0
    ]
    return "0B" if size_bytes == 0 else min(spellings, key=len)


def readable_size(size_bytes: int) -> str:
    """Write bytes with three digits, for people: `1.24 TB`."""
    amount, unit = float(size_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if amount < _NEXT_UNIT:
            break
        amount, unit = amount / 1000, larger
    digits = 0 if unit == "B" else max(0, 3 - len(str(int(amount))))
    return f"{amount:.{digits}f} {unit}"


def readable_rate(rate: float) -> str:
    """Write bytes per second with three digits, for people: `51.2 MB/s`."""
    return f"{readable_size(round(rate))}/s"


def format_rate(rate: int) -> str:
    """Write bytes per second exactly: `50MB/s`; `parse_rate` reads it."""
    return f"{format_size(rate)}/s"


def format_duration(seconds: int) -> str:
    """Write seconds exactly, in the largest unit that allows it: `6h`.

    `parse_duration` reads it.
    """
    unit, factor = next(
        (unit, size) for unit, size in reversed(_SECONDS.items()) if seconds % size == 0
    )
    return f"{seconds // factor}{unit}"


def format_percent(fraction: float) -> str:
    """Write a fraction as a percentage: 0.02 is `2%`; `parse_percent` reads it."""
    percent = Fraction(repr(fraction)) * 100
    return (
        f"{percent.numerator}%"
        if percent.denominator == 1
        else f"{float(percent):.6f}".rstrip("0").rstrip(".") + "%"
    )


def format_surplus(value: float) -> str | int:
    """Write a fraction as a percentage, and a whole number as it is; `parse_surplus` reads it."""
    return value if isinstance(value, int) else format_percent(value)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}..."


def _parse(text: str, *, per_second: bool) -> int:
    what, suffix = ("rate", "/s") if per_second else ("size", "")
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{_shown(text)} is not a {what}; write for example 50MB{suffix}")
    if not match["unit"]:
        number = match["number"]
        small = "." in number or int(number) < _FACTORS["kB"]
        meant = [f"{number}MB", f"{number}kB"] if small else [format_size(int(number))]
        raise ValueError(
            f"{_shown(text)} has no unit: {' or '.join(f'{each}{suffix}' for each in meant)}?"
        )
    unit = match["unit"].removesuffix("ps") if per_second else match["unit"]
    if unit not in _SPELLINGS:
        each = f", each with {suffix}" if suffix else ""
        raise ValueError(f"unknown unit {match['unit']!r} in {_shown(text)}; {UNITS_HINT}{each}")
    if per_second != bool(match["per"]) or unit != match["unit"]:
        other = f"{match['number']}{unit}{suffix}"
        raise ValueError(f"{_shown(text)} is not a {what}; write {other}")
    amount = Fraction(match["number"]) * _SPELLINGS[unit]
    if amount.denominator != 1:
        raise ValueError(f"{_shown(text)} is not a whole number of bytes")
    if amount > MOST_BYTES:
        raise ValueError(f"{_shown(text)} is more than {MOST_BYTES} bytes")
    return amount.numerator
