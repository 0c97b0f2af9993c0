"""A model of copies beside clients: links, one fetcher for each pair of brokers, bursts.

A follower fetches in-sync records and copies from one leader in one response, and the next one only
after it: with N partitions copied at once a response carries up to N megabytes. A record that is
written meanwhile is committed after the rest of that response, or of the next one. Between them, as
long as the quota has no room, responses are small. Live brokers beside it, links of 80 Mbit/s, one
partition at a quarter of the link: 15 to 25 % of commits take up to 127 ms, the others 3; the model
has 21 % and 163 ms. At 320 Mbit/s and half of the link: 30 to 37 %, up to 61 ms; 39 % and 41 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

from kadmin.plan.pace import (
    CHANCE,
    EXCESS_S,
    LATE,
    LOOK_S,
    RATIO,
    SLOW_S,
    Pacing,
    PairSeen,
    Seen,
    decide,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from kadmin.plan.pace import PaceLimits
    from kadmin.plan.pairs import Pair

PARTITION_BYTES, MOST_RESPONSE_BYTES = 1_000_000, 10_000_000
"""The defaults of replica.fetch.max.bytes and of replica.fetch.response.max.bytes."""
PROBES = 80
HIT, HIGHEST = 0.75, 1.3
"""Fitted: records that wait, by the time that copies take; how long at most, in responses."""
SATURATED_S = 10.0


@dataclass(frozen=True, slots=True)
class Link:
    """A link in bytes per second, and the time that a commit takes without any copy."""

    bytes_per_s: float
    base_s: float

    def burst_s(self, load: float, at_once: int) -> float:
        """Return the seconds of one response with copies."""
        size = min(at_once * PARTITION_BYTES, MOST_RESPONSE_BYTES)
        return size / self.free(load)

    def free(self, load: float) -> float:
        """Return what clients leave of the link."""
        return max(self.bytes_per_s - load, self.bytes_per_s / 100)

    def copied(self, load: float, rate: float, at_once: int) -> float:
        """Return the bytes per second that are copied."""
        size = min(at_once * PARTITION_BYTES, MOST_RESPONSE_BYTES)
        return min(rate, size / (self.base_s + size / self.free(load)))

    def late(self, load: float, copied: float, at_once: int) -> float:
        """Return the share of commits that are late, in the long run."""
        others_s = 1.4 * self.base_s
        highest_s = HIGHEST * self.burst_s(load, at_once)
        late, slow = (
            HIT
            * min(1.0, copied / self.free(load))
            * max(0.0, 1 - (limit_s - self.base_s) / highest_s)
            for limit_s in (
                max(RATIO * others_s, others_s + EXCESS_S),
                others_s + SLOW_S,
            )
        )
        return max(late, slow - CHANCE / sqrt(PROBES))

    def delays(
        self, load: float, copied: float, at_once: int, chooser: random.Random
    ) -> list[float]:
        """Return the commit delays of PROBES records."""
        share, burst_s = copied / self.free(load), self.burst_s(load, at_once)
        return [
            chooser.uniform(0.5, 1.5) * self.base_s
            + (chooser.random() < HIT * share) * chooser.uniform(0, HIGHEST * burst_s)
            + (SATURATED_S if load >= self.bytes_per_s else 0)
            for _ in range(PROBES)
        ]


@dataclass(slots=True)
class Run:
    """The rate, partitions at once, bytes copied and share of late commits at each look."""

    rates: list[float] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    copied: list[float] = field(default_factory=list)


def run(
    link: Link,
    limits: PaceLimits,
    load: Callable[[float], float],
    looks: int,
    chooser: random.Random,
    slow: Callable[[float], float] = lambda _: 1.0,
) -> Run:
    """Run the loop on one pair, (1, 3), of two links like `link`.

    `load` is what clients send between the two brokers, in bytes per second, and `slow` the factor
    by which commits of all brokers are slower, each at a time in seconds.
    """
    pair: Pair = (1, 3)
    pace, found = Pacing(), Run()
    for number in range(looks):
        now = number * LOOK_S
        rate = min(limits.rate(pace.steps.get(each, 0)) for each in pair)
        at_once = pace.at_once.get(pair, 1)
        now_link = Link(link.bytes_per_s, link.base_s * slow(now))
        copied = now_link.copied(load(now), rate, at_once)
        delays = now_link.delays(load(now), copied, at_once, chooser)
        controls = now_link.delays(0.0, 0.0, 1, chooser)
        pairs: Mapping[Pair, PairSeen] = {pair: PairSeen(delays, controls, at_once)}
        found.rates.append(rate)
        found.at_once.append(at_once)
        found.late.append(now_link.late(load(now), copied, at_once))
        found.copied.append(copied)
        pace = decide(pace, Seen(pairs, dict.fromkeys(pair, copied)), limits, now)
    return found


def best_fixed(link: Link, limits: PaceLimits, load: float) -> float:
    """Return the most bytes per second of a fixed rate and number that brings trouble rarely.

    Its share of late commits is half of what is trouble: one look in fifty has more than that.
    """
    return max(
        copied
        for at_once in range(1, limits.pair + 1)
        for step in range(limits.highest + 1)
        if link.late(load, copied := link.copied(load, limits.rate(step), at_once), at_once)
        <= LATE / 2
        or (step, at_once) == (0, 1)
    )
