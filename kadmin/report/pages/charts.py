"""Builds charts of an amount of every broker before and after, coloured by rack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.report.pages.even_share import amounts
from kadmin.report.pages.page import Chart, ChartBar, ChartPath
from kadmin.report.pages.scale import round_amounts
from kadmin.report.text import about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kadmin.insight.predict.forecast import Forecast
    from kadmin.report.pages.even_share import EvenShares

COLOURS = 8
"""The number of colours; more racks than that have none."""
_MOST_TICKS = 12
_LABELS = 4


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts of brokers before and after, the share that is even, and the text of an amount."""

    pairs: Sequence[tuple[float, float]]
    share: float
    shown: Callable[[float], str]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class RackColours:
    """The racks of brokers, and the colour of each rack, None where there are too many."""

    racks: Mapping[int, str | None]
    colours: Mapping[str | None, int | None]

    def of(self, broker_id: int) -> tuple[str, int | None]:
        """Return the name of a broker's rack, empty where it is unknown, and its colour."""
        rack = self.racks.get(broker_id)
        return ("", None) if rack is None else (one_line(rack), self.colours[rack])


def rack_colours(found: Forecast) -> RackColours:
    """Give each rack a colour, in the order of their names; one rack alone has none."""
    racks = {each.broker_id: each.rack for each in found.brokers}
    named = sorted({rack for rack in racks.values() if rack is not None})
    coloured = 1 < len(named) <= COLOURS
    return RackColours(racks, {rack: at if coloured else None for at, rack in enumerate(named)})


def charts(
    found: Forecast, shares: EvenShares, times: tuple[str, str], racks: RackColours
) -> tuple[Chart, ...]:
    """Return charts of the replicas, leaders and bytes of every broker.

    Amounts that are not known have none.
    """
    held = [(amounts(each.before), amounts(each.after)) for each in found.brokers]
    ids = [each.broker_id for each in found.brokers]
    made = []
    for which, title in enumerate(("Replicas", "Leaders", "Bytes")):
        pairs = [(before[which] or 0, after[which] or 0) for before, after in held]
        unknown = any(amount[which] is None for pair in held for amount in pair)
        if unknown or not any(map(any, pairs)):
            continue
        is_bytes = title == "Bytes"
        shown = _bytes if is_bytes else "{:,.0f}".format
        spans = []
        for at, (time, share) in enumerate(
            zip(times, (shares.before[which], shares.after[which]), strict=True)
        ):
            counted = [
                pair[at]
                for pair, broker_id in zip(pairs, ids, strict=True)
                if pair[at] or broker_id in share.weights
            ]
            spans.append(f"{span(counted or [0], shown)} {time}")
        share_after = shares.after[which].amount or 0
        found_amounts = Amounts(pairs, share_after, shown, whole=not is_bytes)
        made.append(chart(f"{title} per broker", spans, ids, found_amounts, racks))
    return tuple(made)


def chart(
    title: str, spans: Iterable[str], ids: Sequence[int], found: Amounts, racks: RackColours
) -> Chart:
    """Return a chart whose highest bar, or share, reaches the top."""
    most = max(found.share, *(each for pair in found.pairs for each in pair))
    heights = [
        (round(100 * before / most), round(100 * after / most)) for before, after in found.pairs
    ]
    bars = tuple(
        ChartBar(str(broker_id), *racks.of(broker_id), pair, (found.shown(was), found.shown(now)))
        for broker_id, pair, (was, now) in zip(ids, heights, found.pairs, strict=True)
    )
    labels = round_amounts(most, _LABELS, least=1 if found.whole else 0)
    return Chart(
        title,
        ", ".join(spans),
        bars,
        tuple(_paths(bars)),
        round(100 * found.share / most),
        _ticks(ids),
        tuple((round(100 * each / most, 1), found.shown(each)) for each in labels),
    )


def _paths(bars: Sequence[ChartBar]) -> Iterator[ChartPath]:
    for colour in dict.fromkeys(bar.colour for bar in bars):
        for time, is_before in enumerate((True, False)):
            drawn = "".join(
                f"M{10 * at + 4 * time + 1} 100v-{bar.heights[time]}h4v{bar.heights[time]}z"
                for at, bar in enumerate(bars)
                if bar.colour == colour and bar.heights[time]
            )
            yield ChartPath(drawn, colour, is_before)


def span(found: Sequence[float], shown: Callable[[float], str]) -> str:
    """Return `7 to 12`, or `7`."""
    return " to ".join(dict.fromkeys((shown(min(found)), shown(max(found)))))


def _bytes(amount: float) -> str:
    return about(round(amount))


def _ticks(ids: Sequence[int]) -> tuple[tuple[float, str], ...]:
    """Return the ids that have room below a chart.

    They are all of a few brokers, of many every second, third and so on.
    """
    every = math.ceil(len(ids) / _MOST_TICKS)
    return tuple(
        (round(100 * (at + 0.5) / len(ids), 2), str(ids[at])) for at in range(0, len(ids), every)
    )
