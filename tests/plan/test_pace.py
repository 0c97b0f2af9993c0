"""The loop that paces copies, beside a model of links and clients."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models.links import Link, best_fixed, run

from kadmin.plan.pace import (
    HELD_S,
    LATE,
    LOOK_S,
    RISE_S,
    STEP,
    PaceLimits,
    Pacing,
    PairSeen,
    Seen,
    decide,
    rising,
)

MEGA = 1_000_000
LIMITS = PaceLimits(MEGA // 4, 100 * MEGA, 4)
HOUR = 360
PAIR = (1, 3)
SLOW, FAST = [0.2] * 20, [0.003] * 20

links = st.builds(
    Link, st.sampled_from([10, 40, 125, 1_250]).map(lambda each: each * MEGA), st.just(0.003)
)
shares, seeds = st.floats(0.05, 0.5), st.integers(0, 2**32)


def chooser(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - reproducible noise, not a secret


@given(links, shares, seeds)
def test_a_rate_stays_in_its_range(link: Link, share: float, seed: int) -> None:
    found = run(link, LIMITS, lambda _: share * link.bytes_per_s, 60, chooser(seed))
    assert all(LIMITS.least <= rate <= LIMITS.most for rate in found.rates)
    assert all(1 <= number <= LIMITS.pair for number in found.at_once)


@pytest.mark.parametrize("mega", [10, 40, 125, 1_250])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.4])
def test_a_steady_load_has_a_steady_rate(mega: int, share: float) -> None:
    link, seed = Link(mega * MEGA, 0.003), mega
    found = run(link, LIMITS, lambda _: share * link.bytes_per_s, 4 * HOUR, chooser(seed))
    late = found.copied[HOUR:]
    middle = statistics.median(late)
    near = [each for each in late if middle / STEP / 1.01 <= each <= middle * STEP * 1.01]
    assert len(near) >= 0.85 * len(late), sorted(set(late))
    best = best_fixed(link, LIMITS, share * link.bytes_per_s)
    assert statistics.fmean(late) >= 0.8 * best, (statistics.fmean(late), best)
    assert sum(each > LATE for each in found.late[HOUR:]) <= 0.05 * len(late)


@pytest.mark.parametrize(
    ("mega", "to"),
    [
        (10, 0.6),
        (40, 0.4),
        *(pytest.param(*each, marks=pytest.mark.matrix) for each in ((10, 0.4), (40, 0.6))),
    ],
)
def test_more_load_is_answered_at_once(mega: int, to: float) -> None:
    link, begins = Link(mega * MEGA, 0.003), 2 * HOUR

    def load(at: float) -> float:
        return (0.2 if at < begins * LOOK_S else to) * link.bytes_per_s

    for seed in range(10):
        found = run(link, LIMITS, load, begins + 40, chooser(seed))
        assert sum(late > 1.5 * LATE for late in found.late[begins:]) <= 1, seed


def test_machines_that_are_slow_for_another_reason_do_not_slow_copies() -> None:
    link = Link(40 * MEGA, 0.003)
    quiet = run(link, LIMITS, lambda _: 8e6, HOUR, chooser(1)).copied
    busy = run(link, LIMITS, lambda _: 8e6, HOUR, chooser(1), lambda _: 8.0).copied
    assert sum(busy) >= 0.9 * sum(quiet)


def hour_by_hour(link: Link, weeks: random.Random) -> float:
    """Run a week of 168 loads, a look each; return the share of its looks with late commits."""
    usual = weeks.uniform(0.02, 0.3)
    loads = [
        min(0.95, usual * weeks.choice((0.5, 1, 1, 1, 2, 3))) * link.bytes_per_s for _ in range(168)
    ]
    found = run(link, LIMITS, lambda at: loads[int(at / LOOK_S)], 168, weeks)
    assert all(LIMITS.least <= rate <= LIMITS.most for rate in found.rates)
    assert all(1 <= number <= LIMITS.pair for number in found.at_once)
    paces = list(zip(found.rates, found.at_once, strict=True))
    for late, before, after in zip(found.late, paces, paces[1:], strict=False):
        assert late < 3 * LATE or after < before or after[0] == LIMITS.least
    return sum(late > LATE for late in found.late) / 168


def weeks_are_kept(number: int) -> None:
    weeks, late = chooser(34), []
    for _ in range(number):
        link = Link(weeks.choice((10, 40, 125, 1_250)) * MEGA, weeks.uniform(0.001, 0.02))
        late.append(hour_by_hour(link, weeks))
    assert statistics.fmean(late) <= 0.1


def test_weeks_whose_load_changes_at_each_look() -> None:
    weeks_are_kept(50)


@pytest.mark.matrix
def test_ten_thousand_weeks_whose_load_changes_at_each_look() -> None:
    weeks_are_kept(10_000)


def look(*, late: bool = True, used: float = 0.0, exceeded: tuple[str, ...] = ()) -> Seen:
    seen = PairSeen(SLOW if late else FAST, FAST, 1)
    return Seen({PAIR: seen}, dict.fromkeys(PAIR, used), exceeded)


def test_copies_that_hurt_at_the_least_hold_the_next_ones_until_it_has_been_calm() -> None:
    pace, now = Pacing(), 0.0
    while not pace.holds(now):
        pace, now = decide(pace, look(), LIMITS, now), now + LOOK_S
        assert now <= HELD_S + LOOK_S
    calm_at = now
    while pace.holds(now):
        pace, now = decide(pace, look(late=False), LIMITS, now), now + LOOK_S
    assert now - calm_at == HELD_S + LOOK_S


def test_a_signal_over_its_limit_slows_every_broker_and_nothing_rises_meanwhile() -> None:
    pace = Pacing(dict.fromkeys(PAIR, 20))
    found = decide(pace, look(late=False, used=1e9, exceeded=("produce_p99",)), LIMITS, 0.0)
    assert all(0 < found.steps[broker] < 20 for broker in PAIR)
    calm = look(late=False, used=1e9)
    assert decide(found, calm, LIMITS, LOOK_S).steps == found.steps
    assert decide(found, calm, LIMITS, 40.0).steps == dict.fromkeys(PAIR, 19)


def test_without_clients_the_rate_rises_slowly() -> None:
    seen = Seen({PAIR: PairSeen((), (), 1)}, dict.fromkeys(PAIR, 1e9))
    pace = decide(Pacing(), seen, LIMITS, 0.0)
    assert set(pace.steps.values()) == {1}
    assert decide(pace, seen, LIMITS, LOOK_S).steps == pace.steps


def test_a_rate_that_copies_do_not_use_does_not_rise() -> None:
    pace = Pacing(dict.fromkeys(PAIR, 5))
    assert decide(pace, look(late=False, used=1.0), LIMITS, 0.0).steps == pace.steps


def test_commits_that_all_take_a_little_longer_are_trouble() -> None:
    """Measured with responses of 128 kB, in ms at 50, 75, 90 and 100 %: p99 of producers 1.2 s."""
    controls, delays = _spread(5.6, 9.0, 13.1, 28.7), _spread(11.9, 16.7, 20.1, 28.7)
    assert PairSeen(delays, controls, 1).suffers
    calm, others = _spread(4.7, 5.8, 8.8, 19.3), _spread(4.7, 5.8, 8.8, 19.4)
    assert not PairSeen(calm, others, 1).suffers


def _spread(*ms: float) -> list[float]:
    """Return 80 delays in seconds with these percentiles 50, 75, 90 and 100."""
    steps = zip((0.0, *ms), ms, (40, 20, 12, 8), strict=False)
    return [
        (low + (high - low) * (index + 1) / number) / 1000
        for low, high, number in steps
        for index in range(number)
    ]


def test_a_rate_rises_a_little_at_a_time_and_falls_at_once() -> None:
    limits, rates, seen = PaceLimits(1_000, 100_000, 1), {1: 1, 3: 50_000}, []
    while rates != {1: 20_000, 3: 10_000}:
        before, rates = rates, rising(rates, {1: 20_000, 3: 10_000}, limits)
        seen.append(rates)
        assert all(rates[each] <= max(1_000, before[each] * 1.17) for each in rates)
    assert seen[0] == {1: 1_000, 3: 10_000}
    assert len(seen) * RISE_S < 45
