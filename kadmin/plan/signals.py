"""Compares the signals of a context with their limits.

A limit has a unit of its own, such as 50ms. A signal is a plain number in the unit of its query.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.plan.units import parse_limit, readable_rate, readable_size

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_VALUE_S = 60.0
"""Seconds without a new value after which a signal counts as over its limit."""

_WHOLE_FROM = 999.5
_MILLISECONDS_BELOW = 0.9995
"""Seconds; in milliseconds, three digits of more would be 1000."""
_UNITS: Mapping[str | None, tuple[str | None, int]] = {
    "s": ("s", 1),
    "ms": ("s", 1000),
    "B": ("B", 1),
    "B/s": ("B/s", 1),
    None: (None, 1),
}
"""The unit of the limits that a signal of each unit may have, and how many of its own that is."""


@dataclass(frozen=True, slots=True)
class KnownSignals:
    """The signals of the `context` that names a cluster, each with its unit.

    The unit of a plain number is None. Without a context there are no signals.
    """

    context: str | None = None
    units: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignalValue:
    """A value of a signal and its limit, in its unit; None where it has no value."""

    name: str
    unit: str | None
    limit: float
    value: float | None


@dataclass(frozen=True, slots=True)
class SignalSeen(SignalValue):
    """A signal at a time, with its last value.

    `value` is None before the first one. `age_s` is the age of the value, or the time since the
    first request; `trouble` is the reason why there is no newer value. `detail` names what is
    counted, if anything.
    """

    age_s: float
    trouble: str | None = None
    detail: str = ""

    @property
    def is_exceeded(self) -> bool:
        """Whether it counts as over its limit: it is not below it, or has no value any more."""
        return self._has_none or (self.value is not None and self.value >= self.limit)

    @property
    def reason(self) -> str:
        """The comparison with its limit in words."""
        if self._has_none:
            why = f": {self.trouble}" if self.trouble else ""
            return f"{self.name} has no value for {NO_VALUE_S:.0f} s{why}"
        if self.value is None:
            return f"{self.name} has no value yet"
        relation = "not below" if self.is_exceeded else "below"
        value, limit = (readable_amount(each, self.unit) for each in (self.value, self.limit))
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.name} is {value}, {relation} {limit}{detail}"

    @property
    def valid(self) -> SignalValue:
        """The value and the limit; a value that is too old counts as none."""
        value = None if self._has_none else self.value
        return SignalValue(self.name, self.unit, self.limit, value)

    @property
    def _has_none(self) -> bool:
        return self.age_s >= NO_VALUE_S


def limit_in(limit: str, unit: str | None) -> float:
    """Return a limit as a number in the unit of a signal, None for plain numbers.

    Raises ValueError, saying what to write, where the limit has another kind of unit.
    """
    amount, found = parse_limit(limit)
    wanted, factor = _UNITS[unit]
    if found != wanted:
        examples = {"s": "50ms", "B": "5GB", "B/s": "10MB/s", None: "a plain number"}
        raise ValueError(
            f"its limit is {limit}, and its values "
            f"{f'are in {unit}' if unit else 'have no unit'}: write {examples[wanted]}"
        )
    return amount * factor


def readable_amount(value: float, unit: str | None) -> str:
    """Write a value of a signal with its unit, for people: three digits, `12.3 ms`."""
    if unit == "B":
        return readable_size(round(value))
    if unit == "B/s":
        return readable_rate(value)
    if unit == "s" and value < _MILLISECONDS_BELOW:
        return f"{value * 1000:.3g} ms"
    amount = f"{value:.3g}" if value < _WHOLE_FROM else f"{round(value):,}"
    return amount if unit is None else f"{amount} {unit}"
