"""The rate of an operation and its signals over time, as lines of text and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.hours import utc_text
from kadmin.answers.operations import RatesAnswer, SignalRange
from kadmin.plan.signals import readable_amount
from kadmin.plan.throttle_words import rate_in_words
from kadmin.report.text import WIDTH, duration
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from kadmin.operations.reading.rate_history import RateHistory
    from kadmin.plan.signals import SignalValue

_LEVELS = ".:-=+*#"
_MOST_CELLS, _FEWEST_CELLS = 24, 8
_INDENT = "    "

Samples = list[tuple["datetime", float]]


def rate_lines(history: RateHistory) -> Iterator[str]:
    """Yield a line for the rate and one for each signal."""
    rates = [(each.at, float(each.highest)) for each in history.throttles]
    rows = [("rate", rates, rate_words(history))]
    for name, seen in history.signals.items():
        rows.append((name, known_values(seen), signal_words(seen)))
    wide = max(len(name) for name, _, _ in rows)
    rest = WIDTH - len(f"{_INDENT}{'':{wide}} [] ") - max(len(words) for _, _, words in rows)
    cells = min(_MOST_CELLS, rest)
    took = duration((history.end - history.start).total_seconds())
    scale = f", drawn from {_LEVELS[0]} (lowest) to {_LEVELS[-1]} (highest)"
    drawn = cells >= _FEWEST_CELLS
    yield f"  {count(len(rates) - 1, 'change')} of the throttle in {took}{scale if drawn else ''}:"
    for name, samples, words in rows:
        bar = _bar(samples, history, cells, holds=samples is rates)
        yield f"{_INDENT}{name:{wide}} {f'[{bar}] ' if drawn else ''}{words}"


def rates_answer(history: RateHistory) -> RatesAnswer:
    """Return the lowest and highest rate and signals, and the last ones."""
    signals, rates = {}, history.rates
    for name, seen in history.signals.items():
        values, (_, last) = [value for _, value in known_values(seen)], seen[-1]
        lowest, highest = min(values, default=None), max(values, default=None)
        signals[name] = SignalRange(lowest, highest, last.value, last.limit)
    return RatesAnswer(
        utc_text(history.start), len(rates) - 1, min(rates), max(rates), rates[-1], signals
    )


def rate_words(history: RateHistory) -> str:
    """Return `1.00 to 8.50 MB/s, 4.30 MB/s last`."""
    rates = history.rates
    return (
        f"{_range(*map(rate_in_words, (min(rates), max(rates))))}, {rate_in_words(rates[-1])} last"
    )


def signal_words(seen: Sequence[tuple[datetime, SignalValue]]) -> str:
    """Return `4.1 to 80 ms, 12 ms last, limit 20 ms`."""
    _, last = seen[-1]
    limit = f"limit {readable_amount(last.limit, last.unit)}"
    values = [value for _, value in known_values(seen)]
    if not values:
        return f"no value, {limit}"
    lowest, highest = (readable_amount(each, last.unit) for each in (min(values), max(values)))
    now = "none" if last.value is None else readable_amount(last.value, last.unit)
    return f"{_range(lowest, highest)}, {now} last, {limit}"


def known_values(seen: Sequence[tuple[datetime, SignalValue]]) -> Samples:
    """Return the values of a signal with their times, without those that are not known."""
    return [(at, signal.value) for at, signal in seen if signal.value is not None]


def _range(lowest: str, highest: str) -> str:
    """Return `4.1 to 80 ms`, with both units where they differ."""
    if lowest == highest:
        return lowest
    amount, _, unit = lowest.partition(" ")
    return f"{amount if highest.endswith(f' {unit}') else lowest} to {highest}"


def _bar(samples: Samples, history: RateHistory, cells: int, *, holds: bool) -> str:
    """Draw samples as characters, each of an equal part of the time.

    A part has its highest sample. Where a sample holds until the next one, a part has the last one.
    """
    values = [value for _, value in samples]
    lowest = min(values, default=0.0)
    step = (max(values, default=0.0) - lowest) / (len(_LEVELS) - 1) or 1.0
    whole = (history.end - history.start).total_seconds() or 1.0
    parts: list[list[float]] = [[] for _ in range(cells)]
    for at, value in samples:
        index = int(cells * (at - history.start).total_seconds() / whole)
        parts[min(cells - 1, index)].append(value)
    drawn, last = [], values[:1]
    for part in parts:
        last = part[-1:] or last
        shown = last if holds else [max(part)] if part else []
        drawn.append("".join(_LEVELS[round((each - lowest) / step)] for each in shown) or " ")
    return "".join(drawn)
