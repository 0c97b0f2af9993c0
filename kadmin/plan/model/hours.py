"""The hours of a plan, in which its replicas are copied at the rate of the throttle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.plan.hours import WINDOW, WINDOW_HINT, Hours, Window, format_window, parse_window
from kadmin.plan.model.field_types import NOT_EMPTY, RATE, HistoryFolder, read_rate
from kadmin.plan.units import format_rate
from kadmin.schema.shapes import At, Dumped, Keywords, WrittenAs, exactly_one

_PAUSE = "pause"


def read_outside(text: str) -> int:
    """Return the bytes per second of a rate outside hours, 0 for a pause; raises ValueError."""
    return 0 if text == _PAUSE else read_rate(text)


def _write_outside(rate: int) -> str:
    return format_rate(rate) if rate else _PAUSE


@dataclass(frozen=True, slots=True)
class HoursSpec:
    """`spec.hours`: `within` and its `zone`, or `quiet` and the `folder` of a load history.

    A relative `folder` is relative to the plan's file. `outside` is in bytes per second, 0 for a
    pause.
    """

    within: Annotated[
        tuple[
            Annotated[
                Window,
                WrittenAs(str, parse_window, format_window),
                Keywords(title="window", pattern=WINDOW, x_hint=WINDOW_HINT),
            ],
            ...,
        ],
        NOT_EMPTY,
        Keywords(title="list of windows"),
        "Windows of every week: times (22:00-06:00), days (sat-sun), or both "
        "(mon-fri 22:00-06:00). One that ends at or before its start ends on the next day.",
    ] = ()
    zone: Annotated[
        str | None,
        Keywords(
            title="time zone",
            pattern=r"^[A-Z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,31}){0,3}$",
            x_hint="write the name of a zone of the IANA database, such as Europe/Berlin or UTC",
        ),
        "The time zone of the windows, by its name in the IANA database.",
    ] = None
    quiet: Annotated[
        float | None,
        Keywords(title="part of a peak", exclusiveMinimum=0, maximum=1),
        "In place of windows: the hours of the week in which no broker of the plan receives or "
        "sends more than this part of its own peak, by a load history.",
    ] = None
    folder: Annotated[
        HistoryFolder | None,
        At("of"),
        "The folder with partition_load.parquet; relative to this file.",
    ] = None
    outside: Annotated[
        int,
        WrittenAs(str, read_outside, _write_outside),
        Dumped.ALWAYS,
        Keywords(
            title="rate outside",
            pattern=f"^(?:{_PAUSE}|{RATE})$",
            default=_PAUSE,
            x_hint="write pause, or a rate such as 5MB/s",
        ),
        "The rate of the throttle outside these hours, where it is lower: 5MB/s, or pause.",
    ] = 0


PlanHours: TypeAlias = Annotated[
    HoursSpec,
    exactly_one("within", "quiet"),
    Keywords(
        dependentRequired={
            "within": ["zone"],
            "zone": ["within"],
            "quiet": ["of"],
            "of": ["quiet"],
        }
    ),
]


def hours_of(spec: HoursSpec) -> Hours:
    """Return the hours of a spec with `within`, whose zone exists."""
    from zoneinfo import ZoneInfo

    return Hours(spec.within, ZoneInfo(str(spec.zone)), spec.outside)
