"""Changes the pace of a run's copies by what its clients feel."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.observers.commit_delays import CommitDelays
from kadmin.operations.observers.signals import Signals
from kadmin.operations.record.throttle_steps import current_hours
from kadmin.operations.throttles.changes import require_followed
from kadmin.plan.commit_delay import watched
from kadmin.plan.hours import until
from kadmin.plan.out_of_sync import out_of_sync
from kadmin.plan.pace import (
    LOOK_S,
    RISE_S,
    PaceLimits,
    Pacing,
    PairSeen,
    Seen,
    decide,
    p90,
    rising,
    step_of,
)
from kadmin.plan.pairs import AtOnce, pairs_of, paused
from kadmin.plan.progress import in_flight
from kadmin.plan.signals import SignalSeen
from kadmin.plan.throttle import rates_of
from kadmin.plan.throttle_words import rate_in_words
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.throttles.operation import Throttling
    from kadmin.plan.hours import Hours
    from kadmin.plan.model import HoursSpec, PartitionTarget, ThrottleSpec
    from kadmin.plan.pairs import Pair


class Pacer:
    """Keeps the hours of one run, and follows its clients where its throttle has a range of rates.

    Close it.
    """

    def __init__(self, context: Context, work: OperationSpec, throttling: Throttling) -> None:
        self._context = context
        self._work = work
        self._throttling = throttling
        self._spec: ThrottleSpec | None = None
        self._hours_asked: HoursSpec | None = None
        self._hours: Hours | None = None
        self._pace = Pacing()
        self._delays: CommitDelays | None = None
        named = context.named
        self._signals = Signals({} if named is None else named.signals, context.clock.now)
        self._exceeded: frozenset[str] = frozenset()
        self._delay: SignalSeen | None = None
        self._first: ClusterState | None = None
        self._out_of_sync: SignalSeen | None = None
        self._looked_at = context.clock.now()
        self._copied: dict[tuple[Pair, TopicPartition], int] | None = None
        self._wanted: dict[int, int] = {}
        self._reason = ""
        self._risen_at = self._looked_at

    def close(self) -> None:
        """End every measurement."""
        self._signals.close()
        if self._delays is not None:
            self._delays.close()
            self._delays = None

    def at_once(self, *, adds: bool) -> AtOnce | None:
        """Return the copies of each pair at once, None without a limit.

        `adds`: a publish adds to those in flight; otherwise a wave is published whole, or not yet.
        """
        spec, clock = self._spec, self._context.clock
        if (pause := paused(self._hours, clock.utc())) is not None:
            return pause
        if spec is None or spec.at_once is None:
            return None
        if spec.most is not None and self._pace.holds(clock.now()):
            return AtOnce(0, why="clients wait for copies: none begins before that has ended")
        if not adds:
            return None
        return AtOnce(spec.at_once) if spec.most is None else AtOnce(1, self._pace.at_once)

    def look(
        self, observed: Observed, memory: Memory, cluster: ClusterState | None, lease: Lease
    ) -> str | None:
        """Change the rates where hours begin or end, and by what was measured in LOOK_S.

        Returns a note on a change. `cluster` is the last reading of all topics.
        """
        throttle, work = self._throttling.current, self._work
        spec = None if throttle is None else throttle.spec
        if throttle is None or spec is None or not isinstance(work, CopyingSpec):
            return None
        if spec != self._spec:
            require_followed(self._context, spec, throttle.hours)
        self._signals.watch(spec.signals)
        limits = PaceLimits(spec.amount, spec.most or spec.amount, spec.at_once or 1)
        rates = rates_of(throttle.changes)
        if throttle.hours != self._hours_asked:
            self._hours_asked, self._hours = throttle.hours, current_hours(throttle)
        if spec != self._spec:
            self._spec = spec
            self._pace = Pacing({each: step_of(rate, limits) for each, rate in rates.items()})
        now, seen, note = self._context.clock.now(), Seen({}, {}), None
        if cluster is not None and spec.most is not None and now >= self._looked_at + LOOK_S:
            self._first = self._first or cluster
            self._out_of_sync = out_of_sync(self._first, cluster)
            running = work.copying(work.wave(memory), observed.state)
            seen = self._seen(running, observed, now)
            note = self._note_signals(seen)
            self._delay = _longest(seen)
            self._watch(running, cluster)
            self._looked_at = now
            if self._outside is None:
                self._pace = decide(self._pace, seen, limits, now)
        return self._set(rates, limits, seen, lease) or note

    def _watch(self, running: tuple[PartitionTarget, ...], cluster: ClusterState) -> None:
        if self._delays is None:
            brokers = self._context.backend.brokers(cluster)
            self._delays = CommitDelays(brokers, self._context.clock.now)
        pairs = {pair for target in running for pair in pairs_of(target, cluster)}
        self._delays.watch(watched(cluster, pairs, in_flight(cluster)) if pairs else {})

    def _seen(self, running: tuple[PartitionTarget, ...], observed: Observed, now: float) -> Seen:
        copies = Counter(pair for target in running for pair in pairs_of(target, observed.state))
        delays: dict[Pair, list[float]] = {}
        controls: list[float] = []
        for delay in () if self._delays is None else self._delays.since(self._looked_at):
            if not delay.pairs:
                controls.append(delay.seconds)
            for pair in delay.pairs:
                delays.setdefault(pair, []).append(delay.seconds)
        controls.sort()  # once: the percentile of each pair sorts them again
        pairs = {
            pair: PairSeen(delays.get(pair, ()), controls, number)
            for pair, number in copies.items()
        }
        over = [each.name for each in self._with_limits(now) if each.is_exceeded]
        return Seen(pairs, self._used(running, observed, now - self._looked_at), over)

    def _used(
        self, running: tuple[PartitionTarget, ...], observed: Observed, seconds: float
    ) -> Mapping[int, float]:
        """Return the bytes per second that each broker sends or receives, the busier direction.

        A copy that ended since the last look has its whole size; what was there at the first look
        was copied before.
        """
        now = {
            (pair, target.partition): observed.on_disk.get(pair[1], {}).get(target.partition, 0)
            for target in running
            for pair in pairs_of(target, observed.state)
        }
        before, self._copied = now if self._copied is None else self._copied, now
        sent, received = Counter[int](), Counter[int]()
        for key in now.keys() | before.keys():
            (sender, receiver), partition = key
            last = before.get(key, 0)
            grown = max(0, now.get(key, observed.sizes.get(partition, last)) - last)
            sent[sender] += grown
            received[receiver] += grown
        return {
            broker: max(sent[broker], received[broker]) / seconds
            for broker in sorted({*sent, *received})
        }

    def _note_signals(self, seen: Seen) -> str | None:
        """Return a note on signals that go over their limits, or come back below them."""
        before, self._exceeded = self._exceeded, frozenset(seen.exceeded)
        reasons = self._reasons(before ^ self._exceeded)
        return f"pace: {'; '.join(reasons)}" if reasons else None

    def _reasons(self, names: Collection[str]) -> list[str]:
        found = self._with_limits(self._context.clock.now())
        return [each.reason for each in found if each.name in names]

    def _with_limits(self, now: float) -> tuple[SignalSeen, ...]:
        """Return the signals that lower the rates of all brokers while they are over a limit."""
        named = self._signals.seen(now)
        return named if self._out_of_sync is None else (self._out_of_sync, *named)

    @property
    def signals(self) -> tuple[SignalSeen, ...]:
        """The commit delay of the pair that waits longest, and those with limits."""
        found = self._with_limits(self._context.clock.now())
        return found if self._delay is None else (self._delay, *found)

    @property
    def until(self) -> str | None:
        """The time at which hours begin, as the end of a sentence; None inside them."""
        now = self._context.clock.utc()
        return None if self._outside is None or self._hours is None else until(self._hours, now)

    @property
    def _outside(self) -> int | None:
        """The most bytes per second now, outside the hours; None inside."""
        return None if self._hours is None else self._hours.limit(self._context.clock.utc())

    def _set(
        self, before: Mapping[int, int], limits: PaceLimits, seen: Seen, lease: Lease
    ) -> str | None:
        outside = self._outside
        wanted = {each: limits.rate(self._pace.steps.get(each, 0)) for each in before}
        if outside is not None:
            wanted = {each: min(rate, outside) for each, rate in wanted.items()}
        changed = {each: rate for each, rate in wanted.items() if rate != before[each]}
        now, is_new = self._context.clock.now(), wanted != self._wanted
        if not changed or not (is_new or now >= self._risen_at + RISE_S):
            return None
        if is_new:
            self._wanted, self._reason = wanted, self._why(seen, changed, before)
        self._risen_at = now
        signals = tuple(each.valid for each in self.signals)
        rates = rising(before, changed, limits)
        self._throttling.set_rates(rates, self._reason, lease, signals)
        return f"pace: {_in_words(changed)}; {self._reason}" if is_new else None

    def _why(self, seen: Seen, changed: Mapping[int, int], before: Mapping[int, int]) -> str:
        """Name what a change follows: hours, the pair whose clients wait longest, or signals."""
        if self._outside is not None:
            return f"outside its hours{self.until or ''}"
        reasons = self._reasons(seen.exceeded)
        suffering = {pair: p90(found.delays) for pair, found in seen.pairs.items() if found.suffers}
        if suffering:
            pair = max(suffering, key=lambda each: suffering[each])
            longest_ms, others_ms = suffering[pair] * 1000, p90(seen.pairs[pair].controls) * 1000
            reasons.append(
                f"commits from broker {pair[0]} to {pair[1]} take {longest_ms:.0f} ms, "
                f"others {others_ms:.0f} ms"
            )
        faster = any(rate > before[broker] for broker, rate in changed.items())
        if seen.used and faster:
            reasons.append("clients do not wait")
        return "; ".join(reasons) or ("its hours began" if self._hours else "as asked for")


def _in_words(rates: Mapping[int, int]) -> str:
    by_rate: dict[int, list[int]] = {}
    for broker, rate in sorted(rates.items()):
        by_rate.setdefault(rate, []).append(broker)
    return ", ".join(
        f"{rate_in_words(rate)} on {brokers_in_words(brokers)}" for rate, brokers in by_rate.items()
    )


def _longest(seen: Seen) -> SignalSeen | None:
    """Return the longest commit delay of a pair, with its limit; None where none is known."""
    known = [found for found in seen.pairs.values() if found.is_known]
    if not known:
        return None
    worst = max(known, key=lambda found: p90(found.delays) / found.limit_s)
    return SignalSeen("commit_delay", "s", worst.limit_s, p90(worst.delays), 0.0)
