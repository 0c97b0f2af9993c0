"""Changes the pace of a run's copies by what its clients feel."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.observers.commit_delays import CommitDelays
from kadmin.operations.observers.signals import Signals
from kadmin.operations.throttles.changes import rates_of, require_followed
from kadmin.plan.commit_delay import watched
from kadmin.plan.model import hours_of
from kadmin.plan.pace import LOOK_S, Pace, PaceLimits, PairSeen, Seen, decide, p90, step_of
from kadmin.plan.pairs import AtOnce, pairs_of
from kadmin.plan.progress import copying, in_flight
from kadmin.plan.throttle_words import rate_in_words
from kadmin.wording import brokers_in_words, weekday_and_time

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Memory, Observed, OperationSpec
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.throttles.operation import Throttling
    from kadmin.plan.copied import OnDisk
    from kadmin.plan.hours import Hours
    from kadmin.plan.model import PartitionTarget, ThrottleSpec
    from kadmin.plan.pairs import Pair


PAUSED_RATE = 1_000
"""Bytes per second of copies in flight outside hours with a pause: they stop until hours begin."""


class Pacer:
    """Keeps the hours of one run, and follows its clients where its throttle has a range of rates.

    Close it.
    """

    def __init__(self, context: Context, work: OperationSpec, throttling: Throttling) -> None:
        self._context = context
        self._work = work
        self._throttling = throttling
        self._spec: ThrottleSpec | None = None
        self._hours: Hours | None = None
        self._pace = Pace()
        self._delays: CommitDelays | None = None
        named = context.named
        self._signals = Signals({} if named is None else named.signals, context.clock.now)
        self._exceeded: frozenset[str] = frozenset()
        self._looked_at = context.clock.now()
        self._on_disk: OnDisk = {}

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
        spec, hours, clock = self._spec, self._hours, self._context.clock
        if hours is not None and hours.outside == 0 and not hours.includes(clock.utc()):
            return AtOnce(0, why=f"outside its hours{_until(hours, clock.utc())}")
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
        if throttle is None or spec is None or not isinstance(work, ReassignmentWork):
            return None
        if spec != self._spec:
            require_followed(self._context, spec, throttle.hours)
        self._signals.watch(spec.signals)
        limits = PaceLimits(spec.amount, spec.most or spec.amount, spec.at_once or 1)
        rates = rates_of(throttle.changes)
        self._hours = None if throttle.hours is None else hours_of(throttle.hours)
        if spec != self._spec:
            self._spec = spec
            self._pace = Pace({each: step_of(rate, limits) for each, rate in rates.items()})
        now, seen, note = self._context.clock.now(), Seen({}, {}), None
        if cluster is not None and spec.most is not None and now >= self._looked_at + LOOK_S:
            running = copying(work.wave(memory), observed.state)
            seen = self._seen(running, observed, now)
            note = self._note_signals(seen)
            self._watch(running, cluster)
            self._looked_at, self._on_disk = now, observed.on_disk
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
        pairs = {
            pair: PairSeen(delays.get(pair, ()), controls, number)
            for pair, number in copies.items()
        }
        over = [each.name for each in self._signals.seen(now) if each.is_exceeded]
        return Seen(pairs, self._used(running, observed, now - self._looked_at), over)

    def _used(
        self, running: tuple[PartitionTarget, ...], observed: Observed, seconds: float
    ) -> Mapping[int, float]:
        """Return the bytes per second that each broker sends or receives, the busier direction."""
        sent, received = Counter[int](), Counter[int]()
        for target in running:
            for sender, receiver in pairs_of(target, observed.state):
                now = observed.on_disk.get(receiver, {}).get(target.partition, 0)
                grown = max(0, now - self._on_disk.get(receiver, {}).get(target.partition, 0))
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
        found = self._signals.seen(self._context.clock.now())
        return [each.reason for each in found if each.name in names]

    @property
    def _outside(self) -> int | None:
        """The most bytes per second now, outside the hours; None inside."""
        hours = self._hours
        if hours is None or hours.includes(self._context.clock.utc()):
            return None
        return hours.outside or PAUSED_RATE

    def _set(
        self, before: Mapping[int, int], limits: PaceLimits, seen: Seen, lease: Lease
    ) -> str | None:
        outside = self._outside
        wanted = {each: limits.rate(self._pace.steps.get(each, 0)) for each in before}
        if outside is not None:
            wanted = {each: min(rate, outside) for each, rate in wanted.items()}
        changed = {each: rate for each, rate in wanted.items() if rate != before[each]}
        if not changed:
            return None
        self._throttling.set_rates(changed, lease)
        why = "".join(f"; {reason}" for reason in self._reasons(seen.exceeded))
        return f"pace: {_in_words(changed)}{_why(seen)}{why}"


def _in_words(rates: Mapping[int, int]) -> str:
    by_rate: dict[int, list[int]] = {}
    for broker, rate in sorted(rates.items()):
        by_rate.setdefault(rate, []).append(broker)
    return ", ".join(
        f"{rate_in_words(rate)} on {brokers_in_words(brokers)}" for rate, brokers in by_rate.items()
    )


def _why(seen: Seen) -> str:
    """Name the pair whose clients wait longest, beside the controls; '' where none does."""
    suffering = {pair: p90(found.delays) for pair, found in seen.pairs.items() if found.suffers}
    if not suffering:
        return ""
    sender, receiver = max(suffering, key=lambda pair: suffering[pair])
    controls = p90(seen.pairs[sender, receiver].controls)
    longest_ms = suffering[sender, receiver] * 1000
    return (
        f"; commits from broker {sender} to {receiver} take {longest_ms:.0f} ms, others "
        f"{controls * 1000:.0f} ms"
    )


def _until(hours: Hours, now: datetime) -> str:
    begins = hours.next_change(now)
    return "" if begins is None else f", until {weekday_and_time(begins, now, hours.zone)}"
