"""Fills the gaps of a load history from the profiles of topics.

A missing rate does not count as zero.

Goals: a partition's unknown hours follow its topic, on the level of the hours that are known of the
partition.
Algorithm: a topic's profile and its partitions' levels are fitted to the known rates together, rate
= level * profile, by turns: the profile of an hour is the sum of its known rates over the levels of
the partitions known then, each weighted by the part of its hours that is known; a level is the sum
of the partition's known rates over the profile's. Hours that are unknown of a whole topic follow
the cluster's profile, fitted to the topics in the same way. A partition without history has the
mean level of its topic. Partitions of a topic without history have the cluster's profile, on the
mean level of the cluster's partitions times the partition's size over the mean size; an unknown
size counts as the mean.
Example: a partition known on Monday at 5 MB/s, of a topic that carries half as much on Sunday, has
2.5 MB/s there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from kadmin.planner.kernel.placement_problem import Floats, Ints

    Rates = npt.NDArray[np.float32]
    """[P, H], NaN where unknown."""

_ROUNDS = 3
"""Turns of the fit; further ones change rates by less than the noise of an hour."""


def complete(rates: Rates, topic: Ints, size: Ints) -> Rates:
    """Return the rates without unknown ones; at least one must be known.

    `topic` [P] ascends from 0 without gaps; `size` [P] is in bytes, negative where unknown.
    """
    if not np.isnan(rates).any():
        return rates
    level, profile = _fit(rates, topic)
    mean_level = _mean_by(level, topic)
    of_topic = profile * mean_level[:, None]
    topic_level, shape = (
        each.reshape(-1) for each in _fit(of_topic, np.zeros(len(of_topic), np.int64))
    )
    shape = np.where(np.isnan(shape), np.nanmean(shape), shape)
    without = np.isnan(topic_level)
    topic_level[without] = _mean_rate(level, profile, topic) / shape.mean() if shape.any() else 0.0
    of_topic = np.where(np.isnan(of_topic), topic_level[:, None] * shape, of_topic)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = level / mean_level[topic]
    scale = np.where(
        np.isfinite(scale), scale, np.where(without[topic], _by_size(size, ~without[topic]), 1.0)
    )
    return _filled(rates, topic, of_topic, scale)


def _filled(rates: Rates, topic: Ints, of_topic: Floats, scale: Floats) -> Rates:
    """Replace unknown rates by those of the topic [T, H] times the scale [P].

    Do so row by row where any is unknown.
    """
    filled = rates.copy()
    rows = np.flatnonzero(np.isnan(rates).any(axis=1))
    expected = (of_topic[topic[rows]] * scale[rows, None]).astype(np.float32)
    filled[rows] = np.where(np.isnan(rates[rows]), expected, rates[rows])
    return filled


def _fit(rates: Rates | Floats, group: Ints) -> tuple[Floats, Floats]:
    """Return each row's level [N] and each group's profile [G, H], NaN where nothing is known."""
    measured = ~np.isnan(rates)
    zeroed = np.where(measured, rates, 0)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    total = zeroed.sum(axis=1, dtype=np.float64)
    trust = measured.mean(axis=1)
    by_hour = np.add.reduceat(
        zeroed * trust[:, None].astype(rates.dtype), first, axis=0, dtype=np.float64
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        level = total / measured.sum(axis=1)
        for _ in range(_ROUNDS):
            weights = np.where(
                measured, np.nan_to_num(level * trust)[:, None].astype(rates.dtype), 0
            )
            profile = by_hour / np.add.reduceat(weights, first, axis=0, dtype=np.float64)
            expected = np.where(measured, np.nan_to_num(profile)[group].astype(rates.dtype), 0)
            level = total / expected.sum(axis=1, dtype=np.float64)
            level = np.where(
                np.isfinite(level),
                level,
                np.where(measured.any(axis=1) & (total == 0), 0.0, np.nan),
            )
    profile = np.where(np.isfinite(profile), profile, np.nan)
    silent = np.add.reduceat(measured.any(axis=1), first).astype(np.bool_) & (
        np.add.reduceat(total, first) == 0
    )
    profile[silent] = 0.0  # every known rate of the group is 0
    return level, profile


def _mean_by(level: Floats, topic: Ints) -> Floats:
    """Return the mean of the known levels of each topic, [T], NaN where none is known."""
    measured = ~np.isnan(level)
    topics = int(topic[-1]) + 1
    with np.errstate(invalid="ignore"):
        return np.bincount(topic[measured], level[measured], topics) / np.bincount(
            topic[measured], minlength=topics
        )


def _mean_rate(level: Floats, profile: Floats, topic: Ints) -> float:
    """Return the mean rate of partitions with history over the known hours of their topics."""
    hours = ~np.isnan(profile)
    of_topic = np.where(hours, profile, 0).sum(axis=1) / np.maximum(hours.sum(axis=1), 1)
    return float(np.nanmean(level * of_topic[topic]))


def _by_size(size: Ints, with_history: npt.NDArray[np.bool_]) -> Floats:
    """Return each size over the mean size of the partitions with history, [P].

    1 where either is unknown.
    """
    counted = with_history & (size >= 0)
    mean = float(size[counted].mean()) if counted.any() else 0.0
    return np.where(size >= 0, size / mean, 1.0) if mean > 0 else np.ones(len(size))
