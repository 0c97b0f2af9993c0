"""Hourly roll-ups to hourly rates.

A counter's growth is that between an hour's own samples. It bears one reset an hour (the counter
starts at 0 again) or one wrap (at 2^31 or 2^32), rows out of order, and repeated rows. Where the
samples of an hour cover less than half of it, the neighbouring hours' nearest samples bound it.
Hours that stay covered for less than KNOWN_US are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.inventory.samples import Metric
from kadmin.planner.load_build.grouping import is_one_of, names, numbered
from kadmin.planner.load_build.hourly import HOUR_US, SERIES, SUMMARY, keys_of

if TYPE_CHECKING:
    from kadmin.planner.load_build.grouping import Numbers, Table

SPARSE_US = HOUR_US // 2
KNOWN_US = HOUR_US // 6
_WRAPS = (2**31, 2**32)


@dataclass(frozen=True, slots=True)
class Rates:
    """What follows from each roll-up, in its row.

    `amount` is the growth, in `covered_us`. `per_s` is the mean rate of a counter or the mean of a
    gauge; not a number where unknown. `steady` means that the value never fell.
    """

    amount: Numbers
    covered_us: Numbers
    steady: Numbers
    per_s: Numbers


@dataclass(frozen=True, slots=True)
class _Hours:
    """The columns of roll-ups, and the nearest samples of the hours beside those that are sparse.

    Where there is none, it is the hour's own value, an instant away.
    """

    samples: Numbers
    first_at: Numbers
    last_at: Numbers
    first: Numbers
    last: Numbers
    lowest: Numbers
    highest: Numbers
    total: Numbers
    has_before: Numbers
    before_at: Numbers
    before: Numbers
    has_after: Numbers
    after_at: Numbers
    after: Numbers

    @property
    def left_us(self) -> Numbers:
        """The time between the hour's begin and its first sample, where that before bounds it."""
        return np.where(self.has_before, self.first_at % HOUR_US, 0)

    @property
    def right_us(self) -> Numbers:
        """The time between the last sample and the hour's end, where that after bounds it."""
        return np.where(self.has_after, HOUR_US - self.last_at % HOUR_US, 0)


def is_sparse(roll_ups: Table) -> Numbers:
    """Whether a counter's or log size's samples cover little of an hour.

    Neighbouring hours are then used.
    """
    grows = np.asarray(roll_ups["counter"]) | is_one_of(
        names(roll_ups["metric"]), [Metric.LOG_SIZE_BYTES]
    )
    covered = np.asarray(roll_ups["last_at"]) - np.asarray(roll_ups["first_at"])
    sparse: Numbers = grows & (covered < SPARSE_US)
    return sparse


def hourly_rates(roll_ups: Table) -> Rates:
    """Return the rates of roll-ups, which are sorted by series and hour.

    The rows before and after a sparse one bound it, where they are of the hours beside it.
    """
    hours = _hours(roll_ups)
    counter = np.asarray(roll_ups["counter"])
    amount = np.where(counter, _growth(hours), hours.last - hours.first) + _edge_growth(hours)
    covered = hours.last_at - hours.first_at + hours.left_us + hours.right_us
    known = np.where(covered >= KNOWN_US, covered, np.nan)
    return Rates(
        amount,
        covered,
        _steady(hours),
        np.where(counter, amount / known * 1e6, hours.total / hours.samples / 1000),
    )


def _hours(roll_ups: Table) -> _Hours:
    column = {name: np.asarray(roll_ups[name]) for name in SUMMARY}
    series = numbered(tuple(keys_of(roll_ups, SERIES).values()))
    hour, sparse = np.asarray(roll_ups["hour"]), is_sparse(roll_ups)
    follows = np.zeros(len(hour) + 1, bool)
    follows[1:-1] = (series[1:] == series[:-1]) & (hour[1:] == hour[:-1] + 1)
    has_before, has_after = sparse & follows[:-1], sparse & follows[1:]
    row = np.arange(len(hour))
    before, after = row - has_before, row + has_after
    return _Hours(
        **column,
        has_before=has_before,
        before_at=np.where(has_before, column["last_at"][before], column["first_at"] - 1),
        before=np.where(has_before, column["last"][before], column["first"]),
        has_after=has_after,
        after_at=np.where(has_after, column["first_at"][after], column["last_at"] + 1),
        after=np.where(has_after, column["first"][after], column["last"]),
    )


def _steady(hours: _Hours) -> Numbers:
    steady: Numbers = _in_order(hours) & (hours.before <= hours.first) & (hours.after >= hours.last)
    return steady


def _in_order(hours: _Hours) -> Numbers:
    ordered: Numbers = (hours.first == hours.lowest) & (hours.last == hours.highest)
    return ordered


def _growth(hours: _Hours) -> Numbers:
    is_reset = hours.lowest < hours.highest / 2
    fell = hours.last < hours.highest
    counted = np.where(fell, hours.highest - hours.first, 0.0) + hours.last
    return np.where(
        _in_order(hours),
        hours.last - hours.first,
        np.where(
            is_reset,
            counted + np.where(fell, _wrapped(hours, counted), 0.0),
            hours.highest - hours.lowest,
        ),
    )


def _wrapped(hours: _Hours, counted: Numbers) -> Numbers:
    """Return a counter's distance to its wrap.

    Two intervals between samples would have taken the counter there.
    """
    limits = [float(each) for each in _WRAPS]
    limit = np.select([hours.highest < each for each in limits], limits, np.inf)
    left = limit - hours.highest
    # It fell, so that it has two samples or more.
    near = left * np.maximum(hours.samples - 1, 1) <= 2 * counted
    return np.where(near, left, 0.0)


def _edge_growth(hours: _Hours) -> Numbers:
    """Return the growth at an hour's edges, the part in this hour.

    It is the growth between the nearest samples of neighbouring hours and the hour's own.
    """
    left = _between(hours.before, hours.first) * hours.left_us / (hours.first_at - hours.before_at)
    right = _between(hours.last, hours.after) * hours.right_us / (hours.after_at - hours.last_at)
    growth: Numbers = left + right
    return growth


def _between(earlier: Numbers, later: Numbers) -> Numbers:
    return np.where(later >= earlier, later - earlier, np.where(later < earlier / 2, later, 0.0))
