"""Generates a seeded week of load for clusters of benchmarks/family.py.

It has 168 hours, Monday 00:00 UTC first.

Topics: the bytes in follow Zipf's law with exponent 1.1. Topics with many partitions are the hot
ones with even seeds; with odd seeds a topic is hotter than others with a chance in proportion to
its partitions. Within a topic, partitions differ by lognormal(0, 0.3). A topic's day is a cosine of
amplitude 0.3 to 0.9 that peaks in one of three time zones (50, 30 and 20 % of topics). 10 % of
topics are batch: three hours a night at ten times. 60 % have half their load on weekends. Consumers
read 0, 1, 2, 3 or 5 times what comes in (15, 45, 25, 10 and 5 %); 5 % of topics are read once a
night, a day's bytes in three hours. Noise by hour is 10 % by topic and 5 % by partition. The next
week differs by 10 % by topic, 3 % by partition, and its own noise.

The shape `U` is one that the algorithm was not made for: two racks twice as large as the others,
and every third broker with twice the weight and twice the network of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from family import REPLICATION_FACTOR, Size, tables

from kadmin.plan.model import PlanHeader, RebalanceRequest
from kadmin.planner.cluster_arrays import cluster_arrays
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.hourly_load import HourlyLoad, Resource, ResourceName

if TYPE_CHECKING:
    import numpy.typing as npt

    from kadmin.planner.kernel.placement_problem import Floats, Ints, PlacementProblem

    Rates = npt.NDArray[np.float32]

SIZES = {
    "S": Size(1_000, 100, 12, 3, 3),
    "M": Size(10_000, 1_000, 60, 6, 3),
    "L": Size(100_000, 5_000, 100, 10, 5),
    "U": Size(3_000, 300, 30, 3, 5),
}
DAY, WEEK = 24, 168
IN_GOAL, OUT_GOAL = 1.05, 1.10
EXTRA_MOVES, EXTRA_LEADER_CHANGES = 0.02, 0.5
_ZONES, _ZONE_PARTS = np.array([14, 20, 6]), (0.5, 0.3, 0.2)
"""The busiest hour of the day in UTC, and the part of topics, of each time zone."""
_FAN_OUT, _FAN_OUT_PARTS = np.array([0, 1, 2, 3, 5]), (0.15, 0.45, 0.25, 0.10, 0.05)
_TOTAL_BYTES_PER_S = 2**30
_NIGHT_HOURS, _BATCH_TIMES = 3, 10.0


@dataclass(frozen=True, slots=True)
class Week:
    """Bytes per second of each partition by hour.

    `bytes_in` and what consumers read, both [P, 168].
    """

    bytes_in: Rates
    consumed: Rates


def problem_of(name: str, seed: int) -> PlacementProblem:
    """Return a cluster of the family with the load of its week."""
    bare = bare_problem(name, seed)
    return replace(bare, load=load_of(bare, weeks(bare.topic, seed)[0]))


def bare_problem(name: str, seed: int) -> PlacementProblem:
    """Return the same cluster without load."""
    large = dict.fromkeys(range(1, SIZES[name].brokers + 1, 3), 2.0) if name == "U" else {}
    cluster = cluster_arrays(*tables(SIZES[name], seed, "unequal" if name == "U" else ""))
    return compile_request(cluster, RebalanceRequest(PlanHeader(), weights=large)).problem


def load_of(problem: PlacementProblem, week: Week) -> HourlyLoad:
    """Return a week as the planner's load, capacities as the brokers' weights."""
    weight = np.where(problem.brokers.may_hold, problem.brokers.weight, 0.0)
    capacity: Floats = weight / weight.sum()
    out = week.consumed + (REPLICATION_FACTOR - 1) * week.bytes_in
    resources = (
        Resource(ResourceName.IN, week.bytes_in, None, capacity, IN_GOAL),
        Resource(ResourceName.OUT, None, out, capacity, OUT_GOAL),
    )
    return HourlyLoad(resources, EXTRA_MOVES, EXTRA_LEADER_CHANGES)


def weeks(topic: Ints, seed: int) -> tuple[Week, Week]:
    """Return the week that the planner sees, and the next one.

    `topic` [P] is the topic of each partition.
    """
    draw = np.random.default_rng([seed, WEEK])
    topics = int(topic.max()) + 1
    partitions = np.bincount(topic, minlength=topics)
    chance = np.log(partitions) + draw.gumbel(0, seed % 2, topics)
    heat = np.argsort(-chance, kind="stable")
    rate = np.empty(topics)
    rate[heat] = 1 / np.arange(1, topics + 1) ** 1.1
    rate *= _TOTAL_BYTES_PER_S / rate.sum()
    shape = _shape(topics, draw)
    consumers = _consumers(topics, draw)
    own = draw.lognormal(0, 0.3, len(topic))
    part = own / np.bincount(topic, weights=own, minlength=topics)[topic]
    first = _week(topic, (shape * rate[:, None], consumers), part, draw)
    drifted = shape * (rate * draw.lognormal(0, 0.1, topics))[:, None]
    return first, _week(
        topic, (drifted, consumers), part * draw.lognormal(0, 0.03, len(topic)), draw
    )


def _shape(topics: int, draw: np.random.Generator) -> Floats:
    """Return the load of each topic by hour, of mean 1, [T, 168]."""
    hour = np.arange(WEEK)
    peak = draw.choice(_ZONES, topics, p=_ZONE_PARTS)[:, None]
    shape = 1 + draw.uniform(0.3, 0.9, topics)[:, None] * np.cos(2 * np.pi * (hour - peak) / DAY)
    batch = draw.random(topics) < 0.1  # noqa: PLR2004 - the part that the docstring names
    shape[batch] = np.where(_at_night(draw.integers(0, DAY, topics))[batch], _BATCH_TIMES, 1.0)
    calm = draw.random(topics) < 0.6  # noqa: PLR2004 - the part that the docstring names
    shape[np.ix_(calm, hour >= 5 * DAY)] *= 0.5
    return np.asarray(shape / shape.mean(axis=1, keepdims=True))


def _consumers(topics: int, draw: np.random.Generator) -> Floats:
    """Return how many times what comes in is read in each hour, by topic, [T, 168]."""
    times = np.repeat(
        draw.choice(_FAN_OUT, topics, p=_FAN_OUT_PARTS)[:, None].astype(np.float64), WEEK, axis=1
    )
    nightly = draw.random(topics) < 0.05  # noqa: PLR2004 - the part that the docstring names
    reads = _at_night(draw.integers(0, DAY, topics))
    times[nightly] = np.where(reads[nightly], DAY / _NIGHT_HOURS, 0.0)
    return times


def _at_night(first_hour: Ints) -> npt.NDArray[np.bool_]:
    """Whether each hour of the week is one of a topic's three hours a night, [T, 168]."""
    return (np.arange(WEEK) - first_hour[:, None]) % DAY < _NIGHT_HOURS


def _week(
    topic: Ints, of_topics: tuple[Floats, Floats], part: Floats, draw: np.random.Generator
) -> Week:
    rates, consumers = of_topics
    noisy = (rates * draw.lognormal(0, 0.1, rates.shape)).astype(np.float32)
    bytes_in = noisy[topic]
    bytes_in *= part.astype(np.float32)[:, None]
    bytes_in *= np.exp(0.05 * draw.standard_normal(bytes_in.shape, np.float32))
    return Week(bytes_in, bytes_in * consumers.astype(np.float32)[topic])
