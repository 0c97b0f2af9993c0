"""Draws the rate of an operation and each of its signals over time.

Times are positions of 1,000 from the left, amounts of 100 from the top.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.signals import readable_amount
from kadmin.report.operations.rate_lines import known_values, rate_words, signal_words
from kadmin.report.pages.page import FigureLine, LineFigure, Section
from kadmin.report.pages.scale import round_amounts
from kadmin.wording import brokers_in_words, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from kadmin.operations.reading.rate_history import RateHistory
    from kadmin.plan.signals import SignalValue

_WIDTH, _HEIGHT = 1000, 100
_ABOVE = 1.15
"""The top of a figure, in highest amounts: there is room for the label of a line below it."""
_MOST_LINES = 4
_TIMES = 5
"""Labels along the axis of times, at most."""
_EDGE = 0.06
"""The part of the width at both ends that a label of a time needs for its half."""
_DAY_S = 86_400
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)


def rate_section(history: RateHistory) -> Section:
    """Return the figures: the rate, and each signal that is on record with its changes."""
    zone = "UTC" if history.zone is None else history.zone.key
    signals = history.signals
    lead = f"The throttle's rate; where brokers have different ones, that of each. Times: {zone}."
    if signals:
        lead += " Points: a signal at each change of the rate. Dashed: its limit."
    if history.outside:
        lead += " Grey: outside the hours."
    figures = [_rate_figure(history)]
    figures += [_signal_figure(name, seen, history) for name, seen in signals.items()]
    return Section("rates", "Rate over time", lead, figures=tuple(figures))


def _rate_figure(history: RateHistory) -> LineFigure:
    drawn = _rates_by_name(history)
    rates = [rate for samples in drawn.values() for _, rate in samples]
    top = _ABOVE * max((rate for rate in rates if rate < WHOLE_NETWORK.amount), default=1.0)
    lines = tuple(FigureLine(_held(samples, history, top), name) for name, samples in drawn.items())
    changes = count(len(history.throttles) - 1, "change")
    text = f"{rate_words(history)}, {changes}"
    return _figure("rate", "Rate", text, lines, history, (top, "B/s"))


def _rates_by_name(history: RateHistory) -> dict[str, list[tuple[datetime, float]]]:
    """Return the rates to draw: of brokers with equal rates one line, without a name if of all.

    Of too many lines, return the highest and the lowest rate.
    """
    brokers = sorted({broker for each in history.throttles for broker in each.rates})
    alike: dict[tuple[tuple[datetime, float], ...], list[int]] = {}
    for broker in brokers:
        samples = tuple(
            (each.at, float(each.rates[broker]))
            for each in history.throttles
            if broker in each.rates
        )
        alike.setdefault(samples, []).append(broker)
    highest = [(each.at, float(each.highest)) for each in history.throttles]
    if len(alike) <= 1:
        return {"": highest}
    if len(alike) <= _MOST_LINES:
        return {brokers_in_words(ids): list(samples) for samples, ids in alike.items()}
    lowest = [
        (each.at, float(min(each.rates.values(), default=each.highest)))
        for each in history.throttles
    ]
    return {"the highest of a broker": highest, "the lowest": lowest}


def _signal_figure(
    name: str, seen: Sequence[tuple[datetime, SignalValue]], history: RateHistory
) -> LineFigure:
    limits = [(at, signal.limit) for at, signal in seen]
    known = known_values(seen)
    top = _ABOVE * max(amount for _, amount in (*known, *limits)) or 1.0
    path, inside = "", False
    for at, signal in seen:
        if signal.value is not None:
            path += f"{'L' if inside else 'M'}{_x(at, history)} {_y(signal.value, top)}"
        inside = signal.value is not None
    points = "".join(f"M{_x(at, history)} {_y(value, top)}h0" for at, value in known)
    lines = (
        FigureLine(path, kind="weak"),
        FigureLine(_held(limits, history, top), kind="limit"),
        FigureLine(points, kind="points"),
    )
    title = name.replace("_", " ").capitalize() if name == "commit_delay" else name
    return _figure(name, title, signal_words(seen), lines, history, (top, seen[-1][1].unit))


def _figure(
    name: str,
    title: str,
    text: str,
    lines: tuple[FigureLine, ...],
    history: RateHistory,
    scale: tuple[float, str | None],
) -> LineFigure:
    shades = tuple(
        (x, _x(end, history) - x) for start, end in history.outside for x in (_x(start, history),)
    )
    return LineFigure(
        f"rates-{name}", title, text, lines, shades, tuple(_times(history)), tuple(_amounts(*scale))
    )


def _held(samples: Iterable[tuple[datetime, float]], history: RateHistory, top: float) -> str:
    """Return the path of samples that hold until the next one, the last one until the end."""
    path, last = "", None
    for at, amount in samples:
        x, y = _x(at, history), _y(amount, top)
        if last is None:
            path = f"M{x} {y}"
        elif y != last:
            path += f"H{x}V{y}"
        last = y
    return f"{path}H{_WIDTH}"


def _x(at: datetime, history: RateHistory) -> int:
    whole = (history.end - history.start) / timedelta(seconds=1)
    return round(_WIDTH * ((at - history.start) / timedelta(seconds=1)) / (whole or 1))


def _y(amount: float, top: float) -> float:
    return round(_HEIGHT * (1 - min(1.0, amount / top)), 1)


def _amounts(top: float, unit: str | None) -> list[tuple[float, str]]:
    """Return the labels of round amounts, each with its position."""
    return [(_y(each, top), readable_amount(each, unit)) for each in round_amounts(top)]


def _times(history: RateHistory) -> list[tuple[float, str]]:
    """Return the labels of round times of the clock, each with its position in percent."""
    start, zone = history.start, history.zone or UTC
    whole_s = (history.end - start).total_seconds()
    days = int(whole_s / _DAY_S / _TIMES) + 1
    step_s = next((each for each in _STEPS_S if whole_s / each <= _TIMES), days * _DAY_S)
    midnight = start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    first_s = (start - midnight).total_seconds()
    form = "%H:%M:%S" if step_s < 60 else "%H:%M" if whole_s < _DAY_S else "%a %H:%M"  # noqa: PLR2004 - a minute
    found = []
    for number in range(_TIMES + 2):
        after_s = (first_s // step_s + number) * step_s - first_s
        part = after_s / (whole_s or 1)
        if _EDGE <= part <= 1 - _EDGE:
            at = (start + timedelta(seconds=after_s)).astimezone(zone)
            found.append((round(100 * part, 2), f"{at:{form}}"))
    return found
