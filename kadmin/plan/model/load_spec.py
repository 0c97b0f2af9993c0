"""Fields of a rebalance request about load over time: `spec.load` and `spec.only_if`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, TypeAlias

from kadmin.plan.model.field_types import PERCENT, HistoryFolder
from kadmin.plan.units import format_percent, parse_percent
from kadmin.schema.shapes import At, Defined, Dumped, Keywords, WrittenAs

_Goal: TypeAlias = Annotated[float, Keywords(title="goal", minimum=1, maximum=1000)]
_Weight: TypeAlias = Annotated[float, Keywords(title="weight", exclusiveMinimum=0, maximum=10**12)]
_ZoneShares: TypeAlias = Annotated[
    Mapping[str, float],
    WrittenAs(Mapping[str, Annotated[float, Keywords(minimum=0, maximum=1)]]),
    Keywords(title="part of clients by zone", minProperties=1),
    Defined("zoneShares"),
]


class HoursOfLoad(StrEnum):
    """Hours with an even load.

    Each of the week, or those of a mean weekday and of a mean day of the weekend.
    """

    WEEK = "week"
    WEEKDAY_WEEKEND = "weekday-weekend"


class LeastGain(StrEnum):
    """A least gain that is no percentage."""

    NOISE = "noise"
    """The change of the worst hour from one week of the history to the next."""


@dataclass(frozen=True, slots=True)
class CpuWeights:
    """The cost in units of CPU of a byte per second in, of one out, and of a request per second.

    0: no cost.
    """

    bytes_in: Annotated[_Weight, At("in"), "Of a byte per second that is received."] = 0.0
    bytes_out: Annotated[_Weight, At("out"), "Of a byte per second that is sent."] = 0.0
    requests: Annotated[_Weight, "Of a request per second."] = 0.0


@dataclass(frozen=True, slots=True)
class ZonePrices:
    """`spec.load.zones`: the price of 10^9 bytes that cross zones, which are racks.

    `producers` and `consumers` are the parts of clients in each zone, 1 in all at most.
    """

    price_per_gb: Annotated[
        float,
        WrittenAs(float),
        Keywords(title="price", exclusiveMinimum=0, maximum=10**6),
        "Of 10^9 bytes that cross from one zone to another.",
    ]
    currency: Annotated[str, Keywords(maxLength=16), "Of the price."] = "USD"
    producers: Annotated[
        _ZoneShares, "The part of producers' bytes that comes from each zone: 0.5 is half of them."
    ] = field(default_factory=dict)
    consumers: Annotated[_ZoneShares, "The part of consumers' bytes that goes to each zone."] = (
        field(default_factory=dict)
    )
    closest_replica: Annotated[
        bool, "Consumers read from a replica in their own zone where there is one (KIP-392)."
    ] = False


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """`spec.load`: the folder of a load history, and the goals of its balance.

    A relative `folder` is relative to the request's file. `most_in` and `most_out` are the goals:
    the most that a broker should carry in any hour, in fair shares. `hold_out` is no field of a
    document: the last week of the history takes no part in the plan, and the plan is measured by
    it.
    """

    folder: Annotated[
        HistoryFolder,
        At("from"),
        "The folder with partition_load.parquet; relative to this file.",
    ]
    most_in: Annotated[
        _Goal, At("in"), "The most that a broker receives in any hour, in fair shares."
    ] = 1.05
    most_out: Annotated[
        _Goal, At("out"), "The most that a broker sends in any hour, in fair shares."
    ] = 1.10
    cpu: Annotated[
        CpuWeights | None,
        Keywords(title="CPU weights", minProperties=1),
        "Evens out CPU, too, with the goal of out: the cost of one unit of each.",
    ] = None
    hours: Annotated[
        HoursOfLoad,
        "week: each of its 168 hours. weekday-weekend: the 48 hours of a mean weekday and a mean "
        "day of the weekend.",
    ] = HoursOfLoad.WEEK
    zones: Annotated[
        ZonePrices | None,
        Keywords(title="traffic across zones"),
        "Computes the bytes that cross zones in a month, and their cost; zones are the brokers' "
        "racks.",
    ] = None
    hold_out: bool = False


def _read_gain(text: str) -> float | LeastGain:
    return LeastGain.NOISE if text == LeastGain.NOISE else parse_percent(text)


def _write_gain(gain: float | LeastGain) -> str:
    return gain.value if isinstance(gain, LeastGain) else format_percent(gain)


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """`spec.only_if`: the least that a plan for load has to gain, or it is not written."""

    gain: Annotated[
        float | LeastGain,
        WrittenAs(str, _read_gain, _write_gain),
        Dumped.ALWAYS,
        Keywords(
            title="gain",
            pattern=f"^(?:{LeastGain.NOISE}|{PERCENT[1:-1]})$",
            x_hint="write a percentage (5%), or noise",
        ),
        "What the worst hour of network in, network out or CPU has to become lower by, down to its "
        "goal. noise: its mean change from one week of the history to the next, or 5% where the "
        "history has no weeks of its own.",
    ] = LeastGain.NOISE
