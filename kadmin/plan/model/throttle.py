"""The throttle of plans and requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from kadmin.plan.model.field_types import (
    POSITIVE,
    RATE,
    RATE_HINT,
    ByteRate,
    Duration,
    SignalName,
    read_rate,
)
from kadmin.plan.units import format_rate, parse_limit
from kadmin.schema.documents import read, write
from kadmin.schema.shapes import Keywords, WrittenAs


class ThrottleBy(StrEnum):
    """The form of `spec.throttle`: a rate, the time for copying, or the bandwidth of a link."""

    RATE = "rate"
    FINISH_IN = "finish_in"
    LINK_BUDGET = "link_budget"
    NONE = "none"
    """No throttle, on purpose: copies as fast as the network allows."""


def read_limit(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a limit of a signal as it is written; raises ValueError."""
    text = value if isinstance(value, str) else str(value)
    parse_limit(text)
    return text


@dataclass(frozen=True, slots=True)
class SignalLimit:
    """The limit of a signal: `below` as it is written, with its unit."""

    below: Annotated[
        str,
        WrittenAs(str, read_limit),
        Keywords(
            title="limit",
            type=["string", "number"],
            pattern=r"^[0-9]{1,19}(?:\.[0-9]{1,12})? ?(?:[A-Za-z]{1,3}(?:/s)?)?$",
            minimum=0,
            x_hint="write 50ms, 0.5s, 10MB/s, 5GB or, for a signal without a unit, a number",
        ),
        "The signal is to be below: 50ms, 10MB/s, 5GB, or a plain number, as its unit is.",
    ]


@dataclass(frozen=True, slots=True)
class ThrottleSpec:
    """`spec.throttle`. `amount` is in bytes per second, for `finish_in` in seconds.

    `most`: the highest rate, where `amount` is the lowest and the rate follows the clients; None: a
    fixed rate. `pair`: partitions that are copied at once from one broker to another, at most.
    None: one where the rate follows the clients, else no limit. `signals` are the limits of
    signals of the context, by name. `disks`: bytes per second of each broker that moves replicas
    between its disks, None for no limit; it may be alone, beside NONE.
    """

    by: ThrottleBy
    amount: int
    most: int | None = None
    pair: int | None = None
    signals: Mapping[str, SignalLimit] = field(default_factory=dict, hash=False)
    disks: int | None = None

    @property
    def at_once(self) -> int | None:
        """The most partitions that are copied at once from one broker to another; None: any."""
        return self.pair if self.most is None else self.pair or 1

    def in_place_of(self, before: ThrottleSpec) -> ThrottleSpec:
        """Return this throttle with what another has beside its rate, where it names none itself.

        Limits of signals are kept by a range alone: a fixed rate cannot follow them.
        """
        kept = {} if self.most is None else before.signals
        return replace(
            self,
            pair=self.pair or before.pair,
            signals=self.signals or kept,
            disks=self.disks or before.disks,
        )


UNTHROTTLED = ThrottleSpec(ThrottleBy.NONE, 0)
"""`throttle: none`: a plan without a throttle, on purpose."""


@dataclass(frozen=True, slots=True)
class RateRange:
    """The lowest and the highest rate, in bytes per second; equal where the rate is fixed."""

    min: Annotated[ByteRate, "The rate at first, and the least while clients wait for copies."]
    max: Annotated[ByteRate, "The most."]


def _read_rate(value: Any) -> RateRange:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return RateRange(*(read_rate(value),) * 2)
    found = read(RateRange, value)
    if found.min >= found.max:
        raise ValueError("max is to be more than min; write one rate if it is fixed")
    return found


def _write_rate(rate: RateRange) -> Any:  # noqa: ANN401 - JSON
    return format_rate(rate.min) if rate.min == rate.max else write(rate)


RateOrRange: TypeAlias = Annotated[
    RateRange,
    WrittenAs(RateRange, _read_rate, _write_rate),
    Keywords(
        title="rate",
        type=["object", "string"],
        pattern=f"^{RATE}$",
        x_hint=RATE_HINT,
    ),
]


@dataclass(frozen=True, slots=True)
class ThrottleFields:
    """The mapping `spec.throttle`: one field by ThrottleBy, and the limits beside it."""

    rate: Annotated[
        RateOrRange | None,
        "Bytes per second that each broker may send, and as many that it may receive, "
        "for the partitions that are copied; {min, max}: a rate that follows the clients.",
    ] = None
    finish_in: Annotated[
        Duration | None,
        "The time that the copying of all waves may take; "
        "the rate is computed from the size of every partition, in the plan or by --sizes FILE.",
    ] = None
    link_budget: Annotated[
        ByteRate | None,
        "Bytes per second that a broker's link may carry for replication in all; "
        "the rate is what the observed replication leaves of it, a tenth at least.",
    ] = None
    pair: Annotated[
        int | None,
        POSITIVE,
        Keywords(title="number of partitions"),
        "Partitions that are copied at once from one broker to another; without it all of a wave. "
        "Records in sync between the same two brokers wait for each of them.",
    ] = None
    while_: Annotated[
        Mapping[SignalName, Annotated[SignalLimit, "The limit of one signal."]],
        Keywords(title="signals", minProperties=1),
        "Signals of the context, by name, that are all to be below their limits; a rate that "
        "follows the clients goes down while one is not.",
    ] = field(default_factory=dict)
    disks: Annotated[
        ByteRate | None,
        "Bytes per second that each broker may copy between its own disks; without it as fast as "
        "the disks allow. Alone it leaves the copies between brokers without a throttle.",
    ] = None


def read_throttle(value: Any) -> ThrottleSpec:  # noqa: ANN401 - JSON
    """Return a throttle of JSON that its schema allows; raises ValueError as its fields do."""
    if value == ThrottleBy.NONE:
        return UNTHROTTLED
    fields = read(ThrottleFields, value)
    if fields.rate is not None:
        most = fields.rate.max if fields.rate.max > fields.rate.min else None
        return ThrottleSpec(
            ThrottleBy.RATE, fields.rate.min, most, fields.pair, fields.while_, fields.disks
        )
    by = next((by for by in ThrottleBy if by in value), ThrottleBy.NONE)
    amount = 0 if by is ThrottleBy.NONE else getattr(fields, by)
    return ThrottleSpec(by, amount, pair=fields.pair, signals=fields.while_, disks=fields.disks)


def write_throttle(throttle: ThrottleSpec) -> Any:  # noqa: ANN401 - JSON
    """Return a throttle as JSON."""
    if throttle == UNTHROTTLED:
        return throttle.by.value
    by: dict[str, Any] = {throttle.by.value: throttle.amount}
    if throttle.by is ThrottleBy.RATE:
        by = {"rate": RateRange(throttle.amount, throttle.most or throttle.amount)}
    beside: Mapping[str, Any] = {
        "pair": throttle.pair,
        "while_": throttle.signals,
        "disks": throttle.disks,
    }
    return write(ThrottleFields(**({} if throttle.by is ThrottleBy.NONE else by), **beside))


_BY = [by.value for by in ThrottleBy if by is not ThrottleBy.NONE]
_ONE_OF = [
    *({"type": "object", "additionalProperties": True, "required": [by]} for by in _BY),
    {
        "type": "object",
        "additionalProperties": True,
        "required": ["disks"],
        "propertyNames": {"enum": ["disks"]},
    },
    {"const": ThrottleBy.NONE.value},
]
Throttle: TypeAlias = Annotated[
    ThrottleSpec,
    WrittenAs(ThrottleFields, read_throttle, write_throttle),
    Keywords(
        type=["object", "string"],
        pattern=f"^{ThrottleBy.NONE}$",
        oneOf=_ONE_OF,
        x_hint="{rate: 50MB/s}, {finish_in: 6h}, {link_budget: 100MB/s}, "
        "{disks: 50MB/s}, or none for copies that may use the whole network",
    ),
]
