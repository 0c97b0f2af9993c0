"""Paces copies by what clients feel: partitions at once of each pair, and the rate of each broker.

Goals: clients whose leader sends a copy to one of their followers wait about as long as others, and
copies take no longer than that needs. Nobody has to give the speed of the links.
Constraints: a rate never leaves its range. Copies in flight are not interrupted: a lower rate acts
within two seconds and may stop copies for ten, a higher one acts at once. Machines are slow for
other reasons: commits of a pair are compared with those of controls in the same seconds. One look
has few samples.
Algorithm: a commit is late if it takes twice as long as nine of ten controls, and 20 ms more. The
share of late commits is about that of the time in which copies use the connection, so it grows with
the rate. Where responses are short, all commits take a little longer instead, and producers that
send one request after the other wait for each: commits that take 2 ms more than nine of ten
controls are late, too, where there are more of them than chance brings. Rates are steps, each STEP
times the one before. A pair suffers if more than LATE of its commits are late. A raise of the last
look is then taken back, and tried again only after a time that doubles. Otherwise both brokers lose
as many steps as bring the share to AIM, and the pair, where it copied more than one partition at
once, goes back to one. Brokers that use their rate gain a step after CALM_S in which hardly any
commit was late; until a pair suffers, FIRST_UP steps after each look in which hardly any was. Where
the rate is not what limits copies, another partition of the pair begins.
Example: 1 to 100 MB/s on links of 10 MB/s: 1, 2, 4.3 MB/s, late, 2, and 2.5 MB/s half a minute
later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.plan.pairs import Pair

LOOK_S = 10.0
"""Seconds between two looks: a change shows in the next one."""
STEP, FIRST_UP, SIGNAL_DOWN, MOST_DOWN = 1.2, 4, 2, 13
LATE, AIM, HARDLY = 0.1, 0.05, 0.04
"""Shares of late commits: more than LATE is trouble, at most HARDLY is calm."""
CALM_S = 30.0
USED = 0.65
"""The part of a rate that copies use, also while it rises, where the rate is what limits them."""
RISE, RISE_S = 1.16, 2.0
"""A rate rises by no more than this ratio in so many seconds. What a raise adds is copied at once,
for the whole window of the quota (11 s), and again when the window has passed it."""
TRIES_AGAIN_S, LONGEST_S = 120.0, 3600.0
HELD_S = 60.0
RATIO, EXCESS_S = 2.0, 0.02
SLOW_S, CHANCE = 0.002, 0.6
"""Of commits that take no longer than others, CHANCE / sqrt(n) of n may seem slow."""
_FEWEST = 10


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


def rising(
    before: Mapping[int, int], wanted: Mapping[int, int], limits: PaceLimits
) -> dict[int, int]:
    """Return the next rates of brokers on the way to those that are wanted.

    A lower rate is next, and so is the lowest of the range.
    """
    return {
        broker: min(rate, max(limits.least, ceil(before[broker] * RISE)))
        for broker, rate in wanted.items()
    }


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
    def limit_s(self) -> float:
        """The delay from which on a commit is late."""
        control = p90(self.controls)
        return max(RATIO * control, control + EXCESS_S)

    @property
    def late(self) -> float:
        """The share of late commits; 0 where it is not known."""
        if not self.is_known:
            return 0.0
        slow = self._share_over(p90(self.controls) + SLOW_S)
        by_chance = CHANCE / sqrt(len(self.delays))
        return max(self._share_over(self.limit_s), slow - by_chance)

    def _share_over(self, seconds: float) -> float:
        return sum(delay > seconds for delay in self.delays) / len(self.delays)

    @property
    def suffers(self) -> bool:
        """Whether clients of the pair wait longer than others."""
        return self.late > LATE


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
class Raise:
    """The step or number before the last raise, and when it was raised."""

    before: int
    at: float


@dataclass(frozen=True, slots=True)
class Pacing:
    """Steps of brokers' rates, partitions at once of pairs, and what was learned, by both.

    `late_at` are the times of the last look that was not calm, in seconds of one clock.
    `trouble_since`: everything is at its least, and clients suffer all the same.
    """

    steps: Mapping[int, int] = field(default_factory=dict)
    at_once: Mapping[Pair, int] = field(default_factory=dict)
    late_at: Mapping[int | Pair, float] = field(default_factory=dict)
    suffered_at: Mapping[int | Pair, float] = field(default_factory=dict)
    raised: Mapping[int | Pair, Raise] = field(default_factory=dict)
    tries: Mapping[int | Pair, Tries] = field(default_factory=dict)
    trouble_since: float | None = None
    calm_since: float | None = None

    def holds(self, now: float) -> bool:
        """Whether no copy may begin: trouble lasted HELD_S, and calm has not yet."""
        since = self.trouble_since
        return since is not None and now - since >= HELD_S


def decide(pace: Pacing, seen: Seen, limits: PaceLimits, now: float) -> Pacing:
    """Return the pace after a look; brokers and pairs that are new begin at the least."""
    late = {pair: found.late for pair, found in seen.pairs.items()}
    suffering = [pair for pair, share in sorted(late.items()) if share > LATE or seen.exceeded]
    noted = [pair for pair, share in late.items() if share > HARDLY or seen.exceeded]
    late_at = dict.fromkeys(_keys(noted), now)
    pace = replace(pace, late_at={**pace.late_at, **late_at})
    pace = _held(pace, suffering, now)
    lowered: dict[int | Pair, float] = {}
    for pair in suffering:
        for key in _to_lower(pace, pair, now):
            lowered[key] = max(lowered.get(key, 0.0), late[pair])
    for key, share in lowered.items():
        pace = _lower(pace, key, share, now)
    suffered_at = dict.fromkeys(_keys(suffering), now)
    pace = replace(pace, suffered_at={**pace.suffered_at, **suffered_at})
    for broker in sorted(seen.used.keys() - _keys(suffering)):
        pace = _faster(pace, broker, seen, limits, now)
    for pair in sorted(seen.pairs.keys() - set(suffering)):
        pace = _more_at_once(pace, pair, seen, limits, now)
    return pace


def _keys(pairs: Iterable[Pair]) -> dict[int | Pair, None]:
    """Return pairs and their brokers, each once, in order."""
    found: dict[int | Pair, None] = {}
    for pair in pairs:
        found.update(dict.fromkeys((pair, *pair)))
    return found


def _to_lower(pace: Pacing, pair: Pair, now: float) -> list[int | Pair]:
    """Return what the last look raised, of a pair and its brokers; all of them if nothing was."""
    keys = list(_keys([pair]))
    return [key for key in keys if _is_new(pace, key, now)] or keys


def _is_new(pace: Pacing, key: int | Pair, now: float) -> bool:
    raised = pace.raised.get(key)
    return raised is not None and now - raised.at < 2.5 * LOOK_S


def _lower(pace: Pacing, key: int | Pair, share: float, now: float) -> Pacing:
    """Return the pace after trouble of a broker or a pair; up to LATE, a signal's."""
    held = pace.at_once.get(key, 1) if isinstance(key, tuple) else pace.steps.get(key, 0)
    tries, raised = pace.tries, pace.raised
    if _is_new(pace, key, now):
        tries = {**tries, key: _again(tries.get(key), held, now)}
        raised = {each: found for each, found in raised.items() if each != key}
        to = min(held, pace.raised[key].before)
    elif isinstance(key, tuple):
        to = 1
    else:
        down = SIGNAL_DOWN
        if share > LATE:
            once = share <= 2 * LATE and now - pace.suffered_at.get(key, -inf) > CALM_S
            down = 1 if once else max(1, round(log(share / AIM, STEP)))
        to = max(0, held - min(down, MOST_DOWN))
    if isinstance(key, tuple):
        return replace(pace, at_once={**pace.at_once, key: to}, tries=tries, raised=raised)
    return replace(pace, steps={**pace.steps, key: to}, tries=tries, raised=raised)


def _again(before: Tries | None, at: int, now: float) -> Tries:
    after_s = TRIES_AGAIN_S
    if before is not None and at >= before.at:
        after_s = min(LONGEST_S, before.after_s * 2)
    return Tries(at, now + after_s, after_s)


def _held(pace: Pacing, suffering: Collection[Pair], now: float) -> Pacing:
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


def _may_rise(pace: Pacing, key: int | Pair, to: int, now: float, *, wait_s: float) -> bool:
    """Whether a step or number may be tried, `wait_s` after the last raise or late commits."""
    known = pace.tries.get(key)
    if known is not None and to >= known.at and now < known.until:
        return False
    raised = pace.raised.get(key)
    last = max(pace.late_at.get(key, -inf), -inf if raised is None else raised.at)
    return now - last >= wait_s


def _faster(pace: Pacing, broker: int, seen: Seen, limits: PaceLimits, now: float) -> Pacing:
    step = pace.steps.get(broker, 0)
    if step >= limits.highest or seen.used[broker] < USED * limits.rate(step):
        return pace
    known = all(found.is_known for pair, found in seen.pairs.items() if broker in pair)
    first = broker not in pace.suffered_at and known
    to = min(limits.highest, step + (FIRST_UP if first else 1))
    if not _may_rise(pace, broker, to, now, wait_s=LOOK_S if first else CALM_S):
        return pace
    raised = {**pace.raised, broker: Raise(step, now)}
    return replace(pace, steps={**pace.steps, broker: to}, raised=raised)


def _more_at_once(pace: Pacing, pair: Pair, seen: Seen, limits: PaceLimits, now: float) -> Pacing:
    """Let another partition begin where not the rate is what limits the copies."""
    allowed, found = pace.at_once.get(pair, 1), seen.pairs[pair]
    limited = any(
        pace.steps.get(each, 0) < limits.highest
        and seen.used.get(each, 0.0) >= USED * limits.rate(pace.steps.get(each, 0))
        for each in pair
    )
    if limited or found.copies < allowed or allowed >= limits.pair:
        return pace
    raises = [pace.raised[key] for key in pair if key in pace.raised]
    if any(now - each.at < LOOK_S for each in raises):
        return pace
    wait_s = CALM_S if pair in pace.late_at or not found.is_known else LOOK_S
    if not _may_rise(pace, pair, allowed + 1, now, wait_s=wait_s):
        return pace
    raised = {**pace.raised, pair: Raise(allowed, now)}
    return replace(pace, at_once={**pace.at_once, pair: allowed + 1}, raised=raised)
