"""The throttle of plans and requests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from kadmin.plan.model.field_types import POSITIVE, ByteRate, Duration
from kadmin.schema.documents import read, write
from kadmin.schema.shapes import Keywords, WrittenAs


class ThrottleBy(StrEnum):
    """The form of `spec.throttle`: a rate, the time for copying, or the bandwidth of a link."""

    RATE = "rate"
    FINISH_IN = "finish_in"
    LINK_BUDGET = "link_budget"
    NONE = "none"
    """No throttle, on purpose: copies as fast as the network allows."""


@dataclass(frozen=True, slots=True)
class ThrottleSpec:
    """`spec.throttle`. `amount` is in bytes per second, for `finish_in` in seconds.

    `pair`: partitions that are copied at once from one broker to another; None: no limit.
    """

    by: ThrottleBy
    amount: int
    pair: int | None = None


UNTHROTTLED = ThrottleSpec(ThrottleBy.NONE, 0)
"""`throttle: none`: a plan without a throttle, on purpose."""


@dataclass(frozen=True, slots=True)
class ThrottleFields:
    """The mapping `spec.throttle`: one field by ThrottleBy, and the limits beside it."""

    rate: Annotated[
        ByteRate | None,
        "Bytes per second that each broker may send, and as many that it may receive, "
        "for the partitions that are copied.",
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


def _read_throttle(value: Any) -> ThrottleSpec:  # noqa: ANN401 - JSON
    if value == ThrottleBy.NONE:
        return UNTHROTTLED
    fields = read(ThrottleFields, value)
    by = next(by for by in ThrottleBy if by in value)
    return ThrottleSpec(by, getattr(fields, by), fields.pair)


def _write_throttle(throttle: ThrottleSpec) -> Any:  # noqa: ANN401 - JSON
    if throttle == UNTHROTTLED:
        return throttle.by.value
    return write(ThrottleFields(**{throttle.by.value: throttle.amount, "pair": throttle.pair}))


_ONE_OF = [
    *(
        {"type": "object", "additionalProperties": True, "required": [by.value]}
        for by in ThrottleBy
        if by is not ThrottleBy.NONE
    ),
    {"const": ThrottleBy.NONE.value},
]
Throttle: TypeAlias = Annotated[
    ThrottleSpec,
    WrittenAs(ThrottleFields, _read_throttle, _write_throttle),
    Keywords(
        type=["object", "string"],
        pattern=f"^{ThrottleBy.NONE}$",
        oneOf=_ONE_OF,
        x_hint="{rate: 50MB/s}, {finish_in: 6h}, {link_budget: 100MB/s}, "
        "or none for copies that may use the whole network",
    ),
]
