"""Paces copies by what clients feel: partitions at once of each pair, and the rate of each broker.

Goals: clients whose leader sends a copy to one of their followers wait about as long as others, and
copies take no longer than that needs. Nobody has to know the links.
Constraints: a rate never leaves its range. Copies in flight are not interrupted: a lower rate acts
within two seconds and may stop copies for ten, a higher one acts at once. One look has few samples,
and machines are slow for other reasons: pairs are compared with controls of the same seconds.
Algorithm: steps on a scale of rates, each STEP times the one before. A pair that suffers loses a
partition at once, or, at one, both its brokers lose DOWN steps. Brokers whose pairs are calm and
that use their rate gain: FIRST_UP steps at each look until the first trouble, then one step after
CALM_S. The step at which trouble came is tried again only after a time that doubles.
Example: 1 to 100 MB/s on links of 10 MB/s: 1, 2, 4.3, 8.9 MB/s, trouble, 6.2 MB/s.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.plan.pairs import Pair

LOOK_S = 10.0
"""Seconds between two looks: a change shows in the next one."""
STEP, DOWN, FIRST_UP = 1.2, 2, 4
CALM_S = 30.0
USED = 0.8
"""The part of a rate that copies use where the rate is what limits them."""
TRIES_AGAIN_S, LONGEST_S = 120.0, 3600.0
HELD_S = 60.0
_RATIO, _EXCESS_S = 2.0, 0.01
_FEWEST = 5


@dataclass(frozen=True, slots=True)
class PaceLimits:
    """The lowest and the highest rate, in bytes per second; partitions at once of a pair."""

    least: int
    most: int
    pair: int

    @property
    def highest(self) -> int:
        """The step of the highest rate; 0 is that of the lowest."""
        return max(0, ceil(log(self.most / self.least, STEP) - 1e-9))

    def rate(self, step: int) -> int:
        """Return the rate of a step, in bytes per second."""
        return self.most if step >= self.highest else round(self.least * STEP**step)


def step_of(rate: int, limits: PaceLimits) -> int:
    """Return the highest step whose rate is not above this one."""
    return max((step for step in range(limits.highest + 1) if limits.rate(step) <= rate), default=0)


@dataclass(frozen=True, slots=True)
class PairSeen:
    """Commit delays of a pair in seconds since the last look, those of controls, and its copies."""

    delays: Sequence[float]
    controls: Sequence[float]
    copies: int

    @property
    def is_known(self) -> bool:
        """Whether there are delays enough to compare."""
        return len(self.delays) >= _FEWEST and len(self.controls) >= _FEWEST

    @property
    def suffers(self) -> bool:
        """Whether clients of the pair wait longer than others."""
        if not self.is_known:
            return False
        pair, control = p90(self.delays), p90(self.controls)
        return pair > _RATIO * control and pair > control + _EXCESS_S


def p90(seconds: Iterable[float]) -> float:
    """Return the 90th percentile by the nearest rank; at least one value is needed."""
    ordered = sorted(seconds)
    return ordered[ceil(len(ordered) * 0.9) - 1]


@dataclass(frozen=True, slots=True)
class Seen:
    """One look: the pairs that copy, bytes per second by broker, and signals over limits."""

    pairs: Mapping[Pair, PairSeen]
    used: Mapping[int, float]
    exceeded: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Tries:
    """A step or number that brought trouble: when it is tried again, and after how long."""

    at: int
    until: float
    after_s: float


@dataclass(frozen=True, slots=True)
class Pace:
    """Steps of brokers' rates, partitions at once of pairs, and what was learned, by both.

    `troubled_at` are the times of the last trouble, `moved_at` of the last raise, in seconds of one
    clock. `trouble_since`: everything is at its least, and clients suffer all the same.
    """

    steps: Mapping[int, int] = field(default_factory=dict)
    at_once: Mapping[Pair, int] = field(default_factory=dict)
    troubled_at: Mapping[int | Pair, float] = field(default_factory=dict)
    moved_at: Mapping[int | Pair, float] = field(default_factory=dict)
    tries: Mapping[int | Pair, Tries] = field(default_factory=dict)
    trouble_since: float | None = None
    calm_since: float | None = None

    def holds(self, now: float) -> bool:
        """Whether no copy may begin: trouble lasted HELD_S, and calm has not yet."""
        since = self.trouble_since
        return since is not None and now - since >= HELD_S


def decide(pace: Pace, seen: Seen, limits: PaceLimits, now: float) -> Pace:
    """Return the pace after a look; brokers and pairs that are new begin at the least."""
    suffering = {pair for pair, found in seen.pairs.items() if seen.exceeded or found.suffers}
    pace = _slower(pace, suffering, seen, now)
    pace = _held(pace, suffering, now)
    for broker in sorted(seen.used):
        if broker not in {each for pair in suffering for each in pair}:
            pace = _faster(pace, broker, seen, limits, now)
    for pair, found in sorted(seen.pairs.items()):
        if pair not in suffering:
            pace = _more_at_once(pace, pair, found, seen, limits, now)
    return pace


def _slower(pace: Pace, suffering: Collection[Pair], seen: Seen, now: float) -> Pace:
    steps, at_once, tries = dict(pace.steps), dict(pace.at_once), dict(pace.tries)
    brokers = set[int]()
    for pair in sorted(suffering):
        allowed, copies = at_once.get(pair, 1), seen.pairs[pair].copies
        if allowed > 1:
            tries[pair] = _again(tries.get(pair), allowed, now)
            at_once[pair] = max(1, min(allowed, copies) - 1)
        if allowed == 1 or copies > at_once[pair]:
            brokers.update(pair)
    for broker in sorted(brokers):
        step = steps.get(broker, 0)
        if step > 0:
            tries[broker] = _again(tries.get(broker), step, now)
        steps[broker] = max(0, step - DOWN)
    keys: set[int | Pair] = {*suffering, *(each for pair in suffering for each in pair)}
    troubled = dict.fromkeys(keys, now)
    return replace(
        pace,
        steps=steps,
        at_once=at_once,
        tries=tries,
        troubled_at={**pace.troubled_at, **troubled},
    )


def _again(before: Tries | None, at: int, now: float) -> Tries:
    after_s = TRIES_AGAIN_S
    if before is not None and at >= before.at:
        after_s = min(LONGEST_S, before.after_s * 2)
    return Tries(at, now + after_s, after_s)


def _held(pace: Pace, suffering: Collection[Pair], now: float) -> Pace:
    """Note since when clients suffer though everything is at its least; calm for HELD_S ends it."""
    stuck = any(
        pace.at_once.get(pair, 1) == 1 and not any(pace.steps.get(each, 0) for each in pair)
        for pair in suffering
    )
    if stuck:
        since = now if pace.trouble_since is None else pace.trouble_since
        return replace(pace, trouble_since=since, calm_since=None)
    if pace.trouble_since is None or suffering:
        return replace(pace, calm_since=None)
    calm = now if pace.calm_since is None else pace.calm_since
    if not pace.holds(now) or now - calm >= HELD_S:
        return replace(pace, trouble_since=None, calm_since=None)
    return replace(pace, calm_since=calm)


def _may_rise(pace: Pace, key: int | Pair, to: int, now: float, *, wait_s: float) -> bool:
    """Whether a step or number may be tried, `wait_s` after the last change or trouble."""
    known = pace.tries.get(key)
    if known is not None and to >= known.at and now < known.until:
        return False
    last = max(pace.troubled_at.get(key, -inf), pace.moved_at.get(key, -inf))
    return now - last >= wait_s


def _faster(pace: Pace, broker: int, seen: Seen, limits: PaceLimits, now: float) -> Pace:
    step = pace.steps.get(broker, 0)
    if step >= limits.highest or seen.used[broker] < USED * limits.rate(step):
        return pace
    known = all(found.is_known for pair, found in seen.pairs.items() if broker in pair)
    first = broker not in pace.troubled_at and known
    to = min(limits.highest, step + (FIRST_UP if first else 1))
    if not _may_rise(pace, broker, to, now, wait_s=0.0 if first else CALM_S):
        return pace
    return replace(pace, steps={**pace.steps, broker: to}, moved_at={**pace.moved_at, broker: now})


def _more_at_once(
    pace: Pace, pair: Pair, found: PairSeen, seen: Seen, limits: PaceLimits, now: float
) -> Pace:
    """Let another partition begin where not the rate is what limits the copies."""
    allowed = pace.at_once.get(pair, 1)
    limited = any(
        pace.steps.get(each, 0) < limits.highest
        and seen.used.get(each, 0.0) >= USED * limits.rate(pace.steps.get(each, 0))
        for each in pair
    )
    full = found.copies >= allowed
    if limited or not full or allowed >= limits.pair:
        return pace
    wait_s = CALM_S if pair in pace.troubled_at or not found.is_known else LOOK_S
    if any(now - pace.moved_at.get(each, -inf) < LOOK_S for each in pair):
        return pace
    if not _may_rise(pace, pair, allowed + 1, now, wait_s=wait_s):
        return pace
    return replace(
        pace, at_once={**pace.at_once, pair: allowed + 1}, moved_at={**pace.moved_at, pair: now}
    )
