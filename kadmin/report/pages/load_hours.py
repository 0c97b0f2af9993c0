"""Builds the sections of load over time.

It is a picture of every broker in every hour of the week, before and after.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

from kadmin.report.pages.charts import Amounts, chart
from kadmin.report.pages.even_share import STEPS, heat_of
from kadmin.report.pages.page import HeatMap, PageCell, PageColumn, PageTable, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.planner.load.hours import LoadHours, ResourceHours
    from kadmin.report.pages.charts import RackColours
    from kadmin.report.pages.page import Chart

_TITLES = {"in": "Network in", "out": "Network out", "cpu": "CPU"}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_HOURS = 24
_FIFTIETHS, _MOST = 50, 255


def load_charts(found: LoadHours, times: tuple[str, str], racks: RackColours) -> tuple[Chart, ...]:
    """Return charts of every broker in the hour with the highest load of all brokers together."""
    made = []
    for name, hours in found.resources.items():
        busiest = max(range(len(hours.total)), key=hours.total.__getitem__)
        pairs = [
            (before[busiest], after[busiest])
            for before, after in zip(hours.before, hours.after, strict=True)
        ]
        spans = [
            f"{min(each):.2f} to {max(each):.2f} of the fair share {time}"
            for each, time in zip(zip(*pairs, strict=True), times, strict=True)
        ]
        title = f"{_TITLES[name]}, {_time(busiest)}, the busiest hour"
        drawn = Amounts(pairs, 1.0, "{:.2f}".format)
        made.append(chart(title, spans, found.brokers, drawn, racks))
    return tuple(made)


def load_sections(found: LoadHours, times: tuple[str, str]) -> tuple[Section, ...]:
    """Return a section for each resource."""
    lead = (
        "Load over fair share of each broker in each hour (UTC) of a week, by the history from "
        f"{found.start[:10]} on. Quiet hours have the share of busier ones, and no share is less "
        "than the largest partition."
    )
    return tuple(
        Section(
            f"load-{name}",
            f"{_TITLES[name]} by hour",
            lead,
            _worst(found, hours, times),
            heat_map=_picture(found, hours, times),
            even="even",
        )
        for name, hours in found.resources.items()
    )


def _picture(found: LoadHours, hours: ResourceHours, times: tuple[str, str]) -> HeatMap:
    packed = bytearray()
    for row in (*hours.before, *hours.after):
        values = [min(round(each * _FIFTIETHS), _MOST) for each in row]
        days = zip(values, [0] * _DAY_HOURS + values, strict=False)
        packed += bytes((now - day_before) % (_MOST + 1) for now, day_before in days)
    data = base64.b64encode(zlib.compress(bytes(packed), level=9)).decode()
    return HeatMap(
        times, tuple(map(str, found.brokers)), _DAYS, len(hours.total) // len(_DAYS), STEPS, data
    )


def _worst(found: LoadHours, hours: ResourceHours, times: tuple[str, str]) -> PageTable:
    """Return the worst hour of each broker."""
    columns = [PageColumn("Broker")]
    for time in times:
        columns += [
            PageColumn("worst hour", time, numeric=False),
            PageColumn("load / fair share", time),
        ]
    rows = [
        (PageCell(str(broker), broker), *_most_of(before), *_most_of(after))
        for broker, before, after in zip(found.brokers, hours.before, hours.after, strict=True)
    ]
    return PageTable(tuple(columns), tuple(rows))


def _most_of(row: Sequence[float]) -> tuple[PageCell, PageCell]:
    most = max(row)
    return PageCell(_time(row.index(most))), PageCell(f"{most:.2f}", most, heat=heat_of(most))


def _time(hour: int) -> str:
    return f"{_DAYS[hour // _DAY_HOURS]} {hour % _DAY_HOURS:02}:00"
